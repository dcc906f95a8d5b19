#pragma once

// How much of what prompts consist of was there before: what a prefix cache could at best be worth. For
// `workload inspect`.

#include <array>
#include <cstdint>
#include <unordered_map>

#include "workloads/request.hpp"

namespace inferometer {

/// Tokens of prompts that an earlier request had at the same place: in its prompt, or in the answer to it. A
/// cache without limit that answers at once would find them.
struct PrefixReuse {
  /// How long after the last use of the same tokens: the cache would have to keep them so long.
  static constexpr std::array<Duration, 2> kWindows{seconds(60), seconds(600)};

  std::int64_t references = 0;       ///< runs of content that prompts consist of, such as blocks of hash ids
  std::int64_t references_seen = 0;  ///< those of which an earlier request had something at the same place
  std::int64_t full_references = 0;  ///< those of a whole block; 0 in traces without hash ids
  std::int64_t full_references_seen = 0;  ///< of a whole block here and earlier
  std::int64_t distinct = 0;              ///< references that no earlier request had

  std::int64_t tokens = 0;               ///< reused, in all
  std::int64_t same_session_tokens = 0;  ///< of these: those that a request of the same session had
  std::int64_t requests = 0;             ///< that reuse anything
  std::int64_t longest_tokens = 0;       ///< most that a request reuses

  std::array<std::int64_t, 2> tokens_within{};           ///< reused within each window
  std::array<std::int64_t, 2> distinct_tokens_within{};  ///< the same, each token once however often
  std::int64_t distinct_tokens = 0;                      ///< each token once that is ever reused
};

/// Takes requests in order of arrival. Memory: about 100 bytes for each run never seen before, twice that
/// with sessions.
class PrefixReuseCounter {
 public:
  /// `hash_block_tokens`: of a whole block, 0 when there are none.
  explicit PrefixReuseCounter(std::int64_t hash_block_tokens) : block_tokens_(hash_block_tokens) {}

  void add(const Request& request);
  [[nodiscard]] const PrefixReuse& result() const { return result_; }

 private:
  /// A run at one place: after the same tokens, by the same id.
  struct Place {
    std::int64_t tokens = 0;  ///< of the longest run so far
    TimePoint last_use;
    std::array<std::int64_t, 2> reused_within{};  ///< the most of it that was reused at once
    std::int64_t reused = 0;
  };

  void count_reference(const ContentRun& run, const Place* seen);
  /// Of the first `tokens` of `place`, used again now.
  void count_reuse(Place& place, std::int64_t tokens, TimePoint now);
  /// Remembers a run there for the session, if there is one; returns how many of its tokens the session had.
  std::int64_t use_in_session(std::uint64_t place, std::int64_t session, std::int64_t tokens);

  std::int64_t block_tokens_;
  PrefixReuse result_;
  std::unordered_map<std::uint64_t, Place> places_;                 ///< looked up, never walked
  std::unordered_map<std::uint64_t, std::int64_t> session_tokens_;  ///< by place and session, likewise
};

}  // namespace inferometer
