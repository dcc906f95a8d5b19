#include "sim/validation/predict/run_scenario.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "sim/validation/predict/preset_choice.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kPresetKey = "engine.preset";

/// As a YAML scalar, whatever is in it.
std::string single_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) {
    quoted += letter == '\'' ? "''" : std::string(1, letter);
  }
  return quoted + "'";
}

bool names_preset(const PredictionBase& base) {
  const ConfigNode* const engine = base.tree.find("engine");
  const bool is_assigned =
      std::any_of(base.assignments.begin(), base.assignments.end(),
                  [](const std::string& each) { return each.substr(0, each.find('=')) == kPresetKey; });
  return is_assigned || (engine != nullptr && engine->find("preset") != nullptr);
}

/// Where its values are recorded, without a line.
std::string file_of(const MeasuredRun& run) {
  return run.source.substr(0, run.source.rfind(':'));
}

void refuse_changes(const Scenario& scenario) {
  Diagnostics diagnostics;
  for (const char* key : {"rate", "requests", "rate_scale", "window_start", "window_end", "block_size",
                          "session_history", "skip_bad_lines", "max_new_tokens"}) {
    if (scenario.workload().given(key)) {
      diagnostics.add(scenario.workload().where(key),
                      std::string("workload.") + key +
                          " would change requests that were recorded; they are replayed as they came");
    }
  }
  diagnostics.throw_if_any();
}

}  // namespace

PredictionBase read_prediction_base(const std::string& path, std::vector<std::string> assignments) {
  PredictionBase base;
  base.tree = path.empty() ? read_yaml_text("{}", "") : read_yaml_file(path);
  base.file = path;
  base.assignments = std::move(assignments);
  return base;
}

std::vector<std::string> layered_settings(const MeasuredRun& run, const PredictionBase& base,
                                          std::vector<std::string>& notes) {
  std::vector<std::string> settings;
  if (!names_preset(base)) {
    if (const std::optional<PresetChoice> preset = preset_for(run.engine, shipped_presets())) {
      settings.push_back(std::string(kPresetKey) + "=" + preset->name);
      if (!preset->note.empty()) {
        notes.push_back(preset->note);
      }
    }
  }
  if (!run.requests.empty()) {
    settings.push_back("workload.trace=" + single_quoted(file_of(run)));
  }
  settings.insert(settings.end(), run.settings.begin(), run.settings.end());
  settings.insert(settings.end(), base.assignments.begin(), base.assignments.end());
  return settings;
}

std::shared_ptr<const std::vector<Request>> requests_of(const MeasuredRun& run) {
  if (run.requests.empty()) {
    return nullptr;
  }
  std::vector<std::size_t> order(run.requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return run.requests[a].arrival_s < run.requests[b].arrival_s;
  });
  auto requests = std::make_shared<std::vector<Request>>();
  requests->reserve(order.size());
  for (const std::size_t place : order) {
    const MeasuredRequest& measured = run.requests[place];
    Request request;
    request.id = static_cast<std::int64_t>(requests->size());
    request.arrival = TimePoint(duration_from_seconds(measured.arrival_s));
    request.prompt = TokenCount(measured.prompt_tokens);
    request.output = TokenCount(measured.output_tokens);
    request.max_new = request.output;
    requests->push_back(std::move(request));
  }
  return requests;
}

Scenario scenario_of(const MeasuredRun& run, const PredictionBase& base,
                     const std::vector<std::string>& settings) {
  ConfigNode tree = base.tree;
  if (base.file.empty()) {
    tree.where = {run.source, 0, 0};  // what a run does not say is missing there
  }
  ScenarioOverrides overrides;
  overrides.assignments = settings;
  Scenario scenario = load_scenario_tree(tree, base.file.empty() ? run.source : base.file, overrides);
  scenario.listed_requests = requests_of(run);
  if (scenario.listed_requests) {
    refuse_changes(scenario);
  }
  return scenario;
}

}  // namespace inferometer
