#pragma once

// What a rank of attention does in a step when sequences are spread over several (ModelSplit::
// attention_data). Who uses it: the step pricer and the list of a step's operators.

#include <cstdint>
#include <vector>

#include "costmodel/step_shape.hpp"

namespace inferometer {

/// The share of the fullest rank when decodes are spread evenly over the ranks, of equal context each, and
/// the tokens of every chunk as well: of d decodes ceil(d / ranks), of the context as much as they have, of a
/// chunk of q tokens ceil(q / ranks), over a past that gives them as many keys on average as the chunk has.
/// With one rank it is the step itself.
class AttentionRank {
 public:
  AttentionRank(const StepShape& step, std::int64_t ranks);
  AttentionRank(const AttentionRank&) = delete;
  AttentionRank& operator=(const AttentionRank&) = delete;

  [[nodiscard]] const StepShape& shape() const { return shape_; }

  /// How its contexts grow while those of the step do. Precondition: is_straight().
  [[nodiscard]] ContextTokens growth(const ContextTokens& of_step) const;
  /// Whether steps that each add so much to the contexts are also straight for a rank: not with chunks, whose
  /// past grows by more than the rank computes, nor for parts of tokens.
  [[nodiscard]] bool is_straight(const ContextTokens& of_step) const;

 private:
  std::int64_t ranks_;
  std::int64_t all_decodes_;
  std::vector<ChunkShape> chunks_;
  StepShape shape_;
};

}  // namespace inferometer
