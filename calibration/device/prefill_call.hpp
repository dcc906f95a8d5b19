#pragma once

// A call of prefill attention on equal sequences: its arrays and its check. Who uses it: the runners of it,
// which add whose kernel is launched.

#include <cstdint>
#include <string>

#include "calibration/device/attention_tensors.hpp"
#include "calibration/device/prepared_call.hpp"
#include "kernels/common/fill.hpp"

namespace inferometer {

/// query, output (batch, tokens, heads, head_dim), keys, values (batch, past + tokens, kv_heads, head_dim),
/// in bf16.
class PrefillCall : public PreparedCall {
 public:
  /// Throws NotPrepared: where the axes are none that arrays can have, or memory is short.
  PrefillCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed);

  void fill() override;
  void refill() override;
  void check(Comparison& comparison) override;

 protected:
  CallMemory memory_;
  EqualPrefill shape_;
  DeviceBuffer query_, keys_, values_, output_;

 private:
  /// `row`: new token of the batch times heads, plus head.
  void check_row(std::int64_t row, Comparison& comparison);

  std::uint64_t seed_;
  kernels::RandomFill query_fill_, key_fill_, value_fill_;
};

/// Throws NotPrepared for other variants than bf16.
void require_bf16_prefill(const KernelCall& call);

}  // namespace inferometer
