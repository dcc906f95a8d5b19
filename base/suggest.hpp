#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inferometer {

/// The candidate nearest to `word` by edit distance (insert, delete, change, swap of neighbours; case
/// ignored), or "" when none is near enough (distance <= max(1, length / 3)). Of equals the one nearest with
/// case counted, then the first. O(candidates * length^2).
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

/// `; did you mean "x"?`: the nearest word or, when none is near, the few that begin with this one. Those go
/// first when they go on with a '-': "a100" is "a100-40gb" or "a100-80gb", not "a10g". "" when there is
/// nothing to propose.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// `a, b or c`; another word before the last on request.
std::string join_alternatives(const std::vector<std::string>& words, std::string_view before_last = "or");

}  // namespace inferometer
