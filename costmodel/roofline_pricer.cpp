#include <cstdint>
#include <memory>
#include <span>

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

  [[nodiscard]] StepCost token_cost(std::int64_t tokens) const {
    return sum_of(token_operators(model_, tensor_parallel_, tokens));
  }
  [[nodiscard]] StepCost row_cost(std::int64_t rows) const {
    return sum_of(row_operators(model_, tensor_parallel_, rows));
  }
  void add_decodes(std::int64_t decodes, std::int64_t context, bool beside_prefill, StepCost& cost) const {
    decode_attention_.add(decodes, context, beside_prefill, cost);
  }
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
  [[nodiscard]] StepCost sum_of(std::span<const Operator> operators) const {
    StepSum sum;
    for (const Operator& part : operators) {
      sum.add(roofline_.time(part), part.repeats, false);
    }
    return sum.cost();
  }

  ModelSpec model_;
  std::int64_t tensor_parallel_;
  Roofline roofline_;
  DecodeAttentionPrice decode_attention_;
  PrefillAttentionPrice prefill_attention_;
};

}  // namespace

std::unique_ptr<StepPricer> make_roofline_pricer(const ModelSpec& model, const GpuSpec& gpu,
                                                 const Profile& profile, std::int64_t tensor_parallel,
                                                 const CostOptions& options, const PricerLimits& limits) {
  shard(model, tensor_parallel);  // refuses what cannot be split before anything is built on it
  const CostLevel level = options.level == CostLevel::datasheet ? CostLevel::datasheet : CostLevel::roofline;
  const Roofline roofline(gpu, overridden(profile, options), level, tensor_parallel);
  CostBasis basis;
  basis.level = level;
  return std::make_unique<TabledPricer<RooflinePrices>>(RooflinePrices(model, tensor_parallel, roofline),
                                                        std::move(basis), options, limits);
}

}  // namespace inferometer
