#pragma once

// What latent attention (latent_attention.hpp) adds to the price of a step beside attention itself: keys and
// values of all heads for the tokens that chunks attend, and the products that take decodes into the
// compressed space and back. In whole picoseconds of the whole model. Who uses it: the step pricers.

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/attention_prices.hpp"
#include "costmodel/attention_terms.hpp"
#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/roofline.hpp"

namespace inferometer {

/// The up-projection by the roofline: start-up plus the higher of two straight lines in the rows.
class UpProjectionPrice {
 public:
  UpProjectionPrice(const ModelSpec& model, std::int64_t tensor_parallel, const Roofline& roofline);

  void add(std::int64_t rows, StepCost& cost) const;
  /// Adds what each step costs more than the one before when rows grow by so much, and cuts the line where
  /// the other roof takes over.
  void add_growth(std::int64_t rows, std::int64_t row_growth, StepLine& line) const;

 private:
  Duration start_up_;
  RoofLines roofs_;
};

/// The same from measured products: straight in the rows between the knots of knots.hpp, never falling.
class CalibratedUpProjection {
 public:
  /// `one_layer`: the product at any number of rows; its fit must be known. `kernels` is needed here only.
  CalibratedUpProjection(const CalibratedKernels& kernels, const Operator& one_layer);

  void add(std::int64_t rows, StepCost& cost) const;
  void add_growth(std::int64_t rows, std::int64_t row_growth, StepLine& line) const;

 private:
  struct Knot {
    std::int64_t rows = 0;
    std::int64_t time_ps = 0;
    std::int64_t start_up_ps = 0;  // the part of it that is start-up, until the next knot
    std::int64_t slope_ps = 0;     // for each row
    bool is_compute_bound = false;
    bool is_extrapolated = false;
  };
  std::vector<Knot> knots_;
};

/// `Price`: one of the two.
template <class Price>
class UpProjectionTerm final : public AttentionTerm {
 public:
  UpProjectionTerm(std::string_view name, Price price) : AttentionTerm(name), price_(std::move(price)) {}

  void add(const StepShape& shape, StepCost& cost, const ContextTokens& /*growth*/,
           StepLine* line) const override {
    if (shape.chunks.empty()) {
      return;
    }
    const std::int64_t rows = attention_keys(shape.chunks, std::nullopt);
    price_.add(rows, cost);
    if (line != nullptr) {
      price_.add_growth(rows, shape.chunk_tokens(), *line);
    }
  }

 private:
  Price price_;
};

/// Both absorptions, by the roofline of matrix products: batched ones are not in the tables. Steps of up to
/// `max_decodes` are tabulated.
class AbsorptionTerm final : public AttentionTerm {
 public:
  AbsorptionTerm(const ModelSpec& model, std::int64_t tensor_parallel, const Roofline& roofline,
                 std::int64_t max_decodes);

  void add(const StepShape& shape, StepCost& cost, const ContextTokens& growth,
           StepLine* line) const override;

 private:
  [[nodiscard]] StepCost cost_of(std::int64_t decodes) const;

  ModelSpec model_;
  std::int64_t tensor_parallel_;
  Roofline roofline_;
  std::vector<StepCost> by_decodes_;
};

}  // namespace inferometer
