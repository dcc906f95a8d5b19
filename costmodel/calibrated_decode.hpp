#pragma once

// Decode attention of a model by batch and context, from measured kernels, in whole picoseconds. Who uses it:
// the calibrated step pricer.

#include <array>
#include <cstdint>
#include <vector>

#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {

/// For a fixed batch the time is straight in the total context between knots, where the mean context is a
/// power of two, and never falls. (Straight in its logarithm it would be more than a tenth too long halfway.)
/// Between batches of a power of two the correction runs straight in the logarithm of the batch.
class CalibratedDecode {
 public:
  /// `one_layer`: decode attention of any batch; its fit must be known. Batches up to `max_batch` are
  /// tabulated. `kernels` outlives this object.
  CalibratedDecode(const CalibratedKernels& kernels, const Operator& one_layer, std::int64_t max_batch);

  /// `beside_prefill`: the launch is paid by the chunks of the same step. Precondition: decodes >= 1, context
  /// >= decodes.
  void add(std::int64_t decodes, std::int64_t context, bool beside_prefill, StepCost& cost) const;

  /// Adds what each step costs more than the one before, and cuts the line at the next knot.
  void add_growth(std::int64_t decodes, std::int64_t context, std::int64_t context_growth,
                  StepLine& line) const;

 private:
  static constexpr int kKnots = 22;  // mean contexts of 1, 2, 4 ... 2M tokens

  struct Knot {
    std::int64_t time_ps = 0;      // at the knot, without the launch
    std::int64_t start_up_ps = 0;  // the part of it that is start-up, until the next knot
    std::int64_t slope_ps = 0;     // for each token of context
    bool is_compute_bound = false;
    bool is_extrapolated = false;
  };
  using Row = std::array<Knot, kKnots>;

  [[nodiscard]] KernelCall call_at(double batch, double context) const;
  [[nodiscard]] double correction(int batch_exponent, int knot) const;
  [[nodiscard]] Row row_of(std::int64_t batch) const;
  [[nodiscard]] const Row& row_for(std::int64_t batch, Row& beyond_table) const;
  /// The knot at or below the mean context.
  [[nodiscard]] static std::size_t knot_below(std::int64_t decodes, std::int64_t context);
  static constexpr std::int64_t context_at(std::int64_t decodes, std::size_t knot) { return decodes << knot; }

  const CalibratedKernels& kernels_;
  std::string_view name_;
  KernelCall call_;
  ChosenFit chosen_;
  std::int64_t layers_;
  std::vector<std::array<double, kKnots>> corrections_;  // by exponent of the batch
  std::int64_t launch_ps_ = 0;
  std::vector<Row> rows_;  // by batch
};

}  // namespace inferometer
