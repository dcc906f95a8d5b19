#include "costmodel/attention_prices.hpp"

#include <algorithm>
#include <cmath>

namespace inferometer {
namespace {

double seconds(Flops work, FlopsPerSecond rate) {
  return work.count() / rate.count();
}
double seconds(Bytes work, BytesPerSecond rate) {
  return static_cast<double>(work.count()) / rate.count();
}

/// Adds the growth of the higher of two roofs, of which compute is ahead by `lead` now and counts at a tie.
void add_higher(std::int64_t lead, std::int64_t compute_growth, std::int64_t bandwidth_growth,
                StepLine& line) {
  const std::int64_t gain = compute_growth - bandwidth_growth;
  if (lead >= 0) {
    line.growth.compute += Duration(compute_growth);
    line.steps = std::min(line.steps, steps_ahead(lead, gain));
  } else {
    line.growth.bandwidth += Duration(bandwidth_growth);
    line.steps = std::min(line.steps, steps_ahead(-lead - 1, -gain));
  }
}

}  // namespace

PriceRate::PriceRate(double seconds_per_unit) {
  constexpr double kMost = 9.2e18;  // of a 64-bit integer
  const double scaled = std::ceil(std::ldexp(seconds_per_unit * kPicosecondsPerSecond, kShift));
  require_simulable(scaled < kMost ? 0 : HUGE_VAL);
  scaled_ = static_cast<std::int64_t>(scaled);
}

RoofLines::RoofLines(const Roofs& roofs, std::int64_t layers, const Work& of_run, const Work& of_unit) {
  const auto times = static_cast<double>(layers);
  compute_ = {whole_picoseconds(times * seconds(of_run.flops, roofs.compute)),
              whole_picoseconds(times * seconds(of_unit.flops, roofs.compute))};
  bandwidth_ = {whole_picoseconds(times * seconds(of_run.hbm_bytes, roofs.bandwidth)),
                whole_picoseconds(times * seconds(of_unit.hbm_bytes, roofs.bandwidth))};
}

void RoofLines::add(std::int64_t runs, std::int64_t compute_units, std::int64_t bandwidth_units,
                    StepCost& cost) const {
  require_simulable(compute_.seconds_at(runs, compute_units) + bandwidth_.seconds_at(runs, bandwidth_units));
  const std::int64_t compute = compute_.at(runs, compute_units);
  const std::int64_t bandwidth = bandwidth_.at(runs, bandwidth_units);
  if (compute >= bandwidth) {
    cost.compute += Duration(compute);
  } else {
    cost.bandwidth += Duration(bandwidth);
  }
}

Duration RoofLines::compute(std::int64_t runs, std::int64_t units) const {
  require_simulable(compute_.seconds_at(runs, units));
  return Duration(compute_.at(runs, units));
}

void RoofLines::add_growth(std::int64_t runs, std::int64_t units, std::int64_t growth, StepLine& line) const {
  add_higher(compute_.at(runs, units) - bandwidth_.at(runs, units), compute_.per_unit_ps * growth,
             bandwidth_.per_unit_ps * growth, line);
}

DecodeAttentionPrice::DecodeAttentionPrice(const ModelSpec& model, std::int64_t tensor_parallel,
                                           const Roofline& roofline) {
  const Roofs roofs = roofline.roofs(OperatorFamily::decode_attention);
  const Operator sequence = decode_attention(model, tensor_parallel, 1, 0, false);
  const Operator context_token = decode_attention(model, tensor_parallel, 0, 1, false);
  start_up_ = roofs.start_up * model.layers;
  start_up_per_sequence_ = roofline.decode_per_sequence_head() * (sequence.sequence_heads * model.layers);
  roofs_ = RoofLines(roofs, model.layers, {sequence.flops, sequence.hbm_bytes},
                     {context_token.flops, context_token.hbm_bytes});
}

void DecodeAttentionPrice::add(const DecodeShape& decodes, bool beside_prefill, StepCost& cost) const {
  cost.latency += start_up_per_sequence_ * decodes.sequences;
  if (!beside_prefill) {
    cost.latency += start_up_;
  }
  roofs_.add(decodes.tokens(), decodes.pairs(), decodes.keys(), cost);
}

Duration DecodeAttentionPrice::compute(const DecodeShape& decodes) const {
  return roofs_.compute(decodes.tokens(), decodes.pairs());
}

void DecodeAttentionPrice::add_growth(std::int64_t decodes, std::int64_t context, std::int64_t context_growth,
                                      StepLine& line) const {
  roofs_.add_growth(decodes, context, context_growth, line);
}

PrefillAttentionPrice::PrefillAttentionPrice(const ModelSpec& model, std::int64_t tensor_parallel,
                                             const Roofline& roofline) {
  const Roofs roofs = roofline.roofs(OperatorFamily::prefill_attention);
  const ModelSpec plain = unwindowed(model);
  const ChunkShape first_token{1, 0};
  const ChunkShape second_token{1, 1};
  const Operator one_key = prefill_attention(plain, tensor_parallel, {&first_token, 1});
  const Operator two_keys = prefill_attention(plain, tensor_parallel, {&second_token, 1});
  const auto layers = static_cast<double>(model.layers);
  start_up_ = roofs.start_up * model.layers;
  window_ = model.sliding_window.value_or(kUnlimited);
  overhang_tokens_ = static_cast<std::int64_t>(2 * roofline.overhang_keys()) + 1;
  const double pair_seconds = layers * seconds(one_key.flops, roofs.compute);
  per_pair_ = PriceRate(pair_seconds);
  per_half_pair_ = PriceRate(pair_seconds / 2);
  per_new_token_ = PriceRate(layers * seconds(one_key.hbm_bytes, roofs.bandwidth));
  per_key_ps_ = whole_picoseconds(layers * seconds(two_keys.hbm_bytes - one_key.hbm_bytes, roofs.bandwidth));
}

double PrefillAttentionPrice::most_seconds(const ChunkShape& chunk) const {
  const auto tokens = static_cast<double>(chunk.tokens);
  const auto keys = static_cast<double>(chunk.past + chunk.tokens + overhang_tokens_);
  return per_pair_.seconds(tokens * keys) + per_new_token_.seconds(tokens) +
         static_cast<double>(per_key_ps_) * keys / kPicosecondsPerSecond;
}

/// q past + q (q + T0) / 2 pairs; a window takes off those beyond it, which grow by one with each new token.
std::int64_t PrefillAttentionPrice::compute_ps(std::int64_t tokens, std::int64_t past) const {
  const std::int64_t seen = std::min(past, window_ - 1);
  std::int64_t price =
      per_pair_.times(tokens) * seen + per_half_pair_.times(tokens * (tokens + overhang_tokens_));
  const std::int64_t over = seen + tokens - window_;
  if (over > 0) {
    price -= per_half_pair_.at_most_times(over * (over + 1));
  }
  return price;
}

std::int64_t PrefillAttentionPrice::bandwidth_ps(std::int64_t tokens, std::int64_t past) const {
  return per_new_token_.times(tokens) + per_key_ps_ * std::min(past, window_ - 1);
}

void PrefillAttentionPrice::add(std::span<const ChunkShape> chunks, StepCost& cost, StepLine* line) const {
  std::int64_t compute = 0;
  std::int64_t bandwidth = 0;
  double most_s = 0;
  for (const ChunkShape& chunk : chunks) {
    most_s += most_seconds(chunk);
    require_simulable(most_s);
    compute += compute_ps(chunk.tokens, chunk.past);
    bandwidth += bandwidth_ps(chunk.tokens, chunk.past);
  }
  cost.latency += start_up_;
  if (compute >= bandwidth) {
    cost.compute += Duration(compute);
  } else {
    cost.bandwidth += Duration(bandwidth);
  }
  if (line != nullptr) {
    add_growth(chunks, *line);
  }
}

std::int64_t PrefillAttentionPrice::steps_within_window(const ChunkShape& chunk) const {
  if (chunk.past >= window_ - 1) {
    return StepLine::kForever;  // every token sees a full window, in each step
  }
  const std::int64_t room = window_ - chunk.past - chunk.tokens;
  return room < 0 ? 1 : room / chunk.tokens + 1;
}

void PrefillAttentionPrice::add_growth(std::span<const ChunkShape> chunks, StepLine& line) const {
  std::int64_t lead = 0;
  std::int64_t compute_growth = 0;
  std::int64_t bandwidth_growth = 0;
  for (const ChunkShape& chunk : chunks) {
    lead += compute_ps(chunk.tokens, chunk.past) - bandwidth_ps(chunk.tokens, chunk.past);
    if (chunk.past < window_ - 1) {
      compute_growth += per_pair_.times(chunk.tokens) * chunk.tokens;
      bandwidth_growth += per_key_ps_ * chunk.tokens;
    }
    line.steps = std::min(line.steps, steps_within_window(chunk));
  }
  add_higher(lead, compute_growth, bandwidth_growth, line);
}

}  // namespace inferometer
