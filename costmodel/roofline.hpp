#pragma once

// Time of one operator from its FLOPs and bytes. Two levels: the datasheet's roofs, or fitted efficiencies
// and start-up (hardware/profile.hpp). Who uses it: the step pricer, when it is built; `inferometer
// roofline`. The roofline: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model",
// CACM 52(4), 2009.

#include <cstdint>
#include <string_view>

#include "base/units.hpp"
#include "costmodel/collectives.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/parallelism.hpp"
#include "hardware/gpu_spec.hpp"
#include "hardware/profile.hpp"

namespace inferometer {

/// What an operator's time is made of. Start-up is there whatever the work; of the roofs the higher one
/// counts.
struct RoofTimes {
  Duration start_up{};
  Duration compute{};
  Duration bandwidth{};
  Duration communication{};  ///< start-up of the collective included

  [[nodiscard]] bool compute_bound() const { return compute >= bandwidth; }
  [[nodiscard]] Duration total() const {
    return start_up + (compute_bound() ? compute : bandwidth) + communication;
  }
};

/// The larger part of an operator's time.
enum class Bound { compute, bandwidth, start_up, communication };
std::string_view to_string(Bound bound);
Bound bound_of(const RoofTimes& times);

/// FLOPs per byte of device memory; 0 for no bytes.
double arithmetic_intensity(Flops flops, Bytes bytes);

/// Throws ConfigError when a step, or a part of one, would take longer than 11 days: then sums of its parts
/// might not fit into a Duration. An estimate in double, to be made before the integers are.
void require_simulable(double seconds);

/// Rounded up. Throws ConfigError for more than a step may take.
std::int64_t whole_picoseconds(double seconds);

/// Roofs of one operator family on one GPU.
struct Roofs {
  Duration start_up;
  FlopsPerSecond compute;
  BytesPerSecond bandwidth;

  /// FLOPs per byte at which the family passes from the memory roof to the compute roof.
  [[nodiscard]] double ridge_point() const { return compute.count() / bandwidth.count(); }
};

class Roofline {
 public:
  /// `parallelism`: who takes part in collectives and over which links. Precondition: check_links() has
  /// accepted it.
  Roofline(const GpuSpec& gpu, const Profile& profile, CostLevel level, const Parallelism& parallelism);

  /// One run of the operator, each part rounded up to a picosecond. Throws ConfigError when it would take
  /// longer than any step may.
  [[nodiscard]] RoofTimes time(const Operator& work) const;

  /// Whether collectives of so many GPUs, of a tensor group or a stage, go over other links than those that
  /// were measured: the parallelism describes them.
  [[nodiscard]] bool has_described_links(std::int64_t gpus) const { return links_.are_described(gpus); }

  /// Whether the operator's time is an estimate by latency and bandwidth of links where other operators of
  /// this level stand on measurements.
  [[nodiscard]] bool is_extrapolated(const Operator& work) const;

  /// Roofs of a family; of no meaning for collectives and transfers.
  [[nodiscard]] Roofs roofs(OperatorFamily family) const;
  /// The same for an operator: products of fp8 compute on units of their own.
  [[nodiscard]] Roofs roofs_of(const Operator& work) const;

  /// Start-up that decode attention pays more for each sequence x KV head.
  [[nodiscard]] Duration decode_per_sequence_head() const { return decode_per_sequence_head_; }

  /// Keys by which a kernel overruns what each new token attends, on average: (T0 - 1) / 2.
  [[nodiscard]] double overhang_keys() const { return overhang_keys_; }

 private:
  Roofs gemm_, prefill_attention_, decode_attention_, elementwise_;
  double fp8_speed_ = 1;  // of the fp8 unit, as a multiple of the bf16 one
  Duration decode_per_sequence_head_;
  double overhang_keys_ = 0;
  bool fitted_;
  ReplicaLinks links_;
};

}  // namespace inferometer
