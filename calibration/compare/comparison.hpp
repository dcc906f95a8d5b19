#pragma once

// Two profiles or sets of measurements side by side, by family, variant and region. Who uses it: `inferometer
// calibrate compare`.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/compare/kernel_times.hpp"

namespace inferometer {

/// In what a row's rates are given: the roof that binds most of its calls on A's GPU, by the datasheet.
/// Collectives are rated by the bytes that each GPU sends, host work not at all.
enum class RateUnit { none, teraflops, gigabytes };

/// "TFLOP/s", "GB/s", "" for none.
std::string_view to_string(RateUnit unit);

/// One family, variant and region over the calls that both sides know.
struct ComparisonRow {
  KernelFamily family = KernelFamily::gemm;
  std::string variant;
  std::string region;  ///< of A's GPU (kernel_fit.hpp); "all" sums up, without decode attention within an L2
  std::int64_t calls = 0;
  RateUnit unit = RateUnit::none;
  double a_rate = 0, b_rate = 0;                          ///< medians over the calls, in `unit`
  double ratio_median = 0, ratio_p10 = 0, ratio_p90 = 0;  ///< of B's time / A's time
  KernelCall farthest;                                    ///< the call in which they differ most
  double farthest_a_seconds = 0, farthest_b_seconds = 0;  ///< what it takes
};

struct Comparison {
  std::vector<ComparisonRow> rows;  ///< by family and variant: "all", then its regions
  std::vector<std::string> notes;   ///< what only one side has, and what was left out
};

/// Over the calls that both have measured; over what one has measured where the other is a profile; over
/// representative_calls() where both are. Calls beyond the range that a profile was fitted to are left out.
/// Throws ConfigError when no call is known to both. Deterministic.
Comparison compare(const KernelTimes& a, const KernelTimes& b);

/// {a, b: {name, description, gpu}, rows: [...], notes}; ratios are B's time over A's.
std::string comparison_json(const KernelTimes& a, const KernelTimes& b, const Comparison& comparison);

}  // namespace inferometer
