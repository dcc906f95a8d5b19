#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/attention_prices.hpp"
#include "costmodel/attention_terms.hpp"
#include "costmodel/latent_attention.hpp"
#include "costmodel/latent_prices.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/tabled_pricer.hpp"

namespace inferometer {
namespace {

class RooflinePrices {
 public:
  RooflinePrices(const ModelSpec& model, const ModelSplit& split, const Roofline& roofline,
                 const PricerLimits& limits)
      : model_(model), split_(split), roofline_(roofline) {
    const std::int64_t tensor_parallel = split.tensor;
    if (model.latent) {
      attention_.push_back(std::make_unique<UpProjectionTerm<UpProjectionPrice>>(
          kUpProjection, UpProjectionPrice(model, tensor_parallel, roofline)));
      attention_.push_back(
          std::make_unique<AbsorptionTerm>(model, tensor_parallel, roofline, limits.max_decode_tokens()));
    }
    for (const AttentionPart& part : attention_parts(model)) {
      attention_.push_back(std::make_unique<PrefillTerm<PrefillAttentionPrice>>(
          part, PrefillAttentionPrice(part.layers, tensor_parallel, roofline)));
      attention_.push_back(std::make_unique<DecodeTerm<DecodeAttentionPrice>>(
          part, DecodeAttentionPrice(part.layers, tensor_parallel, roofline)));
    }
  }

  [[nodiscard]] OperatorCosts token_costs(std::int64_t tokens) const {
    return costs_of(token_operators(model_, split_, tokens));
  }
  [[nodiscard]] OperatorCosts row_costs(std::int64_t rows) const {
    return costs_of(row_operators(model_, split_, rows));
  }
  [[nodiscard]] const AttentionTerms& attention() const { return attention_; }

 private:
  [[nodiscard]] OperatorCosts costs_of(std::span<const Operator> operators) const {
    OperatorCosts costs;
    for (const Operator& part : operators) {
      costs.add(part.name, roofline_.time(part), part.repeats, roofline_.is_extrapolated(part));
    }
    return costs;
  }

  ModelSpec model_;
  ModelSplit split_;
  Roofline roofline_;
  AttentionTerms attention_;
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
  std::vector<Operator> operators = token_operators(model, parallelism.split(), 1);
  const std::vector<Operator> rows = row_operators(model, parallelism.split(), 1);
  operators.insert(operators.end(), rows.begin(), rows.end());
  add_link_note(roofline, operators, basis);
  return std::make_unique<TabledPricer<RooflinePrices>>(
      RooflinePrices(model, parallelism.split(), roofline, limits), std::move(basis),
      with_host_of(model, options, parallelism.step_time), limits, parallelism.attention_data);
}

}  // namespace inferometer
