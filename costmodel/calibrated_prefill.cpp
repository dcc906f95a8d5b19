#include "costmodel/calibrated_prefill.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/portable_math.hpp"
#include "costmodel/knots.hpp"

namespace inferometer {
namespace {

// Lengths beyond this are looked up when they are met.
constexpr std::int64_t kLongestTabled = 1 << 20;

}  // namespace

CalibratedPrefill::CalibratedPrefill(const CalibratedKernels& kernels, const Operator& one_layer,
                                     std::int64_t max_tokens)
    : kernels_(kernels),
      name_(one_layer.name),
      call_(*one_layer.call),
      chosen_(kernels.choose(call_)),
      length_knots_(knot_below(kLongestTabled) + 1) {
  INFEROMETER_CHECK(chosen_.fit != nullptr, "prefill attention without a fit");
  take_coefficients(static_cast<double>(one_layer.repeats));
  KernelCall shortest = call_;
  shortest.axes[1] = 1;
  is_extrapolated_ = CalibratedKernels::is_extrapolated(chosen_, shortest);
  const std::size_t token_knots = knot_below(max_tokens) + 2;
  std::vector<double> table;
  for (std::size_t tokens = 0; tokens < token_knots; ++tokens) {
    for (std::size_t length = 0; length < length_knots_; ++length) {
      table.push_back(correction_at_knots(tokens, length));
    }
  }
  corrections_ = std::move(table);
}

/// What a launch, a pair of query and key, a key and a query take, of all layers: from calls of one query
/// over one and two keys.
void CalibratedPrefill::take_coefficients(double layers) {
  constexpr std::size_t kWindow = 6;  // latent attention has none, and a 0 there
  if (call_.axes[kWindow] > 0) {
    window_ = static_cast<std::int64_t>(call_.axes[kWindow]);
  }
  RooflineConstants exact = chosen_.fit->roofline;
  overhang_keys_ = (exact.overhang_tokens - 1) / 2;
  exact.overhang_tokens = 1;
  const auto query_over = [&](double past) {
    KernelCall call = call_;
    call.axes[0] = 1;
    call.axes[1] = 1;
    call.axes[2] = past;
    call.axes[kWindow] = 0;
    return roofline_parts(call, exact, kernels_.gpu());
  };
  const RooflineParts one_key = query_over(0);
  const RooflineParts two_keys = query_over(1);
  start_up_s_ = layers * one_key.start_up_s;
  seconds_per_pair_ = layers * one_key.compute_s;
  seconds_per_key_ = layers * (two_keys.bandwidth_s - one_key.bandwidth_s);
  seconds_per_token_ = layers * one_key.bandwidth_s - seconds_per_key_;
}

double CalibratedPrefill::correction_at_knots(std::size_t token_knot, std::size_t length_knot) const {
  KernelCall call = call_;
  const auto length = static_cast<double>(knot_value(length_knot));
  call.axes[0] = static_cast<double>(knot_value(token_knot)) / length;
  call.axes[1] = length;
  call.axes[2] = 0;
  return portable_exp(kernels_.correction(name_, chosen_, call));
}

double CalibratedPrefill::correction(std::size_t token_knot, std::size_t length_knot) const {
  const std::size_t index = token_knot * length_knots_ + length_knot;
  return length_knot < length_knots_ && index < corrections_.size()
             ? corrections_[index]
             : correction_at_knots(token_knot, length_knot);
}

RooflineParts CalibratedPrefill::parts_at(const ChunkShape& chunk, const StepTokens& step) const {
  const std::int64_t length = chunk.tokens + 2 * chunk.past;
  const std::size_t length_knot = knot_below(length);
  const double length_share = share_beyond(length, length_knot);
  const auto along = [&](std::size_t knot) {
    const double low = correction(step.knot, knot);
    return step.share > 0 ? low + step.share * (correction(step.knot + 1, knot) - low) : low;
  };
  double ratio = along(length_knot);
  if (length_share > 0) {
    ratio += length_share * (along(length_knot + 1) - ratio);
  }
  const auto tokens = static_cast<double>(chunk.tokens);
  const double pairs = static_cast<double>(attention_pairs(chunk, window_)) + overhang_keys_ * tokens;
  const double bandwidth_s =
      seconds_per_key_ * static_cast<double>(attention_keys(chunk, window_)) + seconds_per_token_ * tokens;
  return {start_up_s_ * tokens * step.inverse * ratio, seconds_per_pair_ * pairs * ratio,
          bandwidth_s * ratio};
}

CalibratedPrefill::Piece CalibratedPrefill::piece_of(const ChunkShape& chunk, const StepTokens& step) const {
  const std::int64_t q = chunk.tokens;
  const std::size_t knot = knot_below(q + 2 * chunk.past);
  // The first past at which q + 2 p reaches a knot.
  const auto past_at = [q](std::size_t k) { return std::max<std::int64_t>(0, (knot_value(k) - q + 1) / 2); };
  Piece piece;
  piece.from_past = past_at(knot);
  piece.to_past = past_at(knot + 1);
  const RooflineParts low = parts_at({q, piece.from_past}, step);
  piece.time_ps = whole_picoseconds(low.total_s());
  piece.start_up_ps = std::min(whole_picoseconds(low.start_up_s), piece.time_ps);
  const std::int64_t high_ps = whole_picoseconds(parts_at({q, piece.to_past}, step).total_s());
  piece.slope_ps = std::max<std::int64_t>(0, high_ps - piece.time_ps) / (piece.to_past - piece.from_past);
  piece.is_compute_bound = low.compute_s >= low.bandwidth_s;
  piece.is_extrapolated =
      is_extrapolated_ || static_cast<double>(knot_value(knot)) > chosen_.fit->range[1].high;
  return piece;
}

void CalibratedPrefill::add(std::span<const ChunkShape> chunks, StepCost& cost, StepLine* line) const {
  std::int64_t tokens = 0;
  for (const ChunkShape& chunk : chunks) {
    tokens += chunk.tokens;
  }
  const std::size_t knot = knot_below(tokens);
  const StepTokens step{knot, share_beyond(tokens, knot), 1 / static_cast<double>(tokens)};
  for (const ChunkShape& chunk : chunks) {
    const Piece piece = piece_of(chunk, step);
    const Duration start_up(piece.start_up_ps);
    const Duration work(piece.time_ps - piece.start_up_ps + piece.slope_ps * (chunk.past - piece.from_past));
    cost.latency += start_up;
    (piece.is_compute_bound ? cost.compute : cost.bandwidth) += work;
    if (piece.is_extrapolated) {
      cost.extrapolated += start_up + work;
    }
    if (line == nullptr) {
      continue;
    }
    const Duration growth(piece.slope_ps * chunk.tokens);
    (piece.is_compute_bound ? line->growth.compute : line->growth.bandwidth) += growth;
    if (piece.is_extrapolated) {
      line->growth.extrapolated += growth;
    }
    line->steps = std::min(line->steps, ceil_div(piece.to_past - chunk.past, chunk.tokens));
  }
}

}  // namespace inferometer
