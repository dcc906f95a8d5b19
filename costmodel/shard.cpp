#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "costmodel/operators.hpp"
#include "hardware/profile.hpp"

namespace inferometer {
namespace {

bool can_split(const ModelSpec& model, std::int64_t degree) {
  const bool kv_heads_fit = model.kv_heads % degree == 0 || degree % model.kv_heads == 0;
  return model.heads % degree == 0 && kv_heads_fit;
}

}  // namespace

void throw_cannot_split(const ModelSpec& model, std::int64_t tensor_parallel, std::int64_t most) {
  std::vector<std::string> possible;
  for (std::int64_t candidate = 1; candidate <= most; ++candidate) {
    if (can_split(model, candidate)) {
      possible.push_back(std::to_string(candidate));
    }
  }
  throw ConfigError(Position{}, "tensor_parallel " + std::to_string(tensor_parallel) + " cannot split " +
                                    model.name + " (" + std::to_string(model.heads) + " heads, " +
                                    std::to_string(model.kv_heads) + " KV heads) over the GPUs of " +
                                    (most <= kMaxTensorParallel ? "one node" : "several nodes") +
                                    "; possible: " + join_alternatives(possible));
}

ModelShard shard(const ModelSpec& model, std::int64_t tensor_parallel) {
  const std::int64_t degree = tensor_parallel;
  if (degree < 1 || degree > kLargestTensorGroup || !can_split(model, degree)) {
    throw_cannot_split(model, degree,
                       degree <= kMaxTensorParallel ? kMaxTensorParallel : kLargestTensorGroup);
  }
  return {model.heads / degree, ceil_div(model.kv_heads, degree), ceil_div(model.ffn, degree),
          ceil_div(model.vocab, degree)};
}

}  // namespace inferometer
