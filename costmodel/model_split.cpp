#include "costmodel/model_split.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw ConfigError(Position{}, message);
}

/// The degrees that are possible, in words.
std::string possible(const MixtureOfExperts& moe, const ModelSplit& split) {
  std::vector<std::string> degrees;
  for (std::int64_t degree = 1; degree <= split.gpus(); ++degree) {
    const bool is_allowed = split.attention_data == 1 || degree == 1 || degree == split.gpus();
    if (is_allowed && split.gpus() % degree == 0 && moe.experts % degree == 0) {
      degrees.push_back(std::to_string(degree));
    }
  }
  return join_alternatives(degrees);
}

}  // namespace

void check_experts(const ModelSpec& model, const ModelSplit& split) {
  if (!model.moe) {
    if (split.expert != 1) {
      refuse(fmt::format("expert_parallel {} goes with a mixture of experts; {} is a dense model",
                         split.expert, model.name));
    }
    if (split.attention_data != 1) {
      refuse(fmt::format(
          "attention_data_parallel {} goes with a mixture of experts; of {}, a dense model, every rank would "
          "be a replica of its own",
          split.attention_data, model.name));
    }
    return;
  }
  if (split.attention_data < 1 || split.attention_data > kMostAttentionRanks) {
    refuse(fmt::format("attention_data_parallel {} is not from 1 to {}", split.attention_data,
                       kMostAttentionRanks));
  }
  const MixtureOfExperts& moe = *model.moe;
  const std::string allowed = "; possible: " + possible(moe, split);
  if (split.expert < 1 || split.gpus() % split.expert != 0) {
    refuse(fmt::format("expert_parallel {} does not divide the {} GPUs of a replica's stage{}", split.expert,
                       split.gpus(), allowed));
  }
  if (moe.experts % split.expert != 0) {
    refuse(fmt::format("expert_parallel {} does not divide the {} experts of {}{}", split.expert, moe.experts,
                       model.name, allowed));
  }
  if (split.attention_data > 1 && split.expert != 1 && split.expert != split.gpus()) {
    refuse(fmt::format(
        "expert_parallel {} with attention_data_parallel {}: experts are split over all GPUs of the stage or "
        "dealt out to all{}",
        split.expert, split.attention_data, allowed));
  }
}

}  // namespace inferometer
