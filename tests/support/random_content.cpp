#include "tests/support/random_content.hpp"

#include <algorithm>

namespace inferometer::testing {
namespace {

constexpr std::uint64_t kFirstAnswer = 1000;  // ids of answers begin here

void add(TestRequest& request, std::uint64_t id, std::int64_t tokens, std::int64_t& left) {
  const std::int64_t taken = std::min(tokens, left);
  if (taken > 0) {
    request.content.push_back({id, taken});
    left -= taken;
  }
}

/// Goes on from an earlier prompt and its answer.
void continue_from(const TestRequest& earlier, TestRequest& request, std::int64_t& left) {
  for (const ContentRun& run : earlier.content) {
    add(request, run.id, run.tokens, left);
  }
  if (earlier.output_content != 0) {
    add(request, earlier.output_content, earlier.output, left);
  }
  request.session = earlier.session;
}

}  // namespace

void draw_contents(Dice& dice, std::vector<TestRequest>& requests) {
  const std::int64_t stock = dice.one_of({1, 2, 5});
  const std::int64_t longest_run = dice.one_of({3, 20, 200});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    TestRequest& request = requests[i];
    if (dice.chance(15)) {
      continue;
    }
    request.session = dice.between(-1, 3);
    request.output_content = dice.chance(60) ? kFirstAnswer + i : 0;
    std::int64_t left = request.prompt;
    if (i > 0 && dice.chance(40)) {
      const auto last = static_cast<std::int64_t>(i) - 1;
      continue_from(requests[static_cast<std::size_t>(dice.between(0, last))], request, left);
    }
    while (left > 0) {
      add(request, static_cast<std::uint64_t>(dice.between(1, stock)), dice.between(1, longest_run), left);
    }
  }
}

std::int64_t own_blocks(const SequenceStore& store, SequenceId id, std::int64_t held) {
  const PrefixCache* prefixes = store.pool.prefixes();
  return prefixes == nullptr ? held : held - prefixes->covered(id);
}

std::int64_t held_with_cached(const SequenceStore& store, std::int64_t own) {
  const PrefixCache* prefixes = store.pool.prefixes();
  return prefixes == nullptr ? own : own + prefixes->cached() - prefixes->idle_cached();
}

std::string content_text(const TestRequest& request) {
  if (request.content.empty()) {
    return "";
  }
  std::string text = " [";
  for (const ContentRun& run : request.content) {
    text += std::to_string(run.id) + ":" + std::to_string(run.tokens) + " ";
  }
  return text + "-> " + std::to_string(request.output_content) + "] session " +
         std::to_string(request.session);
}

}  // namespace inferometer::testing
