#pragma once

// Whether a scheduler treats requests alike: Jain's index over the latency per output token of all that
// finished, and the latencies of each priority. Who uses it: the recorder.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "sim/metrics/duration_distribution.hpp"
#include "sim/metrics/wide_sum.hpp"

namespace inferometer {

class FairnessTotals {
 public:
  /// Priorities that are told apart; once there are more, none are.
  static constexpr std::size_t kMostPriorities = 16;

  struct Priority {
    explicit Priority(std::int32_t number) : priority(number) {}

    std::int32_t priority;
    std::int64_t completed = 0;
    /// Percentiles within 0.2 %, in constant memory.
    DurationDistribution ttft{Percentiles::sketch}, e2el{Percentiles::sketch};
  };

  /// A request that has finished. O(priorities).
  void add(std::int32_t priority, Duration ttft, Duration latency, std::int64_t output_tokens);

  /// (sum of x)^2 / (n * sum of x^2) over x = latency / output tokens to the nearest picosecond, the
  /// normalised latency of Orca (Yu et al., OSDI 2022) and of vLLM (Kwon et al., SOSP 2023): 1 when all
  /// requests have the same, 1/n when one has it all. R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of
  /// Fairness and Discrimination, DEC-TR-301, 1984. Nothing when none has finished.
  [[nodiscard]] std::optional<double> jain_index() const;

  /// Ascending; empty while all requests have the same priority, or when there are too many.
  [[nodiscard]] std::vector<const Priority*> priorities() const;

 private:
  std::int64_t count_ = 0;
  Int128 sum_ = 0;  // of picoseconds a token
  WideSum squares_;
  std::vector<Priority> priorities_;  // ascending
  bool too_many_ = false;
};

}  // namespace inferometer
