#pragma once

// What the pricers of all levels share: tables by tokens and by rows, padding to CUDA graphs, host time. Used
// by roofline_pricer.cpp and calibrated_pricer.cpp only.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "base/units.hpp"
#include "costmodel/attention_rank.hpp"
#include "costmodel/attention_terms.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/graph_sizes.hpp"
#include "costmodel/operator_costs.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/parallelism.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {

/// `Prices` gives, for one model on one GPU:
///   OperatorCosts token_costs(tokens), row_costs(rows): what depends on those counts alone;
///   AttentionTerms attention(): the rest.
template <class Prices>
class TabledPricer final : public StepPricer {
 public:
  /// `ranks`: of attention, among which a step's sequences are spread; tokens and rows of the whole step go
  /// to the tables.
  TabledPricer(Prices prices, CostBasis basis, const CostOptions& options, const PricerLimits& limits,
               std::int64_t ranks)
      : prices_(std::move(prices)),
        ranks_(ranks),
        basis_(std::move(basis)),
        graph_sizes_(limits.max_decode_tokens(), options.cuda_graphs),
        host_fixed_(options.host_fixed),
        host_per_sequence_(options.host_per_sequence),
        host_per_prefill_token_(options.host_per_prefill_token),
        host_overlap_(options.host_overlap) {
    by_tokens_ = tabulate(std::max(limits.max_tokens, graph_sizes_.padded(limits.max_decode_tokens())),
                          [this](std::int64_t tokens) { return prices_.token_costs(tokens).sum(); });
    by_rows_ = tabulate(limits.max_decode_tokens(),
                        [this](std::int64_t rows) { return prices_.row_costs(rows).sum(); });
  }

  [[nodiscard]] const CostBasis& basis() const override { return basis_; }

  [[nodiscard]] StepCost price(const StepShape& shape) const override { return price(shape, {}, nullptr); }

  [[nodiscard]] std::vector<OperatorTime> operator_times(const StepShape& shape) const override {
    std::vector<OperatorTime> times;
    prices_.token_costs(tokens_run(shape)).append_to(times);
    const AttentionRank rank(shape, ranks_);
    for (const auto& term : prices_.attention()) {
      StepCost cost;
      term->add(rank.shape(), cost, {}, nullptr);
      if (cost != StepCost{}) {
        times.push_back({term->name(), cost.total()});
      }
    }
    prices_.row_costs(shape.sampled_rows).append_to(times);
    return times;
  }

  [[nodiscard]] std::optional<StepLine> line(const StepShape& shape,
                                             const ContextTokens& context_growth) const override {
    StepLine line;
    line.first = price(shape, context_growth, &line);
    const std::int64_t growth_ps = line.growth.total().count();
    if (host_overlap_ && line.first.host > Duration() && growth_ps > 0) {
      // What still shows of the host goes behind the GPU as the GPU takes longer.
      line.growth.host = Duration(-growth_ps);
      line.steps = std::min(line.steps, steps_ahead(line.first.host.count(), -growth_ps));
    }
    return line;
  }

 private:
  // Tables beyond this size cost more memory traffic than they save; larger steps are rare and long.
  static constexpr std::int64_t kLargestTable = 32768;

  /// With a line, adds the growth of attention to it.
  [[nodiscard]] StepCost price(const StepShape& shape, const ContextTokens& growth, StepLine* line) const {
    StepCost cost = attention_cost(shape, growth, line) + linear_cost(tokens_run(shape)) +
                    sampling_cost(shape.sampled_rows);
    cost.host = exposed_host(shape, cost.total());
    return cost;
  }

  [[nodiscard]] StepCost attention_cost(const StepShape& shape, const ContextTokens& growth,
                                        StepLine* line) const {
    if (ranks_ == 1) {
      return terms_of(shape, growth, line);
    }
    const AttentionRank rank(shape, ranks_);
    if (line == nullptr || rank.is_straight(growth)) {
      return terms_of(rank.shape(), rank.growth(growth), line);
    }
    line->steps = 1;
    return terms_of(rank.shape(), {}, nullptr);
  }

  [[nodiscard]] StepCost terms_of(const StepShape& shape, const ContextTokens& growth, StepLine* line) const {
    StepCost attention;
    for (const auto& term : prices_.attention()) {
      term->add(shape, attention, growth, line);
    }
    return attention;
  }

  /// Padding to CUDA graphs included.
  [[nodiscard]] std::int64_t tokens_run(const StepShape& shape) const {
    return shape.chunks.empty() ? graph_sizes_.padded(shape.decode_tokens()) : shape.tokens();
  }

  template <class CostOf>
  static std::vector<StepCost> tabulate(std::int64_t largest, CostOf cost_of) {
    std::vector<StepCost> table(1);
    for (std::int64_t n = 1; n <= std::min(largest, kLargestTable); ++n) {
      table.push_back(cost_of(n));
    }
    return table;
  }

  [[nodiscard]] StepCost linear_cost(std::int64_t tokens) const {
    const auto index = static_cast<std::size_t>(tokens);
    return index < by_tokens_.size() ? by_tokens_[index] : prices_.token_costs(tokens).sum();
  }
  [[nodiscard]] StepCost sampling_cost(std::int64_t rows) const {
    const auto index = static_cast<std::size_t>(rows);
    return index < by_rows_.size() ? by_rows_[index] : prices_.row_costs(rows).sum();
  }
  [[nodiscard]] Duration exposed_host(const StepShape& shape, Duration gpu) const {
    const std::int64_t sequences = shape.decodes + static_cast<std::int64_t>(shape.chunks.size());
    const Duration host =
        host_fixed_ + host_per_sequence_ * sequences + host_per_prefill_token_ * shape.chunk_tokens();
    return host_overlap_ ? std::max(Duration(), host - gpu) : host;
  }

  Prices prices_;
  std::int64_t ranks_;
  CostBasis basis_;
  GraphSizes graph_sizes_;
  Duration host_fixed_, host_per_sequence_, host_per_prefill_token_;
  bool host_overlap_;
  std::vector<StepCost> by_tokens_, by_rows_;
};

/// The options with host time that takes `step_time` times as long, and none for a stage that has no head.
inline CostOptions with_host_of(const ModelSpec& model, CostOptions options, double step_time) {
  options.host_fixed = slowed(options.host_fixed, step_time);
  options.host_per_sequence = slowed(options.host_per_sequence, step_time);
  options.host_per_prefill_token = slowed(options.host_per_prefill_token, step_time);
  if (!model.has_head) {
    options.host_fixed = {};
    options.host_per_sequence = {};
    options.host_per_prefill_token = {};
  }
  return options;
}

/// Notes which of the operators go by latency and bandwidth of links that nobody measured.
inline void add_link_note(const Roofline& roofline, const std::vector<Operator>& operators,
                          CostBasis& basis) {
  std::vector<std::string> names;
  for (const Operator& part : operators) {
    if (roofline.is_extrapolated(part)) {
      names.emplace_back(part.name);
    }
  }
  if (!names.empty()) {
    basis.notes.push_back("not measured but priced by latency and bandwidth of the links: " +
                          join_alternatives(names, "and"));
  }
}

}  // namespace inferometer
