#pragma once

// How good measured kernels are beside what is known to be possible on that GPU: a profile that is fitted to
// a slow kernel makes the GPU look slow. Who uses it: `calibrate run`, at its end. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibration/record/measurement.hpp"
#include "costmodel/kernels/kernel_call.hpp"

namespace inferometer {

/// How fast one family's kernels of one variant are, at the sizes that count:
///   gemm: 1e11 FLOPs and more; beside the published median on that GPU (bf16), without a goal
///   prefill_attention: whole prompts of 4,096 to 16,384 tokens, heads of 128; beside FlashAttention (bf16)
///   decode_attention: over 200 MB of keys and values; beside the device's copy
///   elementwise: over 64 MB; beside the device's copy
/// The device's copy is the measured elementwise "copy" of most bytes, of more than 64 MB.
struct KernelGoal {
  KernelFamily family = KernelFamily::gemm;
  std::string variant;
  KernelCall call;         ///< the one in the middle, by its share of the yardstick or else by its rate
  std::int64_t calls = 0;  ///< how many were compared
  double achieved = 0;     ///< of `call`, FLOP/s or bytes/s by `is_bytes`
  bool is_bytes = false;
  std::optional<double> yardstick;     ///< of as many; nothing where none is known
  std::string yardstick_name;          ///< "the device's copy"; "" without one
  std::optional<double> lowest_share;  ///< of all calls compared
  std::optional<double> goal_share;    ///< of the yardstick; nothing where there is no goal

  [[nodiscard]] std::optional<double> share() const;
  /// Nothing where there is no yardstick or no goal.
  [[nodiscard]] std::optional<bool> is_met() const;
};

/// In order of families and variants; those without a call of a size that counts are left out. O(points).
std::vector<KernelGoal> kernel_goals(const Measurements& set);

/// As aligned columns, with a header.
std::string goal_table(const std::vector<KernelGoal>& goals);

/// A sentence for each goal that is missed: "prefill_attention bf16 reaches 300 TFLOP/s, 49.3 % of
/// FlashAttention 3 (goal 60.0 %): a profile from this kernel makes the GPU look 21.8 % slower than it is at
/// prefill_attention". Slower than with a kernel that just meets the goal.
std::vector<std::string> missed_goals(const std::vector<KernelGoal>& goals);

}  // namespace inferometer
