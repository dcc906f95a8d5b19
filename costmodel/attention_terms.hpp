#pragma once

// What attention adds to the price of a step, one kind of layers and one kind of work after the other, for
// the pricers of all levels. Who uses it: the tabled pricer, with the prices of attention_prices.hpp,
// calibrated_decode.hpp, calibrated_prefill.hpp and latent_prices.hpp.

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/operators.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {

class AttentionTerm {
 public:
  explicit AttentionTerm(std::string_view name) : name_(name) {}
  virtual ~AttentionTerm() = default;

  /// "decode attention"
  [[nodiscard]] std::string_view name() const { return name_; }

  /// Adds the term's price, nothing where the step has no such work. With a `line`, also what each step costs
  /// more than the one before when contexts grow by `growth` and every chunk finds the last one's tokens in
  /// its past; cuts the line where that changes. O(chunks).
  virtual void add(const StepShape& shape, StepCost& cost, const ContextTokens& growth,
                   StepLine* line) const = 0;

 private:
  std::string_view name_;
};

using AttentionTerms = std::vector<std::unique_ptr<const AttentionTerm>>;

/// `Price` has add(DecodeShape, beside_prefill, cost) and add_growth(decodes, context, growth, line).
template <class Price>
class DecodeTerm final : public AttentionTerm {
 public:
  DecodeTerm(const AttentionPart& part, Price price)
      : AttentionTerm(part.decode_name), is_windowed_(part.is_windowed()), price_(std::move(price)) {}

  void add(const StepShape& shape, StepCost& cost, const ContextTokens& growth,
           StepLine* line) const override {
    if (shape.decodes == 0) {
      return;
    }
    const DecodeShape decodes = is_windowed_ ? shape.windowed_decodes() : shape.full_decodes();
    price_.add(decodes, !shape.chunks.empty(), cost);
    if (line != nullptr) {
      price_.add_growth(decodes.sequences, decodes.context, is_windowed_ ? growth.windowed : growth.full,
                        *line);
    }
  }

 private:
  bool is_windowed_;
  Price price_;
};

/// `Price` has add(chunks, cost, line).
template <class Price>
class PrefillTerm final : public AttentionTerm {
 public:
  PrefillTerm(const AttentionPart& part, Price price)
      : AttentionTerm(part.prefill_name), price_(std::move(price)) {}

  void add(const StepShape& shape, StepCost& cost, const ContextTokens& /*growth*/,
           StepLine* line) const override {
    if (!shape.chunks.empty()) {
      price_.add(shape.chunks, cost, line);
    }
  }

 private:
  Price price_;
};

}  // namespace inferometer
