#pragma once

// How much of each prompt some other request of the same traffic begins with, prompt and answer: no prefix
// cache can find more of it, wherever requests go and in whatever order they run. Who uses it: the bounds of
// plans, which may count no work that a cache can save.

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "workloads/request.hpp"

namespace inferometer {

class SharedPrefixes {
 public:
  void add(const Request& request);
  /// Of each request in the order in which they were added: tokens at the start of its prompt that another
  /// one's prompt and answer begin with, too; less than the prompt, whose last token always runs. O(runs).
  [[nodiscard]] std::vector<std::int64_t> tokens() const;

 private:
  /// A run behind so many tokens of its parent.
  using Key = std::tuple<std::int64_t, std::int64_t, std::uint64_t>;  // parent, begin, id
  struct Run {
    std::int64_t longest = 0, second = 0;  // of the requests that have it
  };
  struct Step {
    std::int64_t run = 0, tokens = 0;
  };
  struct Path {
    std::vector<Step> steps;
    std::int64_t prompt = 0;
  };
  [[nodiscard]] std::int64_t tokens_of(const Path& path) const;

  std::map<Key, std::int64_t> numbers_;
  std::vector<Run> runs_;
  std::vector<Path> paths_;
};

}  // namespace inferometer
