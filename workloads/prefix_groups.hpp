#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "workloads/lengths.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// Prompts of groups, each with a beginning of its own that all its prompts have: system prompts, documents,
/// tenants. As `vllm bench serve --dataset-name prefix_repetition` and inference-perf's shared prefixes make
/// them.
struct PrefixGroupOptions {
  std::int64_t groups = 1;                           ///< 1 to kLongestLength
  std::shared_ptr<const LengthDistribution> prefix;  ///< drawn once for each group
  /// Group k = 1, 2, ... is chosen in proportion to k^-skew; >= 0, 0 = all as often.
  double skew = 0;
  /// Each prompt takes one of so many questions of its group, all as often; 0: every question is new.
  std::int64_t questions_per_group = 0;
};

/// Draws from the streams "workload/shared_prefix/...". O(groups) memory, and O(1) for each question that is
/// shared and was asked; O(log groups) a prompt.
class PrefixGroups {
 public:
  struct Opening {
    ContentRun prefix;
    std::uint64_t question_content = 0;  ///< 0: unlike any other
    TokenCount question;
  };

  PrefixGroups(const PrefixGroupOptions& options, std::uint64_t seed);

  /// What the next prompt begins with. `question`: how long its question is if that is a new one; who asks
  /// again asks at the same length.
  Opening next(TokenCount question);

 private:
  std::int64_t questions_per_group_;
  std::vector<std::int64_t> prefix_tokens_;  ///< by group
  std::shared_ptr<const LengthDistribution> ranks_;
  std::unordered_map<std::uint64_t, TokenCount> asked_;  ///< by content; looked up, never walked
  RandomStream group_stream_, question_stream_;
};

}  // namespace inferometer
