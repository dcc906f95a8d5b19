#pragma once

// What the `roofline` command found, as text or CSV.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/step_shape.hpp"
#include "hardware/gpu_spec.hpp"
#include "hardware/profile.hpp"

namespace inferometer {

/// Where a step runs. `level` decides which roof is said to bind; times are shown at all levels there are.
struct RooflineSetting {
  ModelSpec model;
  GpuSpec gpu;
  Profile profile;
  std::string library = "vllm";          ///< whose measured kernels were asked for
  std::optional<KernelProfile> kernels;  ///< nothing where none is shipped: then no level calibrated
  std::int64_t tensor_parallel = 1;
  std::int64_t attention_data_parallel = 1;
  std::int64_t expert_parallel = 1;
  CostLevel level = CostLevel::roofline;

  [[nodiscard]] ModelSplit split() const {
    return {tensor_parallel, attention_data_parallel, expert_parallel};
  }
};

/// Why a time at level calibrated is no measured kernel's.
struct PriceNote {
  std::string kernel;  ///< "qkv projection"
  std::string what;    ///< "not measured in fp8: scaled from bf16 by the roofline"
};

/// One operator with all its runs in the step, on one GPU; or the whole step.
struct RooflineRow {
  std::string name;
  std::int64_t runs = 1;
  Flops flops{};
  Bytes hbm_bytes{};
  Bytes link_bytes{};
  double ridge = 0;  ///< FLOP/B; 0 where there is none (collectives)
  Bound bound = Bound::compute;
  Duration datasheet{};
  Duration fitted{};                     ///< level roofline
  std::optional<Duration> calibrated{};  ///< level calibrated, where there is a profile of kernels
  std::vector<Extrapolation> beyond{};   ///< how far from what was measured; of the step: all operators'
  std::vector<PriceNote> notes{};        ///< of the step: all operators'

  /// Whether the calibrated time, or a part of it, lies outside of what was measured.
  [[nodiscard]] bool is_marked() const { return !beyond.empty() || !notes.empty(); }

  [[nodiscard]] double intensity() const { return arithmetic_intensity(flops, hbm_bytes); }
};

/// A row for each operator, in order of execution, and a last one, "step", for all of them: its ridge is that
/// of the matrix products, and its bound what the largest part of its time goes to. GPU time: no host, no
/// graph padding.
std::vector<RooflineRow> roofline_rows(const RooflineSetting& setting, const StepShape& shape);

/// One value of a sweep.
struct SweepRow {
  std::int64_t value = 0;
  std::int64_t tokens = 0;  ///< computed in the step
  RooflineRow step;
  std::string largest;  ///< the operator that takes most of the time at the chosen level
  double largest_share = 0;
};
SweepRow sweep_row(const RooflineSetting& setting, std::int64_t value, const StepShape& shape);

/// Aligned, with a heading that says what runs where, and which figures are borrowed from another GPU.
std::string roofline_text(const RooflineSetting& setting, const std::string& step,
                          const std::vector<RooflineRow>& rows);
std::string sweep_text(const RooflineSetting& setting, const std::string& step, const std::string& swept,
                       const std::vector<SweepRow>& rows);

/// RFC 4180 with a header; FLOPs, bytes and microseconds.
std::string roofline_csv(const std::vector<RooflineRow>& rows);
std::string sweep_csv(const std::string& swept, const std::vector<SweepRow>& rows);

}  // namespace inferometer
