#pragma once

// How one replica is spread over GPUs. Who uses it: the cost model, which prices what the GPUs send to each
// other; the memory footprint; scenarios, which place replicas on nodes.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/model_split.hpp"

namespace inferometer {

/// A path between two GPUs that a collective's neighbours, or two stages of a pipeline, talk over. Prices
/// take both figures as they are, at every level: what a link does not reach of its nominal rate is taken off
/// by whoever describes it.
struct GpuLink {
  BytesPerSecond bandwidth;  ///< of one GPU, in one direction; > 0
  Duration latency{};        ///< of one message; >= 0

  friend bool operator==(const GpuLink&, const GpuLink&) = default;
};

/// Ranks of a tensor group stand side by side in a node as far as they fit; stages of a pipeline follow each
/// other.
struct Parallelism {
  std::int64_t tensor = 1;    ///< GPUs over which every layer is split
  std::int64_t pipeline = 1;  ///< stages over which the layers are spread
  /// Of a mixture of experts (costmodel/model_split.hpp): ranks of attention, each a tensor group of its own,
  /// and groups of the stage's GPUs that hold different experts.
  std::int64_t attention_data = 1;
  std::int64_t expert = 1;
  /// Of a tensor group, GPUs in one node: at most 8, a divisor of `tensor`. A group larger than that spans
  /// nodes and its collectives cross `between_nodes`.
  std::int64_t tensor_in_node = 1;
  /// Of a stage with several ranks of attention, GPUs in one node; 0: all of them.
  std::int64_t stage_in_node = 0;
  std::optional<GpuLink> between_nodes;  ///< required when a tensor group or a pipeline spans nodes
  /// GPU pairs of a node share this instead of NVLink or PCIe as the GPU's description has it; absent: as
  /// described.
  std::optional<GpuLink> in_node;
  bool stages_in_node = true;  ///< neighbouring stages of the pipeline share a node
  /// The slowest GPU of a replica takes so many times as long as the mean one, and all wait for it: every
  /// part of a step's GPU time is multiplied by it before it is rounded. 1 to 100.
  double straggler = 1;
  /// Everything in a step takes so many times as long, host time included: for runs that ask what prices a
  /// little off would change. Multiplied like `straggler`, so that prices lie on lines as they always do.
  /// 0.1 to 10.
  double step_time = 1;

  [[nodiscard]] ModelSplit split() const { return {tensor, attention_data, expert}; }
  [[nodiscard]] std::int64_t gpus() const { return tensor * attention_data * pipeline; }
  /// By what the GPU time of a step is multiplied.
  [[nodiscard]] double slowness() const { return straggler * step_time; }
  [[nodiscard]] bool spans_nodes() const { return tensor_in_node < tensor; }
  /// Whether the ranks of a stage stand on several nodes.
  [[nodiscard]] bool stage_spans_nodes() const {
    return spans_nodes() || (stage_in_node > 0 && stage_in_node < tensor * attention_data);
  }
  friend bool operator==(const Parallelism&, const Parallelism&) = default;
};

/// A tensor group within one node, over the links that the GPU's description has, and no pipeline.
Parallelism in_one_node(std::int64_t tensor);

/// The same over as few nodes as it takes when at most 8 GPUs, as many in each, stand in one; their link is
/// not set.
Parallelism over_nodes(std::int64_t tensor);

/// So many times as long, rounded up to a picosecond.
Duration slowed(Duration duration, double factor);

/// Throws ConfigError when a model cannot be split so: as shard() does, and for a tensor group of more than
/// the 8 GPUs in one node that collectives are known for, one that does not fill its nodes evenly, fewer
/// layers than stages, figures out of range; of experts as check_experts() does.
void check_split(const ModelSpec& model, const Parallelism& parallelism);

/// That, and that the links are there which the GPUs talk over.
void check_links(const ModelSpec& model, const Parallelism& parallelism);

/// Layers of each stage: as many to each, and of those that remain one more to each from the last but one
/// backwards, since the last also has the head (vLLM, distributed/utils.py, get_pp_indices).
/// Precondition: 1 <= stages <= layers.
std::vector<std::int64_t> stage_layers(std::int64_t layers, std::int64_t stages);

/// The model by stages: its layers by stage_layers(), the embedding in the first, final norm, lm_head and
/// sampling in the last. Tied tables are held twice when they are in two stages (vLLM, models/llama.py).
/// Precondition: 1 <= stages <= layers.
std::vector<ModelSpec> stages_of(const ModelSpec& model, std::int64_t stages);

}  // namespace inferometer
