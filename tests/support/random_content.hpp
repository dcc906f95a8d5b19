#pragma once

#include "tests/support/dice.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {

/// Gives requests prompts that begin alike, as users, groups and conversations make them: runs from a small
/// stock, whole prompts twice, earlier answers. Lengths stay.
void draw_contents(Dice& dice, std::vector<TestRequest>& requests);

/// Blocks that a sequence, which says that it holds so many, has for itself: without those that are cached.
std::int64_t own_blocks(const SequenceStore& store, SequenceId id, std::int64_t held);
/// Held blocks of a replica whose sequences have so many for themselves: those that are cached count once.
std::int64_t held_with_cached(const SequenceStore& store, std::int64_t own);

/// For failure messages: " [1:20 3:5 -> 7]"; "" without content.
std::string content_text(const TestRequest& request);

}  // namespace inferometer::testing
