#include "sim/scenario/deployment.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "costmodel/cost_options.hpp"
#include "hardware/profile.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

const PolicyEntry& policy_of(const Scenario& scenario) {
  const PolicyEntry* policy = policy_registry().find(scenario.engine().text("policy"));
  INFEROMETER_CHECK(policy != nullptr, "the engine table only takes registered policies");
  return *policy;
}

/// A model that cannot be split so is reported at the key that says how.
MemoryFootprint footprint_of(const Scenario& scenario, const MemorySettings& settings) {
  try {
    return memory_footprint(scenario.model, scenario.gpu, in_one_node(scenario.tensor_parallel()), settings);
  } catch (const ConfigError& error) {
    throw ConfigError(scenario.hardware().where("tensor_parallel"), error.diagnostics().front().message);
  }
}

[[noreturn]] void throw_does_not_fit(const Scenario& scenario, const MemoryFootprint& memory,
                                     const MemorySettings& settings) {
  std::string message = scenario.model.name + " does not fit on " + std::to_string(memory.tensor_parallel) +
                        " x " + scenario.gpu.name + ": each GPU needs " + gigabytes(memory.weights) +
                        " for weights, " + gigabytes(memory.activations) + " for activations and " +
                        gigabytes(memory.other) + " for the rest, but the engine may use " +
                        gigabytes(memory.budget) + ": " + gigabytes(memory.shortfall()) + " too little";
  const auto enough = smallest_fitting_tensor_parallel(scenario.model, scenario.gpu, settings);
  message += enough ? "; tensor_parallel: " + std::to_string(*enough) + " would fit"
                    : "; no tensor_parallel within one node would fit";
  throw ConfigError(scenario.hardware().where("gpu"), message);
}

std::int64_t usable_blocks(const Scenario& scenario, const PolicyEntry& policy,
                           const MemorySettings& settings, const MemoryFootprint& memory) {
  const Values& engine = scenario.engine();
  if (!engine.has("num_gpu_blocks") && !memory.fits()) {
    throw_does_not_fit(scenario, memory, settings);
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
std::int64_t fitting_model_len(const Scenario& scenario, std::int64_t wanted, std::int64_t room,
                               std::vector<std::string>& notes) {
  const Values& engine = scenario.engine();
  if (wanted <= room) {
    if (wanted > scenario.model.max_positions) {
      notes.push_back("max_model_len " + std::to_string(wanted) + " is longer than the model was made for (" +
                      std::to_string(scenario.model.max_positions) + ")");
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

/// Intervals come from the errors of measured kernels alone.
void add_uncertainty_note(const Scenario& scenario, const CostBasis& basis, std::vector<std::string>& notes) {
  if (scenario.uncertainty_runs() > 0 && basis.level != CostLevel::calibrated) {
    notes.push_back("no uncertainty intervals: they are drawn from the errors of measured kernels, and " +
                    scenario.gpu.name + " has none");
  }
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

}  // namespace

Deployment make_deployment(const Scenario& scenario) {
  const PolicyEntry& policy = policy_of(scenario);
  const Values& engine = scenario.engine();
  const std::int64_t wanted_len =
      engine.has("max_model_len") ? engine.count("max_model_len") : scenario.model.max_positions;
  const std::int64_t step_tokens = policy.step_tokens(engine, wanted_len);
  const MemorySettings settings{.max_num_batched_tokens = step_tokens,
                                .max_num_seqs = engine.count("max_num_seqs"),
                                .gpu_memory_utilization = engine.number("gpu_memory_utilization"),
                                .block_size = engine.count("block_size")};
  Deployment deployment;
  deployment.memory = footprint_of(scenario, settings);
  const std::int64_t blocks = usable_blocks(scenario, policy, settings, deployment.memory);
  const std::int64_t watermark = policy.watermark_blocks ? policy.watermark_blocks(engine, blocks) : 0;
  const std::int64_t room = (blocks - watermark) * settings.block_size;
  const std::int64_t max_model_len = fitting_model_len(scenario, wanted_len, room, deployment.notes);

  const CostOptions cost = cost_options_from(scenario.values.section("cost_model"));
  deployment.limits = {.max_num_seqs = settings.max_num_seqs,
                       .max_model_len = max_model_len,
                       .block_size = settings.block_size,
                       .total_blocks = blocks};
  deployment.replica.block_size = settings.block_size;
  deployment.replica.blocks = BlockCount(blocks);
  deployment.replica.max_model_len = max_model_len;
  deployment.replica.max_num_seqs = settings.max_num_seqs;
  deployment.replica.attention_window = scenario.model.sliding_window;
  deployment.pricer_limits = {
      .max_tokens = step_tokens, .max_rows = settings.max_num_seqs, .max_context = max_model_len};
  deployment.pricer = make_step_pricer(scenario.model, scenario.gpu, in_one_node(scenario.tensor_parallel()),
                                       cost, deployment.pricer_limits);
  add_cost_notes(scenario.gpu, cost, deployment.pricer->basis(), deployment.notes);
  add_uncertainty_note(scenario, deployment.pricer->basis(), deployment.notes);
  add_profile_note(scenario.gpu, deployment.pricer->basis(), deployment.notes);
  return deployment;
}

Replica make_replica(const Scenario& scenario, const Deployment& deployment, SimulationObserver& observer) {
  return Replica(deployment.replica, policy_of(scenario).make(scenario.engine(), deployment.limits),
                 deployment.pricer, observer);
}

Simulation make_simulation(const Scenario& scenario, const Deployment& deployment,
                           SimulationObserver& observer) {
  std::vector<Replica> replicas;
  replicas.push_back(make_replica(scenario, deployment, observer));
  return Simulation(make_workload(scenario.workload(), scenario.seed(), scenario.trace_directory()),
                    std::move(replicas), observer);
}

}  // namespace inferometer
