#pragma once

// What one engine step costs. Who uses it: the steppers, once a step or once a stretch of steps.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/parallelism.hpp"
#include "costmodel/step_shape.hpp"
#include "hardware/gpu_spec.hpp"
#include "hardware/profile.hpp"

namespace inferometer {

/// The time of one step, split by what it waits for. The parts add up to the whole, exactly.
struct StepCost {
  Duration compute{};        ///< under the compute roof
  Duration bandwidth{};      ///< under the memory roof
  Duration latency{};        ///< fixed start-up of kernels
  Duration communication{};  ///< between the GPUs of the replica, and of KV swapped to or from their host
  Duration host{};           ///< scheduler, launch, sampling: what is not hidden behind the GPU
  Duration bubble{};         ///< waiting for a stage of the pipeline that another micro-batch holds
  Duration extrapolated{};   ///< of all these, kernels beyond what was measured; no part of its own

  [[nodiscard]] constexpr Duration total() const {
    return compute + bandwidth + latency + communication + host + bubble;
  }
  friend constexpr StepCost operator+(const StepCost& a, const StepCost& b) {
    return {a.compute + b.compute,
            a.bandwidth + b.bandwidth,
            a.latency + b.latency,
            a.communication + b.communication,
            a.host + b.host,
            a.bubble + b.bubble,
            a.extrapolated + b.extrapolated};
  }
  friend constexpr StepCost operator*(const StepCost& a, std::int64_t times) {
    return {a.compute * times, a.bandwidth * times, a.latency * times,     a.communication * times,
            a.host * times,    a.bubble * times,    a.extrapolated * times};
  }
  friend constexpr bool operator==(const StepCost&, const StepCost&) = default;
};

/// The cost of successive steps as a straight line: step j costs first + growth * j, part by part, exactly,
/// for every j below `steps`; growth.total() >= 0, so that steps never get shorter.
struct StepLine {
  static constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

  StepCost first{};
  StepCost growth{};              ///< its host part falls (below zero) where the host hides behind the GPU
  std::int64_t steps = kForever;  ///< >= 1
};

/// How many steps the higher of two straight lines stays the higher one, this step included. `lead`: what the
/// higher one is ahead by now, >= 0, and > 0 when at a tie the other one counts; `gain`: what it wins each
/// step.
constexpr std::int64_t steps_ahead(std::int64_t lead, std::int64_t gain) {
  return gain >= 0 ? StepLine::kForever : lead / -gain + 1;
}

/// A kernel of the model that may lie outside of what was measured.
struct Extrapolation {
  std::string kernel;   ///< "lm_head"
  std::string axis;     ///< "n"
  double value = 0;     ///< the farthest it may go to, within the engine's limits
  double measured = 0;  ///< the nearest measured value

  /// How far: 2 is twice as large, or half as small, as the nearest measured value.
  [[nodiscard]] double factor() const { return value > measured ? value / measured : measured / value; }
};

/// "lm_head with n = 128256, 2 times above the largest measured (65536)"
std::string to_text(const Extrapolation& beyond);

/// What one operator of a step takes, all its runs together.
struct OperatorTime {
  std::string_view name;  ///< "qkv projection"
  Duration time{};
};

/// What prices stand on.
struct CostBasis {
  CostLevel level = CostLevel::roofline;  ///< the one in use, which may not be the one asked for
  std::string profile;                    ///< "vllm kernels on h100-sxm, fitted 2026-11-30"; empty: none
  std::vector<std::string> notes;         ///< what was not measured and how it is priced instead
  std::vector<Extrapolation> extrapolations;
};

/// Prices engine steps. Called once for each single step or stretch of steps: O(number of chunks), no
/// allocation (but of chunks with several ranks of attention), no hashing (beyond the limits it was built for
/// it may be slower, never different). Contract: pure (the same shape always costs the same), at least one
/// picosecond, total() never falls when a decode context grows, nor while the past of a chunk grows along one
/// line.
class StepPricer {
 public:
  virtual ~StepPricer() = default;
  [[nodiscard]] virtual StepCost price(const StepShape& shape) const = 0;

  /// What price() adds up, operator by operator: together the price less its host time, exactly. For traces:
  /// it prices all operators anew, in some microseconds. Nothing from a pricer that knows no operators.
  [[nodiscard]] virtual std::vector<OperatorTime> operator_times(const StepShape& /*shape*/) const {
    return {};
  }

  /// For reports. Nothing from a pricer that stands on no measurements.
  [[nodiscard]] virtual const CostBasis& basis() const {
    static const CostBasis none;
    return none;
  }

  /// The line on which the prices of this step and those after it lie, when each step adds `context_growth`
  /// (>= 0) to the decode contexts and the tokens of every chunk to its past, and nothing else changes.
  /// Precondition: decodes run one position each.
  /// Nothing from a pricer that cannot promise one: its steps are then priced one by one.
  [[nodiscard]] virtual std::optional<StepLine> line(const StepShape& /*shape*/,
                                                     const ContextTokens& /*context_growth*/) const {
    return std::nullopt;
  }
};

/// What the pricer tabulates, at most 32,768 entries each. Larger steps are priced too, only slower.
struct PricerLimits {
  std::int64_t max_tokens = 0;  ///< most tokens of a step (max_num_batched_tokens)
  std::int64_t max_rows = 0;    ///< most sequences of a step (max_num_seqs); also bounds captured CUDA graphs
  std::int64_t max_context = 0;  ///< longest sequence (max_model_len), for CostBasis alone; 0: not known
  std::int64_t max_queries = 1;  ///< most positions of a decode: drafted tokens and one

  [[nodiscard]] std::int64_t max_decode_tokens() const { return max_rows * max_queries; }
};

/// Pricer of the level that the options ask for: `calibrated` where a profile of the library's kernels is
/// shipped for the GPU, else `roofline`. Builds its tables in O(max_tokens + max_rows). Throws ConfigError
/// when the model cannot be split so, or when a profile cannot be read.
/// The model is priced as it is given, on one tensor group: of a pipeline this is one stage
/// (costmodel/pipeline.hpp makes all of them). A stage without a head has no host time: scheduler and
/// sampling delay a micro-batch once, and hold none of the other stages.
std::unique_ptr<StepPricer> make_step_pricer(const ModelSpec& model, const GpuSpec& gpu,
                                             const Parallelism& parallelism, const CostOptions& options,
                                             const PricerLimits& limits);

/// The levels `datasheet` and `roofline` (costmodel/roofline.hpp) with a given profile.
std::unique_ptr<StepPricer> make_roofline_pricer(const ModelSpec& model, const GpuSpec& gpu,
                                                 const Profile& profile, const Parallelism& parallelism,
                                                 const CostOptions& options, const PricerLimits& limits);

/// The level `calibrated` (costmodel/calibrated_kernels.hpp) with given profiles: `kernels` first, `fallback`
/// for what it has no fit of.
std::unique_ptr<StepPricer> make_calibrated_pricer(const ModelSpec& model, const GpuSpec& gpu,
                                                   const KernelProfile& kernels, const Profile& fallback,
                                                   const Parallelism& parallelism, const CostOptions& options,
                                                   const PricerLimits& limits);

}  // namespace inferometer
