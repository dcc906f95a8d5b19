#include "costmodel/latent_prices.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "costmodel/calibrated_gemm.hpp"
#include "costmodel/knots.hpp"
#include "costmodel/latent_attention.hpp"
#include "costmodel/operator_costs.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kAbsorption = "absorption";

/// Rows beyond this cost what those before it did.
constexpr std::int64_t kMostRows = 1 << 22;

}  // namespace

UpProjectionPrice::UpProjectionPrice(const ModelSpec& model, std::int64_t tensor_parallel,
                                     const Roofline& roofline) {
  const Operator no_row = up_projection(model, tensor_parallel, 0);
  const Operator one_row = up_projection(model, tensor_parallel, 1);
  const Roofs roofs = roofline.roofs_of(one_row);
  start_up_ = roofs.start_up * model.layers;
  roofs_ = RoofLines(roofs, model.layers, {no_row.flops, no_row.hbm_bytes},
                     {one_row.flops - no_row.flops, one_row.hbm_bytes - no_row.hbm_bytes});
}

void UpProjectionPrice::add(std::int64_t rows, StepCost& cost) const {
  cost.latency += start_up_;
  roofs_.add(1, rows, cost);
}

void UpProjectionPrice::add_growth(std::int64_t rows, std::int64_t row_growth, StepLine& line) const {
  roofs_.add_growth(1, rows, row_growth, line);
}

CalibratedUpProjection::CalibratedUpProjection(const CalibratedKernels& kernels, const Operator& one_layer) {
  const CalibratedGemm product(kernels, one_layer);
  const ChosenFit chosen = kernels.choose(*one_layer.call);
  const auto layers = static_cast<double>(one_layer.repeats);
  std::int64_t longest_ps = 0;
  for (std::size_t k = 0; knot_value(k) <= kMostRows; ++k) {
    Knot& knot = knots_.emplace_back();
    knot.rows = knot_value(k);
    const RooflineParts parts = product.parts(knot.rows);
    longest_ps = std::max(longest_ps, whole_picoseconds(layers * parts.total_s()));
    knot.time_ps = longest_ps;
    knot.start_up_ps = std::min(whole_picoseconds(layers * parts.start_up_s), knot.time_ps);
    knot.is_compute_bound = parts.compute_s >= parts.bandwidth_s;
    KernelCall call = *one_layer.call;
    call.axes[0] = static_cast<double>(knot.rows);
    knot.is_extrapolated = CalibratedKernels::is_extrapolated(chosen, call);
  }
  for (std::size_t k = 0; k + 1 < knots_.size(); ++k) {
    knots_[k].slope_ps = (knots_[k + 1].time_ps - knots_[k].time_ps) / (knots_[k + 1].rows - knots_[k].rows);
  }
  knots_.back().slope_ps = knots_[knots_.size() - 2].slope_ps;
}

void CalibratedUpProjection::add(std::int64_t rows, StepCost& cost) const {
  const Knot& knot = knots_[std::min(knot_below(rows), knots_.size() - 1)];
  const std::int64_t beyond = rows - knot.rows;
  require_simulable(
      (static_cast<double>(knot.time_ps) + static_cast<double>(knot.slope_ps) * static_cast<double>(beyond)) /
      kPicosecondsPerSecond);
  const Duration start_up(knot.start_up_ps);
  const Duration work(knot.time_ps - knot.start_up_ps + knot.slope_ps * beyond);
  cost.latency += start_up;
  (knot.is_compute_bound ? cost.compute : cost.bandwidth) += work;
  if (knot.is_extrapolated) {
    cost.extrapolated += start_up + work;
  }
}

void CalibratedUpProjection::add_growth(std::int64_t rows, std::int64_t row_growth, StepLine& line) const {
  const std::size_t at = std::min(knot_below(rows), knots_.size() - 1);
  const Duration growth(knots_[at].slope_ps * row_growth);
  (knots_[at].is_compute_bound ? line.growth.compute : line.growth.bandwidth) += growth;
  if (knots_[at].is_extrapolated) {
    line.growth.extrapolated += growth;
  }
  if (at + 1 < knots_.size()) {
    line.steps = std::min(line.steps, ceil_div(knots_[at + 1].rows - rows, row_growth));
  }
}

AbsorptionTerm::AbsorptionTerm(const ModelSpec& model, std::int64_t tensor_parallel, const Roofline& roofline,
                               std::int64_t max_decodes)
    : AttentionTerm(kAbsorption), model_(model), tensor_parallel_(tensor_parallel), roofline_(roofline) {
  for (std::int64_t decodes = 0; decodes <= max_decodes; ++decodes) {
    by_decodes_.push_back(decodes == 0 ? StepCost{} : cost_of(decodes));
  }
}

void AbsorptionTerm::add(const StepShape& shape, StepCost& cost, const ContextTokens& /*growth*/,
                         StepLine* /*line*/) const {
  const auto index = static_cast<std::size_t>(shape.decode_tokens());
  cost = cost + (index < by_decodes_.size() ? by_decodes_[index] : cost_of(shape.decode_tokens()));
}

StepCost AbsorptionTerm::cost_of(std::int64_t decodes) const {
  OperatorCosts costs;
  for (const Operator& part : {query_absorption(model_, tensor_parallel_, decodes),
                               value_absorption(model_, tensor_parallel_, decodes)}) {
    costs.add(part.name, roofline_.time(part), part.repeats, roofline_.is_extrapolated(part));
  }
  return costs.sum();
}

}  // namespace inferometer
