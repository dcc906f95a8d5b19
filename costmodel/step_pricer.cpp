#include "costmodel/step_pricer.hpp"

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "costmodel/attention_prices.hpp"
#include "costmodel/graph_sizes.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"

namespace inferometer {
namespace {

// Tables beyond this size cost more memory traffic than they save; larger steps are rare and long.
constexpr std::int64_t kLargestTable = 32768;

/// Time of operators run one after the other, by what it waits for.
StepCost sum_of(const std::vector<Operator>& operators, const Roofline& roofline) {
  StepCost sum;
  double sum_s = 0;
  for (const Operator& part : operators) {
    const RoofTimes times = roofline.time(part);
    sum_s += to_seconds(times.total()) * static_cast<double>(part.repeats);
    require_simulable(sum_s);
    StepCost one{.latency = times.start_up, .communication = times.communication};
    (times.compute_bound() ? one.compute : one.bandwidth) = std::max(times.compute, times.bandwidth);
    sum = sum + one * part.repeats;
  }
  return sum;
}

class RooflinePricer final : public StepPricer {
 public:
  RooflinePricer(const ModelSpec& model, const GpuSpec& gpu, const Profile& profile,
                 std::int64_t tensor_parallel, const CostOptions& options, const PricerLimits& limits)
      : model_(model),
        tensor_parallel_(tensor_parallel),
        roofline_(gpu, overridden(profile, options), options.level, tensor_parallel),
        decode_attention_(model, tensor_parallel, roofline_),
        prefill_attention_(model, tensor_parallel, roofline_),
        graph_sizes_(limits.max_rows, options.cuda_graphs),
        host_fixed_(options.host_fixed),
        host_per_sequence_(options.host_per_sequence),
        host_overlap_(options.host_overlap) {
    const std::int64_t most_tokens = std::max(limits.max_tokens, graph_sizes_.padded(limits.max_rows));
    by_tokens_ = tabulate(most_tokens, &RooflinePricer::token_cost);
    by_rows_ = tabulate(limits.max_rows, &RooflinePricer::row_cost);
  }

  [[nodiscard]] StepCost price(const StepShape& shape) const override {
    StepCost attention;
    std::int64_t tokens = shape.decodes;
    if (shape.chunks.empty()) {
      tokens = graph_sizes_.padded(tokens);
    } else {
      tokens += prefill_attention_.add(shape.chunks, attention);
    }
    if (shape.decodes > 0) {
      decode_attention_.add(shape.decodes, shape.decode_context, !shape.chunks.empty(), attention);
    }
    StepCost cost = attention + linear_cost(tokens) + sampling_cost(shape.sampled_rows);
    const std::int64_t sequences = shape.decodes + static_cast<std::int64_t>(shape.chunks.size());
    cost.host = exposed_host(sequences, cost.total());
    return cost;
  }

  [[nodiscard]] std::optional<StepLine> line(const StepShape& shape,
                                             std::int64_t context_growth) const override {
    StepLine line{price(shape)};
    if (shape.decodes > 0) {
      decode_attention_.add_growth(shape.decodes, shape.decode_context, context_growth, line);
    }
    if (!shape.chunks.empty()) {
      prefill_attention_.add_growth(shape.chunks, line);
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
  using CostOf = StepCost (RooflinePricer::*)(std::int64_t) const;

  [[nodiscard]] std::vector<StepCost> tabulate(std::int64_t largest, CostOf cost_of) const {
    std::vector<StepCost> table(1);
    for (std::int64_t n = 1; n <= std::min(largest, kLargestTable); ++n) {
      table.push_back((this->*cost_of)(n));
    }
    return table;
  }

  [[nodiscard]] StepCost token_cost(std::int64_t tokens) const {
    return sum_of(token_operators(model_, tensor_parallel_, tokens), roofline_);
  }
  [[nodiscard]] StepCost row_cost(std::int64_t rows) const {
    return sum_of(row_operators(model_, tensor_parallel_, rows), roofline_);
  }
  [[nodiscard]] StepCost linear_cost(std::int64_t tokens) const {
    const auto index = static_cast<std::size_t>(tokens);
    return index < by_tokens_.size() ? by_tokens_[index] : token_cost(tokens);
  }
  [[nodiscard]] StepCost sampling_cost(std::int64_t rows) const {
    const auto index = static_cast<std::size_t>(rows);
    return index < by_rows_.size() ? by_rows_[index] : row_cost(rows);
  }
  [[nodiscard]] Duration exposed_host(std::int64_t sequences, Duration gpu) const {
    const Duration host = host_fixed_ + host_per_sequence_ * sequences;
    return host_overlap_ ? std::max(Duration(), host - gpu) : host;
  }

  ModelSpec model_;
  std::int64_t tensor_parallel_;
  Roofline roofline_;
  DecodeAttentionPrice decode_attention_;
  PrefillAttentionPrice prefill_attention_;
  GraphSizes graph_sizes_;
  Duration host_fixed_, host_per_sequence_;
  bool host_overlap_;
  std::vector<StepCost> by_tokens_, by_rows_;
};

}  // namespace

std::unique_ptr<StepPricer> make_step_pricer(const ModelSpec& model, const GpuSpec& gpu,
                                             std::int64_t tensor_parallel, const CostOptions& options,
                                             const PricerLimits& limits) {
  return make_step_pricer(model, gpu, load_profile(gpu.name), tensor_parallel, options, limits);
}

std::unique_ptr<StepPricer> make_step_pricer(const ModelSpec& model, const GpuSpec& gpu,
                                             const Profile& profile, std::int64_t tensor_parallel,
                                             const CostOptions& options, const PricerLimits& limits) {
  shard(model, tensor_parallel);  // refuses what cannot be split before anything is built on it
  return std::make_unique<RooflinePricer>(model, gpu, profile, tensor_parallel, options, limits);
}

}  // namespace inferometer
