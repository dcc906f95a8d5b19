#include "sim/cli/workload_generate.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/config/config_node.hpp"
#include "base/error.hpp"
#include "sim/cli/workload_options.hpp"
#include "sim/cli/workload_writing.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

struct GenerateOptions {
  std::string output;
  std::string scenario;
  std::vector<std::string> assignments;
  std::string kind = "inferometer";
  std::int64_t seed = 1;
  CLI::Option* seed_option = nullptr;
};

void refuse_closed_loop(const Values& workload) {
  if (workload.given("generator") && workload.text("generator") == "closed_loop") {
    throw ConfigError(workload.where("generator"),
                      "a closed loop has no arrivals of its own: clients wait for answers");
  }
}

std::unique_ptr<Workload> workload_of_scenario(const GenerateOptions& given) {
  ScenarioOverrides overrides;
  overrides.assignments = given.assignments;
  if (given.seed_option->count() > 0) {
    overrides.seed = given.seed;
  }
  const Scenario scenario = load_scenario(given.scenario, overrides);
  refuse_closed_loop(scenario.workload());
  return make_workload(scenario.workload(), scenario.seed(), scenario.trace_directory());
}

std::unique_ptr<Workload> workload_of_assignments(const GenerateOptions& given) {
  ConfigNode root = read_yaml_text("workload: {}", "command line");
  for (const std::string& assignment : given.assignments) {
    apply_override(root, assignment);
  }
  Table table("", "A workload without the rest of a scenario.");
  table.add_section("workload", workload_table(), "Where requests come from.").required();
  Diagnostics diagnostics;
  const Values values = parse(table, root, diagnostics);
  diagnostics.throw_if_any();
  refuse_closed_loop(values.section("workload"));
  return make_workload(values.section("workload"), static_cast<std::uint64_t>(given.seed), "");
}

void run_generate(const GenerateOptions& given) {
  const TraceFileKind kind = read_trace_kind(given.kind);
  if (given.seed < 0) {
    throw ConfigError(Position{"--seed"}, fmt::format("expected 0 or more, found {}", given.seed));
  }
  if (given.scenario.empty() && given.assignments.empty()) {
    throw ConfigError(Position{}, "expected --scenario FILE or --set workload.KEY=VALUE, found neither");
  }
  const std::unique_ptr<Workload> workload =
      given.scenario.empty() ? workload_of_assignments(given) : workload_of_scenario(given);
  const std::unique_ptr<TraceWriter> writer = open_trace_writer(given.output, kind);
  const std::int64_t count = write_requests(*workload, *writer, kind);
  const std::string text = fmt::format("{}: {} requests\n", given.output, count);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_workload_generate(CLI::App& workload_command) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App* command =
      workload_command.add_subcommand("generate", "Writes the requests of a workload as a trace");
  command->add_option("output", options->output, "File to write; compressed when its name ends in .gz")
      ->required();
  command->add_option("--scenario", options->scenario, "Scenario whose workload to write");
  command
      ->add_option("--set", options->assignments,
                   "Setting as in a scenario, such as workload.preset=azure-conversation; may be repeated")
      ->expected(1)
      ->take_all();
  command->add_option("--to", options->kind, kTraceKinds)->capture_default_str();
  options->seed_option =
      command->add_option("--seed", options->seed, "In place of the scenario's")->capture_default_str();
  command->callback([options] { run_generate(*options); });
}

}  // namespace inferometer
