#include "costmodel/parallelism.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/error.hpp"
#include "costmodel/operators.hpp"
#include "hardware/profile.hpp"

namespace inferometer {
namespace {

constexpr double kLargestStraggler = 100;  // beyond any GPU that still works; keeps times inside 64 bits
constexpr double kLargestStepTime = 10;

[[noreturn]] void refuse(const std::string& message) {
  throw ConfigError(Position{}, message);
}

void check_link(const std::optional<GpuLink>& link, const char* name) {
  if (!link) {
    return;
  }
  if (!(link->bandwidth.count() > 0 && std::isfinite(link->bandwidth.count()))) {
    refuse(fmt::format("the link {} has no bandwidth", name));
  }
  if (link->latency < Duration()) {
    refuse(fmt::format("the link {} has a negative latency", name));
  }
}

/// Of some layers' numbers those of the `count` from `first` on, counted from there.
std::vector<std::int64_t> layers_within(const std::vector<std::int64_t>& numbers, std::int64_t first,
                                        std::int64_t count) {
  std::vector<std::int64_t> inside;
  for (const std::int64_t number : numbers) {
    if (number >= first && number < first + count) {
      inside.push_back(number - first);
    }
  }
  return inside;
}

}  // namespace

Parallelism in_one_node(std::int64_t tensor) {
  return {.tensor = tensor, .tensor_in_node = tensor, .between_nodes = {}, .in_node = {}};
}

Parallelism over_nodes(std::int64_t tensor) {
  Parallelism parallelism = in_one_node(tensor);
  if (tensor > kMaxTensorParallel) {
    parallelism.tensor_in_node = kMaxTensorParallel;
    while (tensor % parallelism.tensor_in_node != 0) {
      --parallelism.tensor_in_node;
    }
  }
  return parallelism;
}

Duration slowed(Duration duration, double factor) {
  return Duration(static_cast<std::int64_t>(std::ceil(static_cast<double>(duration.count()) * factor)));
}

void check_split(const ModelSpec& model, const Parallelism& parallelism) {
  const std::int64_t in_node = parallelism.tensor_in_node;
  if (!parallelism.spans_nodes() && parallelism.tensor > kMaxTensorParallel) {
    throw_cannot_split(model, parallelism.tensor, kMaxTensorParallel);
  }
  shard(model, parallelism.tensor);
  check_experts(model, parallelism.split());
  const std::int64_t stage = parallelism.tensor * parallelism.attention_data;
  if (stage > kLargestTensorGroup * kMaxTensorParallel) {
    refuse(fmt::format("a stage of {} GPUs: tensor_parallel times attention_data_parallel is at most {}",
                       stage, kLargestTensorGroup * kMaxTensorParallel));
  }
  if (in_node < 1 || in_node > kMaxTensorParallel || parallelism.tensor % in_node != 0) {
    refuse(fmt::format("{} GPUs of a tensor group of {} in one node: not from 1 to {} and a divisor of it",
                       in_node, parallelism.tensor, kMaxTensorParallel));
  }
  if (parallelism.pipeline < 1 || parallelism.pipeline > model.layers) {
    refuse(fmt::format("pipeline_parallel {} cannot spread {} ({} layers)", parallelism.pipeline, model.name,
                       model.layers));
  }
  if (!(parallelism.straggler >= 1 && parallelism.straggler <= kLargestStraggler)) {
    refuse(
        fmt::format("straggler {} is not a factor from 1 to {}", parallelism.straggler, kLargestStraggler));
  }
  if (!(parallelism.step_time >= 1 / kLargestStepTime && parallelism.step_time <= kLargestStepTime)) {
    refuse(fmt::format("step_time {} is not a factor from {} to {}", parallelism.step_time,
                       1 / kLargestStepTime, kLargestStepTime));
  }
}

void check_links(const ModelSpec& model, const Parallelism& parallelism) {
  check_split(model, parallelism);
  const bool spans_nodes =
      parallelism.stage_spans_nodes() || (parallelism.pipeline > 1 && !parallelism.stages_in_node);
  if (spans_nodes && !parallelism.between_nodes) {
    refuse("a replica that spans nodes needs the link between them");
  }
  const std::int64_t ranks_in_node = parallelism.stage_in_node > 0
                                         ? parallelism.stage_in_node
                                         : parallelism.tensor * parallelism.attention_data;
  if (parallelism.attention_data > 1 && ranks_in_node > kMaxTensorParallel) {
    refuse(fmt::format("{} GPUs of a stage in one node; collectives are known for at most {}", ranks_in_node,
                       kMaxTensorParallel));
  }
  check_link(parallelism.in_node, "in a node");
  check_link(parallelism.between_nodes, "between nodes");
}

std::vector<std::int64_t> stage_layers(std::int64_t layers, std::int64_t stages) {
  INFEROMETER_CHECK(stages >= 1 && stages <= layers, "every stage has a layer");
  std::vector<std::int64_t> list(static_cast<std::size_t>(stages), layers / stages);
  for (std::int64_t remaining = layers % stages; remaining > 0; --remaining) {
    ++list[static_cast<std::size_t>(stages - 1 - remaining)];
  }
  return list;
}

std::vector<ModelSpec> stages_of(const ModelSpec& model, std::int64_t stages) {
  std::vector<ModelSpec> list;
  std::int64_t first = 0;
  for (const std::int64_t layers : stage_layers(model.layers, stages)) {
    ModelSpec& stage = list.emplace_back(model);
    stage.layers = layers;
    stage.full_layers = layers_within(model.full_layers, first, layers);
    if (stage.moe) {
      stage.moe->dense_layers = layers_within(model.moe->dense_layers, first, layers);
    }
    first += layers;
    stage.has_embedding = false;
    stage.has_head = false;
  }
  list.front().has_embedding = model.has_embedding;
  list.back().has_head = model.has_head;
  return list;
}

}  // namespace inferometer
