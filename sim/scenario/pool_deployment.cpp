#include "sim/scenario/pool_deployment.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/pipeline.hpp"
#include "hardware/profile.hpp"
#include "sim/scenario/kv_offload.hpp"
#include "sim/scenario/kv_swap.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {
namespace {

/// "tensor_parallel: 2" or, when the stages are what differs, both degrees.
std::string degrees_in_words(const Parallelism& parallelism) {
  const std::string tensor = "tensor_parallel: " + std::to_string(parallelism.tensor);
  return parallelism.pipeline == 1
             ? tensor
             : tensor + " with pipeline_parallel: " + std::to_string(parallelism.pipeline);
}

/// A model that cannot be split so is reported at the key that says how.
MemoryFootprint footprint_of(const PoolSpec& pool, const Parallelism& parallelism,
                             const MemorySettings& settings) {
  try {
    check_experts(pool.model, parallelism.split());
  } catch (const ConfigError& error) {
    const bool is_of_attention = !pool.model.moe && pool.expert_parallel == 1;
    throw ConfigError(is_of_attention ? pool.attention_at : pool.expert_at,
                      error.diagnostics().front().message);
  }
  try {
    return memory_footprint(pool.model, pool.gpu, parallelism, settings);
  } catch (const ConfigError& error) {
    const bool is_of_stages = parallelism.pipeline > pool.model.layers;
    throw ConfigError(is_of_stages ? pool.pipeline_at : pool.tensor_at, error.diagnostics().front().message);
  }
}

/// Replicas of up to so many GPUs are looked at for one that would fit.
constexpr std::int64_t kMostGpusProposed = 64;

[[noreturn]] void throw_does_not_fit(const PoolSpec& pool, const MemoryFootprint& memory,
                                     const MemorySettings& settings) {
  const std::int64_t gpus = pool.gpus_per_replica();
  const bool drafts = memory.drafter_weights > Bytes(0);
  std::string message = pool.model.name + (drafts ? " with " + settings.drafter->name + " to draft" : "") +
                        " does not fit on " + std::to_string(gpus) + " x " + pool.gpu.name +
                        ": each GPU needs " + gigabytes(memory.weights) + " for weights, " +
                        (drafts ? gigabytes(memory.drafter_weights) + " for those of the drafter, " : "") +
                        gigabytes(memory.activations) + " for activations and " + gigabytes(memory.other) +
                        " for the rest, but the engine may use " + gigabytes(memory.budget) + ": " +
                        gigabytes(memory.shortfall()) + " too little";
  const auto in_node = smallest_fitting_tensor_parallel(pool.model, pool.gpu, settings);
  const auto larger = in_node
                          ? std::nullopt
                          : smallest_fitting_parallelism(pool.model, pool.gpu, kMostGpusProposed, settings);
  message += in_node ? "; tensor_parallel: " + std::to_string(*in_node) + " would fit"
             : larger
                 ? "; no tensor_parallel within one node would fit, " + degrees_in_words(*larger) + " would"
                 : "; no tensor_parallel within one node would fit";
  if (drafts) {
    MemorySettings alone = settings;
    alone.drafter.reset();
    const bool fits_alone =
        smallest_fitting_tensor_parallel(pool.model, pool.gpu, alone).value_or(gpus + 1) <= gpus;
    message += fits_alone ? "; without the drafter it fits" : "";
  }
  throw ConfigError(drafts ? pool.speculation->at : pool.gpu_at, message);
}

std::int64_t usable_blocks(const PoolSpec& pool, const PolicyEntry& policy, const MemorySettings& settings,
                           const MemoryFootprint& memory) {
  const Values& engine = pool.engine;
  if (!engine.has("num_gpu_blocks") && !memory.fits()) {
    throw_does_not_fit(pool, memory, settings);
  }
  const std::int64_t blocks =
      (engine.has("num_gpu_blocks") ? engine.count("num_gpu_blocks") : memory.blocks.count()) -
      policy.withheld_blocks;
  if (blocks < 1) {
    throw ConfigError(engine.where("num_gpu_blocks"),
                      "engine.num_gpu_blocks leaves no usable block (policy " + policy.name + " keeps " +
                          std::to_string(policy.withheld_blocks) + " for itself)");
  }
  return blocks;
}

/// Cuts max_model_len to what the KV cache holds; a length the user asked for is not cut but refused.
std::int64_t fitting_model_len(const PoolSpec& pool, std::int64_t wanted, std::int64_t room,
                               std::vector<std::string>& notes) {
  const Values& engine = pool.engine;
  if (wanted <= room) {
    if (wanted > pool.model.max_positions) {
      notes.push_back("max_model_len " + std::to_string(wanted) + " is longer than the model was made for (" +
                      std::to_string(pool.model.max_positions) + ")");
    }
    return wanted;
  }
  if (engine.has("max_model_len")) {
    throw ConfigError(engine.where("max_model_len"), "engine.max_model_len is " + std::to_string(wanted) +
                                                         " tokens, but the KV cache holds one sequence of " +
                                                         std::to_string(room) + " at most");
  }
  if (room < 2) {
    throw ConfigError(engine.where(),
                      "the KV cache holds " + std::to_string(room) +
                          " tokens of one sequence; at least a prompt token and an output token "
                          "must fit");
  }
  notes.push_back("max_model_len is cut from " + std::to_string(wanted) + " to the " + std::to_string(room) +
                  " tokens that the KV cache holds");
  return room;
}

/// What makes prices less sure: a level that is not there, kernels that were not measured.
void add_cost_notes(const GpuSpec& gpu, const CostOptions& cost, const CostBasis& basis,
                    std::vector<std::string>& notes) {
  if (cost.level == CostLevel::calibrated && basis.level != CostLevel::calibrated) {
    notes.push_back("no " + cost.kernels + " kernels were measured on " + gpu.name +
                    ": steps are priced at level roofline");
  }
  notes.insert(notes.end(), basis.notes.begin(), basis.notes.end());
}

/// Figures borrowed from another GPU make a result less sure: say so.
void add_profile_note(const GpuSpec& gpu, const CostBasis& basis, std::vector<std::string>& notes) {
  if (basis.level != CostLevel::roofline) {
    return;
  }
  const Profile profile = load_profile(gpu.name);
  if (!profile.assumed_sections.empty()) {
    notes.push_back("not measured on " + gpu.name + " but assumed: the efficiencies of " +
                    join_alternatives(profile.assumed_sections, "and") + " (profile " + profile.gpu + ")");
  }
}

void add_speculation_notes(const PoolSpec& pool, const CostBasis& basis, std::vector<std::string>& notes) {
  if (!pool.speculation) {
    return;
  }
  if (basis.level == CostLevel::calibrated) {
    notes.emplace_back(
        "attention over drafted tokens was not measured: it is priced as that over one token a sequence, "
        "whose KV is read once for all of them, unless the roofline's arithmetic takes longer");
  }
  const std::optional<ModelSpec>& drafter = pool.speculation->drafter.pass;
  if (drafter && drafter->max_positions < pool.model.max_positions) {
    notes.push_back(drafter->name + " was made for " + std::to_string(drafter->max_positions) +
                    " tokens: beyond them it is taken to draft as well");
  }
}

/// Degrees of parallelism that no links are known for are reported where they are asked for.
StagePricers stage_pricers(const PoolSpec& pool, const Parallelism& parallelism, const CostOptions& cost,
                           const PricerLimits& limits) {
  check_split(pool.model, parallelism);
  StagePricers pricers = make_stage_pricers(pool.model, pool.gpu, parallelism, cost, limits);
  if (pool.speculation) {
    pricers.front() = make_speculative_pricer(pricers.front(), pool.speculation->drafter, pool.gpu,
                                              parallelism, cost, limits);
  }
  return pricers;
}

}  // namespace

CostBasis PoolDeployment::cost_basis() const {
  return basis_of_stages(pricers);
}

double PoolDeployment::prefill_tokens_per_second() const {
  const std::int64_t tokens = std::min(pricer_limits.max_tokens, limits.max_model_len);
  const std::vector<ChunkShape> chunk = {{tokens, 0}};
  // A full pipeline ends a step each time its slowest stage has done one.
  Duration longest{};
  for (const std::shared_ptr<const StepPricer>& pricer : pricers) {
    longest = std::max(longest, pricer->price({0, 0, 1, chunk}).total());
  }
  return static_cast<double>(tokens) / to_seconds(longest);
}

const PolicyEntry& policy_of(const PoolSpec& pool) {
  const PolicyEntry* policy = policy_registry().find(pool.engine.text("policy"));
  INFEROMETER_CHECK(policy != nullptr, "the engine table only takes registered policies");
  return *policy;
}

PoolDeployment make_pool_deployment(const PoolSpec& pool, const Parallelism& parallelism,
                                    std::vector<std::string>& notes, const PoolDeployment* sibling) {
  const PolicyEntry& policy = policy_of(pool);
  const Values& engine = pool.engine;
  const std::int64_t wanted_len =
      engine.has("max_model_len") ? engine.count("max_model_len") : pool.model.max_positions;
  const std::int64_t step_tokens = policy.step_tokens(engine, wanted_len);
  const MemorySettings settings{.max_num_batched_tokens = step_tokens,
                                .max_num_seqs = engine.count("max_num_seqs"),
                                .gpu_memory_utilization = engine.number("gpu_memory_utilization"),
                                .kv_memory = kv_memory(engine.text("kv_memory")),
                                .block_size = engine.count("block_size"),
                                .drafter = pool.speculation ? pool.speculation->drafter.held : std::nullopt};
  PoolDeployment deployment;
  deployment.spec = pool;
  deployment.parallelism = parallelism;
  deployment.memory = footprint_of(pool, parallelism, settings);
  const std::int64_t blocks = usable_blocks(pool, policy, settings, deployment.memory);
  const std::int64_t watermark = policy.watermark_blocks ? policy.watermark_blocks(engine, blocks) : 0;
  // A sequence has its blocks on one rank of attention.
  const std::int64_t room = (blocks - watermark) / pool.attention_data_parallel * settings.block_size;
  const std::int64_t max_model_len = fitting_model_len(pool, wanted_len, room, notes);

  const CostOptions cost = cost_options_of(pool);
  deployment.limits = {.max_num_seqs = settings.max_num_seqs,
                       .max_model_len = max_model_len,
                       .block_size = settings.block_size,
                       .total_blocks = blocks};
  deployment.replica.block_size = settings.block_size;
  deployment.replica.blocks = BlockCount(blocks);
  deployment.replica.max_model_len = max_model_len;
  deployment.replica.max_num_seqs = settings.max_num_seqs;
  deployment.replica.caches_prefixes = policy.caches_prefixes && policy.caches_prefixes(engine);
  deployment.replica.plans_ahead = engine.flag("async_scheduling") && pool.pipeline_parallel == 1;
  deployment.replica.offload = kv_offload_of(pool, deployment.memory);
  deployment.replica.swap = kv_swap_of(pool, deployment.memory);
  deployment.replica.step_tokens = step_tokens;
  deployment.replica.attention_window = pool.model.sliding_window;
  deployment.pricer_limits = {.max_tokens = step_tokens,
                              .max_rows = settings.max_num_seqs,
                              .max_context = max_model_len,
                              .max_queries = pool.speculation ? pool.speculation->rule.tokens + 1 : 1};
  if (pool.speculation) {
    deployment.replica.speculation = pool.speculation->rule;
  }
  deployment.pricers = sibling != nullptr && sibling->parallelism == parallelism
                           ? sibling->pricers
                           : stage_pricers(pool, parallelism, cost, deployment.pricer_limits);
  const CostBasis basis = deployment.cost_basis();
  if (engine.flag("async_scheduling") && pool.pipeline_parallel > 1) {
    notes.emplace_back(
        "async_scheduling of a pipeline hides host time; that its requests join a step later is not "
        "simulated");
  }
  add_cost_notes(pool.gpu, cost, basis, notes);
  add_speculation_notes(pool, basis, notes);
  add_profile_note(pool.gpu, basis, notes);
  return deployment;
}

// The engine's limit of sequences holds for the whole replica; its token budget holds for each step, which is
// one micro-batch's (vLLM, v1/core/sched/scheduler.py).
void add_lanes(const PoolDeployment& pool, std::int32_t index, SimulationObserver& observer,
               std::vector<Replica>& lanes) {
  const PolicyEntry& policy = policy_of(pool.spec);
  ReplicaConfig config = pool.replica;
  config.index = index;
  const auto stages = static_cast<std::int64_t>(pool.pricers.size());
  if (stages == 1) {
    lanes.emplace_back(config, policy.make(pool.spec.engine, pool.limits), pool.pricers.front(), observer);
    return;
  }
  EngineLimits limits = pool.limits;
  limits.max_num_seqs = ceil_div(limits.max_num_seqs, stages);
  config.max_num_seqs = limits.max_num_seqs;
  const auto store =
      std::make_shared<SequenceStore>(config.blocks, config.block_size, config.caches_prefixes);
  const auto pipeline = std::make_shared<Pipeline>(pool.pricers);
  for (config.lane = 0; config.lane < stages; ++config.lane) {
    lanes.emplace_back(config, policy.make(pool.spec.engine, limits), store, pipeline, observer);
  }
}

}  // namespace inferometer
