#include "sim/study/plan/least_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "sim/study/plan/stage_prices.hpp"

namespace inferometer {
namespace {

/// Whether `b` lies on or above the line from `a` to `c`.
bool is_above(const PricePoint& a, const PricePoint& b, const PricePoint& c) {
  return (b.seconds - a.seconds) * (c.units - a.units) >= (c.seconds - a.seconds) * (b.units - a.units);
}

std::vector<PricePoint> lower_hull(std::span<const PricePoint> points) {
  std::vector<PricePoint> hull;
  for (const PricePoint& point : points) {
    while (hull.size() >= 2 && is_above(hull[hull.size() - 2], hull.back(), point)) {
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

/// Policies that keep to what they say is the most tokens of a step. Others may run the prompts of a whole
/// batch at once.
constexpr std::array<std::string_view, 5> kBudgetedPolicies = {"chunked_prefill", "continuous", "sarathi",
                                                               "priority", "shortest_job_first"};

/// Steps of more tokens are not looked at one by one, as the pricers' tables have none of them, either.
constexpr std::int64_t kMostTokensLookedAt = 32768;

/// Prices of all stages by tokens of the step.
std::vector<PricePoint> token_points(const PoolDeployment& pool, std::span<const StagePrices> stages,
                                     std::int64_t padded_rows) {
  const std::int64_t budget = std::max(pool.pricer_limits.max_tokens, padded_rows);
  const std::int64_t most = std::min(budget, kMostTokensLookedAt);
  std::vector<PricePoint> points;
  for (std::int64_t tokens = 1; tokens <= most; ++tokens) {
    double seconds = 0;
    for (const StagePrices& stage : stages) {
      seconds += stage.token_seconds(tokens);
    }
    points.push_back({static_cast<double>(tokens), seconds});
  }
  const std::string policy = pool.spec.engine.text("policy");
  const bool is_budgeted =
      std::find(kBudgetedPolicies.begin(), kBudgetedPolicies.end(), policy) != kBudgetedPolicies.end();
  if (most < budget || !is_budgeted) {
    // From there on they lie above a line through the origin: two points of it make it one of the envelope.
    double per_token = 0;
    for (const StagePrices& stage : stages) {
      per_token += stage.seconds_per_token_beyond(most);
    }
    for (const double units : {static_cast<double>(most + 1), 2.0 * static_cast<double>(most + 1)}) {
      points.push_back({units, per_token * units});
    }
  }
  return points;
}

std::vector<PricePoint> row_points(const StagePrices& last_stage, std::int64_t max_rows) {
  std::vector<PricePoint> points;
  for (std::int64_t rows = 1; rows <= max_rows; ++rows) {
    points.push_back({static_cast<double>(rows), last_stage.row_seconds(rows)});
  }
  return points;
}

}  // namespace

LeastPrice::LeastPrice(std::span<const PricePoint> points) {
  const auto cheaper = [](const PricePoint& a, const PricePoint& b) { return a.seconds < b.seconds; };
  double per_unit = std::numeric_limits<double>::max();
  for (const PricePoint& point : points) {
    per_unit = std::min(per_unit, point.seconds / point.units);
  }
  lines_.push_back({std::min_element(points.begin(), points.end(), cheaper)->seconds, 0});
  const std::vector<PricePoint> hull = lower_hull(points);
  for (std::size_t i = 1; i < hull.size(); ++i) {
    const double slope = (hull[i].seconds - hull[i - 1].seconds) / (hull[i].units - hull[i - 1].units);
    const double intercept = hull[i].seconds - slope * hull[i].units;
    if (slope > 0 && slope < per_unit && intercept > 0) {
      lines_.push_back({intercept, slope});
    }
  }
  lines_.push_back({0, per_unit});
}

double LeastPrice::of(double steps, double units) const {
  double most = 0;
  for (const CostLine& line : lines_) {
    most = std::max(most, line.at(steps, units));
  }
  return most;
}

CostLine LeastPrice::best_line(double steps, double units, double least_per_unit) const {
  CostLine best = lines_.back();
  for (std::size_t i = lines_.size(); i-- > 0;) {
    CostLine line = lines_[i];
    if (line.seconds_per_unit < least_per_unit) {
      if (i + 1 == lines_.size()) {
        break;
      }
      // Between two lines below all prices lie others.
      const CostLine& next = lines_[i + 1];
      const double share =
          (least_per_unit - line.seconds_per_unit) / (next.seconds_per_unit - line.seconds_per_unit);
      line = {line.seconds_per_step + share * (next.seconds_per_step - line.seconds_per_step),
              least_per_unit};
      return line.at(steps, units) > best.at(steps, units) ? line : best;
    }
    if (line.at(steps, units) > best.at(steps, units)) {
      best = line;
    }
  }
  return best;
}

LeastCost least_cost(const PoolDeployment& pool) {
  const CostOptions options = cost_options_of(pool.spec);
  const std::vector<StagePrices> stages = stage_prices(pool, options);
  const std::int64_t max_rows = pool.pricer_limits.max_decode_tokens();
  const std::int64_t padded = GraphSizes(max_rows, options.cuda_graphs).padded(max_rows);
  LeastCost cost;
  cost.tokens = LeastPrice(token_points(pool, stages, padded));
  cost.rows = LeastPrice(row_points(stages.back(), max_rows));
  for (const StagePrices& stage : stages) {
    cost.seconds_per_pair += stage.seconds_per_pair();
    cost.seconds_per_context_token += stage.seconds_per_context_token();
  }
  if (!options.host_overlap) {
    cost.host_seconds_per_step = to_seconds(options.host_fixed);
    cost.host_seconds_per_sequence = to_seconds(options.host_per_sequence);
  }
  cost.window = pool.spec.model.sliding_window;
  return cost;
}

double least_seconds(const LeastCost& cost, const StepShape& shape) {
  double pairs = 0;
  for (const ChunkShape& chunk : shape.chunks) {
    pairs += static_cast<double>(attention_pairs(chunk, cost.window));
  }
  const std::int64_t context = cost.window ? shape.decode_window_context : shape.decode_context;
  const auto sequences = static_cast<double>(shape.decodes) + static_cast<double>(shape.chunks.size());
  return cost.tokens.of(1, static_cast<double>(shape.tokens())) +
         cost.rows.of(shape.sampled_rows > 0 ? 1 : 0, static_cast<double>(shape.sampled_rows)) +
         cost.seconds_per_pair * pairs + cost.seconds_per_context_token * static_cast<double>(context) +
         cost.host_seconds_per_step + cost.host_seconds_per_sequence * sequences;
}

}  // namespace inferometer
