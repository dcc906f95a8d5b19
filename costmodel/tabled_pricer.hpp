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
#include "costmodel/cost_options.hpp"
#include "costmodel/graph_sizes.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {

/// Operators that run one after the other, each with all its runs.
class OperatorCosts {
 public:
  /// Throws ConfigError when the step would take longer than any may.
  void add(std::string_view name, const RoofTimes& times, std::int64_t repeats, bool is_extrapolated) {
    seconds_ += to_seconds(times.total()) * static_cast<double>(repeats);
    require_simulable(seconds_);
    StepCost one{.latency = times.start_up, .communication = times.communication};
    (times.compute_bound() ? one.compute : one.bandwidth) = std::max(times.compute, times.bandwidth);
    if (is_extrapolated) {
      one.extrapolated = one.total();
    }
    costs_.emplace_back(name, one * repeats);
  }
  [[nodiscard]] StepCost sum() const {
    StepCost sum;
    for (const auto& [name, cost] : costs_) {
      sum = sum + cost;
    }
    return sum;
  }
  void append_to(std::vector<OperatorTime>& times) const {
    for (const auto& [name, cost] : costs_) {
      times.push_back({name, cost.total()});
    }
  }

 private:
  std::vector<std::pair<std::string_view, StepCost>> costs_;
  double seconds_ = 0;
};

/// `Prices` gives, for one model on one GPU:
///   OperatorCosts token_costs(tokens), row_costs(rows): what depends on those counts alone;
///   add_decodes(shape, cost), add_decode_growth(decodes, context, growth, line);
///   add_chunks(chunks, cost, line) -> tokens in them; with a line, their growth is added to it, too.
template <class Prices>
class TabledPricer final : public StepPricer {
 public:
  TabledPricer(Prices prices, CostBasis basis, const CostOptions& options, const PricerLimits& limits)
      : prices_(std::move(prices)),
        basis_(std::move(basis)),
        graph_sizes_(limits.max_decode_tokens(), options.cuda_graphs),
        host_fixed_(options.host_fixed),
        host_per_sequence_(options.host_per_sequence),
        host_overlap_(options.host_overlap) {
    by_tokens_ = tabulate(std::max(limits.max_tokens, graph_sizes_.padded(limits.max_decode_tokens())),
                          [this](std::int64_t tokens) { return prices_.token_costs(tokens).sum(); });
    by_rows_ = tabulate(limits.max_decode_tokens(),
                        [this](std::int64_t rows) { return prices_.row_costs(rows).sum(); });
  }

  [[nodiscard]] const CostBasis& basis() const override { return basis_; }

  [[nodiscard]] StepCost price(const StepShape& shape) const override { return price(shape, nullptr); }

  [[nodiscard]] std::vector<OperatorTime> operator_times(const StepShape& shape) const override {
    std::vector<OperatorTime> times;
    prices_.token_costs(tokens_run(shape)).append_to(times);
    if (!shape.chunks.empty()) {
      StepCost chunks;
      prices_.add_chunks(shape.chunks, chunks, nullptr);
      times.push_back({kPrefillAttention, chunks.total()});
    }
    if (shape.decodes > 0) {
      StepCost decodes;
      prices_.add_decodes(shape, decodes);
      times.push_back({kDecodeAttention, decodes.total()});
    }
    prices_.row_costs(shape.sampled_rows).append_to(times);
    return times;
  }

  [[nodiscard]] std::optional<StepLine> line(const StepShape& shape,
                                             std::int64_t context_growth) const override {
    StepLine line;
    line.first = price(shape, &line);
    if (shape.decodes > 0) {
      prices_.add_decode_growth(shape.decodes, shape.decode_context, context_growth, line);
    }
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

  /// With a line, adds the growth of the chunks to it.
  [[nodiscard]] StepCost price(const StepShape& shape, StepLine* line) const {
    StepCost attention;
    std::int64_t tokens = shape.decode_tokens();
    if (shape.chunks.empty()) {
      tokens = graph_sizes_.padded(tokens);
    } else {
      tokens += prices_.add_chunks(shape.chunks, attention, line);
    }
    if (shape.decodes > 0) {
      prices_.add_decodes(shape, attention);
    }
    StepCost cost = attention + linear_cost(tokens) + sampling_cost(shape.sampled_rows);
    const std::int64_t sequences = shape.decodes + static_cast<std::int64_t>(shape.chunks.size());
    cost.host = exposed_host(sequences, cost.total());
    return cost;
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
  [[nodiscard]] Duration exposed_host(std::int64_t sequences, Duration gpu) const {
    const Duration host = host_fixed_ + host_per_sequence_ * sequences;
    return host_overlap_ ? std::max(Duration(), host - gpu) : host;
  }

  Prices prices_;
  CostBasis basis_;
  GraphSizes graph_sizes_;
  Duration host_fixed_, host_per_sequence_;
  bool host_overlap_;
  std::vector<StepCost> by_tokens_, by_rows_;
};

/// The options without host time for a stage that has no head.
inline CostOptions with_host_of(const ModelSpec& model, CostOptions options) {
  if (!model.has_head) {
    options.host_fixed = {};
    options.host_per_sequence = {};
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
