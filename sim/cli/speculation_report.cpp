#include "sim/cli/speculation_report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "costmodel/operators.hpp"

namespace inferometer {
namespace {

using Cells = std::vector<std::string>;

/// The acceptance at which so many tokens come out of a step on average: they grow with it.
std::optional<double> acceptance_for(double tokens, std::int64_t drafts) {
  if (tokens > expected_tokens(1, drafts)) {
    return std::nullopt;
  }
  double low = 0, high = 1;
  constexpr int kHalvings = 40;  // more digits than are shown
  for (int i = 0; i < kHalvings && tokens > 1; ++i) {
    const double middle = (low + high) / 2;
    (expected_tokens(middle, drafts) < tokens ? low : high) = middle;
  }
  return tokens > 1 ? high : 0;
}

double intensity(const std::vector<Operator>& operators) {
  return total_flops(operators).count() / static_cast<double>(total_hbm_bytes(operators).count());
}

std::string drafter_in_words(const Drafter& drafter, const ModelSpec& target) {
  switch (drafter.method) {
    case DraftMethod::ngram:
      return "n-grams looked up on the host";
    case DraftMethod::draft_model:
      return drafter.pass->name;
    case DraftMethod::eagle:
      return "an EAGLE head (one layer like " + target.name + "'s, and its lm_head)";
    case DraftMethod::mtp:
      break;
  }
  return "the MTP module of " + target.name + " (one layer, and its lm_head)";
}

}  // namespace

SpeculationTable::SpeculationTable(SpeculationSetting setting) : setting_(std::move(setting)) {
  CostOptions options = setting_.prices;
  options.level = setting_.where.level;
  options.host_fixed = {};
  options.host_per_sequence = {};
  options.host_per_prefill_token = {};
  options.cuda_graphs = false;
  const Parallelism parallelism = in_one_node(setting_.where.tensor_parallel);
  const PricerLimits nothing_tabled{.max_tokens = 1, .max_rows = 1};
  target_ = make_step_pricer(setting_.where.model, setting_.where.gpu, parallelism, options, nothing_tabled);
  with_drafter_ = make_speculative_pricer(target_, setting_.drafter, setting_.where.gpu, parallelism, options,
                                          nothing_tabled);
}

SpeculationRow SpeculationTable::row(std::int64_t batch) const {
  const std::int64_t positions = setting_.drafts + 1;
  const std::int64_t attended =
      std::min(setting_.context, setting_.where.model.sliding_window.value_or(setting_.context));
  const StepShape plain{.decodes = batch, .decode_context = batch * attended, .sampled_rows = batch};
  StepShape verify = plain;
  verify.queries = positions;
  verify.sampled_rows = batch * positions;
  const auto operators = [&](const StepShape& shape) {
    return step_operators(setting_.where.model, setting_.where.tensor_parallel, shape);
  };
  SpeculationRow row;
  row.batch = batch;
  row.plain_intensity = intensity(operators(plain));
  row.verify_intensity = intensity(operators(verify));
  row.plain = target_->price(plain).total();
  row.verify = target_->price(verify).total();
  row.draft = with_drafter_->price(verify).total() - row.verify;
  row.expected_tokens = expected_tokens(setting_.acceptance, setting_.drafts);
  row.break_even =
      acceptance_for(to_seconds(row.verify + row.draft) / to_seconds(row.plain), setting_.drafts);
  return row;
}

std::optional<std::int64_t> SpeculationTable::first_losing_batch() const {
  const auto loses = [this](std::int64_t batch) { return row(batch).speed_up() < 1; };
  std::int64_t high = 1;
  while (high <= kMostBatch && !loses(high)) {
    high *= 2;
  }
  if (high > kMostBatch) {
    return std::nullopt;
  }
  std::int64_t low = high / 2;  // wins, or is no batch
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (loses(middle) ? high : low) = middle;
  }
  return high;
}

std::string SpeculationTable::heading() const {
  const RooflineSetting& where = setting_.where;
  return fmt::format(
      "{} on {}, {} GPU{}: decodes at context {}, {} drafted token{} by {}\n"
      "GPU time at level {}, without the host. A step verifies {} positions a sequence, so that weights and "
      "KV "
      "are read once for {} positions; at acceptance {} it emits {:.2f} tokens on average.\n\n",
      where.model.name, where.gpu.title, where.tensor_parallel, where.tensor_parallel == 1 ? "" : "s",
      setting_.context, setting_.drafts, setting_.drafts == 1 ? "" : "s",
      drafter_in_words(setting_.drafter, where.model), to_string(target_->basis().level), setting_.drafts + 1,
      setting_.drafts + 1, setting_.acceptance, expected_tokens(setting_.acceptance, setting_.drafts));
}

std::string SpeculationTable::conclusion() const {
  const std::optional<std::int64_t> losing = first_losing_batch();
  if (!losing) {
    return fmt::format("\nAt acceptance {} it wins at every batch up to {}.\n", setting_.acceptance,
                       kMostBatch);
  }
  return *losing == 1 ? fmt::format("\nAt acceptance {} it loses at any batch.\n", setting_.acceptance)
                      : fmt::format("\nAt acceptance {} it loses from a batch of {} on.\n",
                                    setting_.acceptance, *losing);
}

std::string SpeculationTable::text(const std::vector<std::int64_t>& batches) const {
  std::vector<Cells> lines{{"batch", "positions", "FLOP/B plain", "verifying", "plain ms", "verify ms",
                            "draft ms", "tokens", "speed-up", "break-even acceptance"}};
  const auto milliseconds = [](Duration time) { return fmt::format("{:.3f}", to_milliseconds(time)); };
  for (const std::int64_t batch : batches) {
    const SpeculationRow one = row(batch);
    lines.push_back({fmt::format("{}", batch), fmt::format("{}", batch * (setting_.drafts + 1)),
                     fmt::format("{:.1f}", one.plain_intensity), fmt::format("{:.1f}", one.verify_intensity),
                     milliseconds(one.plain), milliseconds(one.verify), milliseconds(one.draft),
                     fmt::format("{:.2f}", one.expected_tokens), fmt::format("{:.2f}", one.speed_up()),
                     one.break_even ? fmt::format("{:.3f}", *one.break_even) : "loses at 1"});
  }
  return heading() + align_columns(lines, 0) + conclusion();
}

std::string SpeculationTable::csv(const std::vector<std::int64_t>& batches) const {
  std::string text =
      "batch,positions,plain_flops_per_byte,verify_flops_per_byte,plain_us,verify_us,draft_us,"
      "expected_tokens,speed_up,break_even_acceptance\n";
  const auto microseconds_of = [](Duration time) { return to_milliseconds(time) * 1e3; };
  for (const std::int64_t batch : batches) {
    const SpeculationRow one = row(batch);
    text += fmt::format("{},{},{:.6g},{:.6g},{:.6f},{:.6f},{:.6f},{:.6g},{:.6g},{}\n", batch,
                        batch * (setting_.drafts + 1), one.plain_intensity, one.verify_intensity,
                        microseconds_of(one.plain), microseconds_of(one.verify), microseconds_of(one.draft),
                        one.expected_tokens, one.speed_up(),
                        one.break_even ? fmt::format("{:.6f}", *one.break_even) : "");
  }
  return text;
}

}  // namespace inferometer
