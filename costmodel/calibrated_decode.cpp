#include "costmodel/calibrated_decode.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.hpp"
#include "base/portable_math.hpp"

namespace inferometer {
namespace {

int exponent_below(std::int64_t number) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number))) - 1;
}

}  // namespace

CalibratedDecode::CalibratedDecode(const CalibratedKernels& kernels, const Operator& one_layer,
                                   std::int64_t max_batch)
    : kernels_(kernels),
      name_(one_layer.name),
      call_(*one_layer.call),
      chosen_(kernels.choose(call_)),
      layers_(one_layer.repeats) {
  INFEROMETER_CHECK(chosen_.fit != nullptr, "decode attention without a fit");
  for (int exponent = 0; exponent <= exponent_below(max_batch) + 1; ++exponent) {
    std::array<double, kKnots>& by_context = corrections_.emplace_back();
    for (int knot = 0; knot < kKnots; ++knot) {
      by_context[static_cast<std::size_t>(knot)] =
          kernels_.correction(name_, chosen_, call_at(std::ldexp(1.0, exponent), std::ldexp(1.0, knot)));
    }
  }
  // A launch cannot take longer than the shortest attention does.
  const std::int64_t shortest_ps = row_of(1).front().time_ps;
  launch_ps_ = std::min(whole_picoseconds(static_cast<double>(layers_) * chosen_.fit->roofline.start_up_s),
                        shortest_ps);
  for (std::int64_t batch = 0; batch <= max_batch; ++batch) {
    rows_.push_back(batch == 0 ? Row{} : row_of(batch));
  }
}

KernelCall CalibratedDecode::call_at(double batch, double context) const {
  KernelCall call = call_;
  call.axes[0] = batch;
  call.axes[1] = context;
  return call;
}

double CalibratedDecode::correction(int batch_exponent, int knot) const {
  const auto row = static_cast<std::size_t>(batch_exponent);
  return row < corrections_.size()
             ? corrections_[row][static_cast<std::size_t>(knot)]
             : kernels_.correction(name_, chosen_,
                                   call_at(std::ldexp(1.0, batch_exponent), std::ldexp(1.0, knot)));
}

/// Without the launch; with it as long as launch_ps_ is 0.
CalibratedDecode::Row CalibratedDecode::row_of(std::int64_t batch) const {
  Row row;
  const int exponent = exponent_below(batch);
  const double share = portable_log(std::ldexp(static_cast<double>(batch), -exponent)) / portable_log(2.0);
  std::int64_t longest_ps = 0;
  for (int k = 0; k < kKnots; ++k) {
    const KernelCall call = call_at(static_cast<double>(batch), std::ldexp(1.0, k));
    const double low = correction(exponent, k);
    const double log_ratio = share > 0 ? low + share * (correction(exponent + 1, k) - low) : low;
    const RooflineParts parts = roofline_parts(call, chosen_.fit->roofline, kernels_.gpu());
    const double factor = static_cast<double>(layers_) * portable_exp(log_ratio);
    longest_ps = std::max(longest_ps, whole_picoseconds(parts.total_s() * factor));
    Knot& knot = row[static_cast<std::size_t>(k)];
    knot.time_ps = std::max<std::int64_t>(longest_ps - launch_ps_, 0);
    knot.start_up_ps =
        std::clamp<std::int64_t>(whole_picoseconds(parts.start_up_s * factor) - launch_ps_, 0, knot.time_ps);
    knot.is_compute_bound = parts.compute_s >= parts.bandwidth_s;
    knot.is_extrapolated = CalibratedKernels::is_extrapolated(chosen_, call);
  }
  for (std::size_t k = 0; k + 1 < row.size(); ++k) {
    row[k].slope_ps =
        (row[k + 1].time_ps - row[k].time_ps) / (context_at(batch, k + 1) - context_at(batch, k));
  }
  row.back().slope_ps = row[row.size() - 2].slope_ps;
  return row;
}

std::size_t CalibratedDecode::knot_below(std::int64_t decodes, std::int64_t context) {
  const std::int64_t mean = std::max<std::int64_t>(context / decodes, 1);
  return static_cast<std::size_t>(std::min(exponent_below(mean), kKnots - 1));
}

/// Of the table, or made in `beyond_table`.
const CalibratedDecode::Row& CalibratedDecode::row_for(std::int64_t decodes, Row& beyond_table) const {
  const auto index = static_cast<std::size_t>(decodes);
  if (index < rows_.size()) {
    return rows_[index];
  }
  beyond_table = row_of(decodes);
  return beyond_table;
}

void CalibratedDecode::add(std::int64_t decodes, std::int64_t context, bool beside_prefill,
                           StepCost& cost) const {
  Row beyond_table;
  const Row& row = row_for(decodes, beyond_table);
  const std::size_t at = knot_below(decodes, context);
  const Knot& knot = row[at];
  const std::int64_t beyond = std::max<std::int64_t>(context - context_at(decodes, at), 0);
  require_simulable(
      (static_cast<double>(knot.time_ps) + static_cast<double>(knot.slope_ps) * static_cast<double>(beyond)) /
      kPicosecondsPerSecond);
  const Duration launch(beside_prefill ? 0 : launch_ps_);
  const Duration work(knot.time_ps - knot.start_up_ps + knot.slope_ps * beyond);
  cost.latency += launch + Duration(knot.start_up_ps);
  (knot.is_compute_bound ? cost.compute : cost.bandwidth) += work;
  if (knot.is_extrapolated) {
    cost.extrapolated += launch + Duration(knot.start_up_ps) + work;
  }
}

void CalibratedDecode::add_growth(std::int64_t decodes, std::int64_t context, std::int64_t context_growth,
                                  StepLine& line) const {
  Row beyond_table;
  const Row& row = row_for(decodes, beyond_table);
  const std::size_t at = knot_below(decodes, context);
  const Duration growth(row[at].slope_ps * context_growth);
  (row[at].is_compute_bound ? line.growth.compute : line.growth.bandwidth) += growth;
  if (row[at].is_extrapolated) {
    line.growth.extrapolated += growth;
  }
  if (at + 1 < row.size() && context_growth > 0) {
    line.steps = std::min(line.steps, ceil_div(context_at(decodes, at + 1) - context, context_growth));
  }
}

}  // namespace inferometer
