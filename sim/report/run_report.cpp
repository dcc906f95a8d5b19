#include "sim/report/run_report.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/config/values_json.hpp"
#include "base/file_hash.hpp"
#include "costmodel/pipeline.hpp"
#include "workloads/session_workload.hpp"
#include "workloads/trace_reader.hpp"

namespace inferometer {
namespace {

nlohmann::ordered_json pool_json(const PoolDeployment& pool) {
  nlohmann::ordered_json json = {{"max_model_len", pool.limits.max_model_len},
                                 {"max_num_seqs", pool.limits.max_num_seqs},
                                 {"kv_blocks", pool.limits.total_blocks},
                                 {"kv_bytes_per_token_per_gpu", pool.memory.kv_bytes_per_token.count()},
                                 {"weights_bytes", pool.memory.weights.count()}};
  if (pool.memory.drafter_weights > Bytes(0)) {
    json["drafter_weights_bytes"] = pool.memory.drafter_weights.count();
  }
  json["activations_bytes"] = pool.memory.activations.count();
  json["other_bytes"] = pool.memory.other.count();
  json["price_dollars_per_hour_per_gpu"] = pool.spec.gpu.price.count();
  return json;
}

/// Of one replica; of several pools, by their names.
nlohmann::ordered_json deployment_json(const Deployment& deployment) {
  if (deployment.pools.size() == 1) {
    return pool_json(deployment.front());
  }
  nlohmann::ordered_json pools;
  for (const PoolDeployment& pool : deployment.pools) {
    pools[std::string(to_string(pool.spec.role))] = pool_json(pool);
  }
  return pools;
}

/// "3", or "2 to 6" of a pool that is scaled.
std::string replicas_in_words(const PoolSetup& pool) {
  const std::string most = std::to_string(pool.replicas);
  return pool.at_start == pool.replicas ? most : std::to_string(pool.at_start) + " to " + most;
}

/// "4 x h100-sxm, chunked_prefill"; of a cluster "prefill 2 x (4 x h100-sxm), decode 1 x (8 x h100-sxm),
/// disaggregated".
std::string hardware_in_words(const Scenario& scenario, const Deployment& deployment) {
  std::string text;
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    const PoolSpec& pool = deployment.pools[i].spec;
    std::string gpus = std::to_string(pool.gpus_per_replica()) + " x " + pool.gpu.name;
    if (!deployment.is_single) {
      gpus = std::string(deployment.pools.size() > 1 ? to_string(pool.role) : "") +
             (deployment.pools.size() > 1 ? " " : "") + replicas_in_words(deployment.cluster->pools[i]) +
             " x (" + gpus + ")";
    }
    text += gpus + ", ";
  }
  return text + scenario.engine().text("policy");
}

CostBasis cost_basis_of(const Deployment& deployment) {
  StagePricers all;
  for (const PoolDeployment& pool : deployment.pools) {
    all.insert(all.end(), pool.pricers.begin(), pool.pricers.end());
  }
  return basis_of_stages(all);
}

std::vector<InputFile> hashed_inputs(const Scenario& scenario) {
  std::vector<InputFile> result;
  for (const Scenario::Input& input : scenario.inputs) {
    FileHash file = hash_file(input.path);
    result.push_back({input.name, std::move(file.hash), file.bytes});
  }
  return result;
}

/// Without the folder of the scenario in it: where the program was started does not change results.
void add_trace_notes(const Scenario& scenario, const Simulation& simulation,
                     std::vector<std::string>& notes) {
  const auto* trace = dynamic_cast<const TraceWorkload*>(&simulation.workload());
  if (trace == nullptr) {
    return;
  }
  const auto caches = [](const Replica& lane) { return lane.state().blocks().prefixes() != nullptr; };
  if (trace->hash_block_tokens() > 0 &&
      std::none_of(simulation.lanes().begin(), simulation.lanes().end(), caches)) {
    notes.emplace_back(
        "the trace marks prompts that share a prefix; without a prefix cache every prompt is computed in "
        "full "
        "(how much is shared: inferometer workload inspect)");
  }
  if (trace->skipped_lines() == 0) {
    return;
  }
  std::string first = trace->skipped_messages().front();
  const std::string folder = (std::filesystem::path(scenario.trace_directory()) / "").string();
  if (!folder.empty() && first.starts_with(folder)) {
    first.erase(0, folder.size());
  }
  notes.push_back(std::to_string(trace->skipped_lines()) +
                  " broken lines of the trace were skipped, the first: " + first);
}

/// Sessions that ended early made fewer requests than the scenario's turns suggest, and shorter ones.
void add_session_note(const Simulation& simulation, std::vector<std::string>& notes) {
  const auto* sessions = dynamic_cast<const SessionWorkload*>(&simulation.workload());
  if (sessions == nullptr || sessions->counts().cut == 0) {
    return;
  }
  notes.push_back(
      fmt::format("{} of {} sessions had fewer turns than drawn: the next one would have come to "
                  "more tokens than workload.sessions.max_context",
                  sessions->counts().cut, sessions->counts().begun));
}

/// What may lie outside of the measured range is told of a run in which something did.
void add_extrapolation_note(Report& report) {
  if (report.summary.extrapolated_share == 0) {
    report.cost_basis.extrapolations.clear();
    return;
  }
  std::string note = fmt::format("{:.2g} % of the time in steps went to kernels outside of what was measured",
                                 100 * report.summary.extrapolated_share);
  const char* before = ": ";
  for (const Extrapolation& beyond : report.cost_basis.extrapolations) {
    note += before + to_text(beyond);
    before = "; ";
  }
  report.notes.push_back(note);
}

/// Without contention, links may carry more than they can.
void add_overload_note(const Summary& summary, std::vector<std::string>& notes) {
  if (!summary.cluster || summary.cluster->links.empty()) {
    return;
  }
  const auto busiest =
      std::max_element(summary.cluster->links.begin(), summary.cluster->links.end(),
                       [](const LinkUse& a, const LinkUse& b) { return a.utilization < b.utilization; });
  if (busiest->utilization > 1) {
    notes.push_back(
        fmt::format("link {} was asked for {:.0f} % of what it carries, and the ideal network does not "
                    "share it: network: {{model: simgrid}} does",
                    busiest->name, 100 * busiest->utilization));
  }
}

}  // namespace

Report make_report(const Scenario& scenario, const Deployment& deployment, const Simulation& simulation,
                   const MetricsRecorder& recorder, bool partial) {
  Report report;
  report.scenario = std::filesystem::path(scenario.file).filename().string();
  report.setup = scenario.model.name + " on " + hardware_in_words(scenario, deployment);
  report.program_version = INFEROMETER_VERSION;
  report.summary = summarize_run(scenario, deployment, simulation, recorder,
                                 capacity_sample(deployment, recorder), partial);
  report.stepper = to_string(deployment.front().replica.stepper);
  report.step_counts = simulation.step_counts();
  report.events = simulation.events();
  report.slo = evaluate(scenario.slo, report.summary);
  report.cost_basis = cost_basis_of(deployment);
  report.deployment = deployment_json(deployment);
  report.resolved_scenario = values_json(scenario.values);
  report.inputs = hashed_inputs(scenario);
  report.notes = scenario.notes;
  report.notes.insert(report.notes.end(), deployment.notes.begin(), deployment.notes.end());
  add_extrapolation_note(report);
  if (report.summary.census.injected == 0) {
    report.notes.emplace_back("no request arrived: is the trace empty, or its window too narrow?");
  }
  if (recorder.options().percentiles == Percentiles::sketch) {
    report.notes.emplace_back(
        "percentiles and medians are read off a sketch: each is within 1/512 (0.2 %) of the exact value; "
        "means, "
        "standard deviations, minima and maxima are exact");
  }
  add_trace_notes(scenario, simulation, report.notes);
  add_session_note(simulation, report.notes);
  add_overload_note(report.summary, report.notes);
  return report;
}

}  // namespace inferometer
