#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/attention_prices.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/tabled_pricer.hpp"

namespace inferometer {
namespace {

class RooflinePrices {
 public:
  RooflinePrices(const ModelSpec& model, std::int64_t tensor_parallel, const Roofline& roofline)
      : model_(model),
        tensor_parallel_(tensor_parallel),
        roofline_(roofline),
        decode_attention_(model, tensor_parallel, roofline),
        prefill_attention_(model, tensor_parallel, roofline) {}

  [[nodiscard]] OperatorCosts token_costs(std::int64_t tokens) const {
    return costs_of(token_operators(model_, tensor_parallel_, tokens));
  }
  [[nodiscard]] OperatorCosts row_costs(std::int64_t rows) const {
    return costs_of(row_operators(model_, tensor_parallel_, rows));
  }
  void add_decodes(const StepShape& shape, StepCost& cost) const { decode_attention_.add(shape, cost); }
  void add_decode_growth(std::int64_t decodes, std::int64_t context, std::int64_t growth,
                         StepLine& line) const {
    decode_attention_.add_growth(decodes, context, growth, line);
  }
  std::int64_t add_chunks(std::span<const ChunkShape> chunks, StepCost& cost, StepLine* line) const {
    if (line != nullptr) {
      prefill_attention_.add_growth(chunks, *line);
    }
    return prefill_attention_.add(chunks, cost);
  }

 private:
  [[nodiscard]] OperatorCosts costs_of(std::span<const Operator> operators) const {
    OperatorCosts costs;
    for (const Operator& part : operators) {
      costs.add(part.name, roofline_.time(part), part.repeats, roofline_.is_extrapolated(part));
    }
    return costs;
  }

  ModelSpec model_;
  std::int64_t tensor_parallel_;
  Roofline roofline_;
  DecodeAttentionPrice decode_attention_;
  PrefillAttentionPrice prefill_attention_;
};

}  // namespace

std::unique_ptr<StepPricer> make_roofline_pricer(const ModelSpec& model, const GpuSpec& gpu,
                                                 const Profile& profile, const Parallelism& parallelism,
                                                 const CostOptions& options, const PricerLimits& limits) {
  check_links(model, parallelism);  // before anything is built on it
  const CostLevel level = options.level == CostLevel::datasheet ? CostLevel::datasheet : CostLevel::roofline;
  const Roofline roofline(gpu, overridden(profile, options), level, parallelism);
  CostBasis basis;
  basis.level = level;
  std::vector<Operator> operators = token_operators(model, parallelism.tensor, 1);
  const std::vector<Operator> rows = row_operators(model, parallelism.tensor, 1);
  operators.insert(operators.end(), rows.begin(), rows.end());
  add_link_note(roofline, operators, basis);
  return std::make_unique<TabledPricer<RooflinePrices>>(RooflinePrices(model, parallelism.tensor, roofline),
                                                        std::move(basis), with_host_of(model, options),
                                                        limits);
}

}  // namespace inferometer
