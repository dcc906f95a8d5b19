// `inferometer run SCENARIO`: what happens under this traffic.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/interrupt_guard.hpp"
#include "sim/cli/named_file.hpp"
#include "sim/cli/plugin_option.hpp"
#include "sim/cli/run_records.hpp"
#include "sim/cli/vllm_args_option.hpp"
#include "sim/engine/stepper_check.hpp"
#include "sim/replica/observer_group.hpp"
#include "sim/report/progress_bar.hpp"
#include "sim/report/requests_csv.hpp"
#include "sim/report/results_json.hpp"
#include "sim/report/run_report.hpp"
#include "sim/report/terminal_summary.hpp"
#include "sim/report/text_layout.hpp"
#include "sim/scenario/sensitivity.hpp"
#include "sim/scenario/uncertainty.hpp"

namespace inferometer {
namespace {

struct RunArguments {
  std::string scenario;
  std::vector<std::string> assignments;
  std::string vllm_args;
  std::string out;
  RunRecordPaths records;
  bool requests_csv = false;
  bool quiet = false;
  std::optional<std::int64_t> seed;
  std::string stepper = "fast";
};

const std::vector<std::string> kSteppers = {"fast", "reference", "check"};

/// Runs to the end, or to Ctrl-C; true when everything was done.
bool run_with_progress(Simulation& simulation, bool show_progress) {
  constexpr std::int64_t kEventsBetweenLooks = 1 << 16;
  const InterruptGuard guard;
  const auto start = std::chrono::steady_clock::now();
  ProgressBar bar(std::cerr, show_progress && isatty(STDERR_FILENO) != 0);
  bool is_more = true;
  while (is_more && !InterruptGuard::flag()) {
    is_more = simulation.run(kEventsBetweenLooks);
    const Census census = simulation.census();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    bar.update({elapsed.count(), simulation.now().since_start(), "", census.completed + census.rejected,
                simulation.workload().size_hint()});
  }
  bar.clear();
  return !is_more;
}

/// Further runs with the progress of them shown: on all processors, until Ctrl-C.
class Reruns {
 public:
  Reruns(const Deployment& deployment, std::int64_t runs, std::int64_t requests_each, bool is_quiet)
      : bar_(std::cerr, !is_quiet && isatty(STDERR_FILENO) != 0) {
    options_.runs = runs;
    const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
    options_.threads = deployment.can_run_side_by_side() ? static_cast<int>(processors) : 1;
    options_.go_on = [this, runs, requests_each](const RerunProgress& progress) {
      const std::string doing = std::to_string(progress.runs) + " of " + std::to_string(runs) + " re-runs";
      bar_.update({elapsed_s(), {}, doing, progress.requests, runs * requests_each});
      return !InterruptGuard::flag();
    };
  }
  Reruns(const Reruns&) = delete;
  Reruns& operator=(const Reruns&) = delete;
  ~Reruns() { bar_.clear(); }

  [[nodiscard]] RerunOptions& options() { return options_; }
  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const InterruptGuard guard_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ProgressBar bar_;
  RerunOptions options_;
};

/// Repeats the run for its intervals, where the scenario asks for them; false when Ctrl-C ended that.
bool add_intervals(const Scenario& scenario, const Deployment& deployment, const MetricsRecorder& recorder,
                   bool is_quiet, Report& report) {
  const std::int64_t runs = scenario.uncertainty_runs();
  if (runs == 0 || !has_measured_kernels(deployment)) {
    return true;
  }
  double elapsed_s = 0;
  {
    Reruns reruns(deployment, runs, report.summary.census.injected, is_quiet);
    const std::vector<RequestLengths> sample = capacity_sample(deployment, recorder);
    reruns.options().capacity_sample = sample;
    report.uncertainty =
        estimate_uncertainty(scenario, deployment, resampled_pricers(deployment), reruns.options());
    elapsed_s = reruns.elapsed_s();
  }
  if (!report.uncertainty) {
    report.notes.emplace_back("no uncertainty intervals: the runs behind them were interrupted");
    return false;
  }
  if (!is_quiet) {
    std::cerr << runs << " re-runs in " << short_duration(1e3 * elapsed_s) << "\n";
  }
  return true;
}

/// Repeats the run with longer and with shorter steps, unless it is long or the scenario wants none; false
/// when Ctrl-C ended that.
bool add_sensitivity(const Scenario& scenario, const Deployment& deployment, bool is_quiet, Report& report) {
  const std::int64_t requests = report.summary.census.injected;
  const double step_time = sensitivity_step_time(scenario, requests);
  if (step_time == 0) {
    return true;
  }
  Reruns reruns(deployment, 2, requests, is_quiet);
  report.sensitivity =
      estimate_sensitivity(scenario, step_time, deployment.front().replica.stepper, reruns.options());
  if (!report.sensitivity) {
    report.notes.emplace_back("no sensitivity: the runs behind it were interrupted");
    return false;
  }
  return true;
}

void write_outputs(const RunArguments& arguments, const Report& report, const MetricsRecorder& recorder) {
  const std::filesystem::path directory = arguments.out;
  write_file(directory / "results.json", results_json(report));
  if (arguments.requests_csv) {
    AtomicFile file(directory / "requests.csv");
    write_requests_csv(recorder, file.stream());
    file.commit();
  }
}

/// The run itself, to its end or to Ctrl-C; true when everything was done. Nothing of it is left but its
/// results: SimGrid lets no other simulation begin before.
bool replay(const RunArguments& arguments, const Scenario& scenario, const Deployment& deployment,
            MetricsRecorder& recorder, RunRecords& records, Report& report) {
  std::vector<SimulationObserver*> wanted = records.observers();
  wanted.insert(wanted.begin(), &recorder);
  ObserverGroup group(wanted);
  SimulationObserver& recorded = wanted.size() > 1 ? static_cast<SimulationObserver&>(group) : recorder;
  const bool is_checked = arguments.stepper == "check";
  StepperCheck check(recorded);
  SimulationObserver& observer = is_checked ? static_cast<SimulationObserver&>(check) : recorded;
  Simulation simulation = make_simulation(scenario, deployment, observer);
  if (is_checked) {
    Deployment reference = deployment;
    reference.set_stepper(Stepper::reference);
    check.compare(simulation, std::unique_ptr<Simulation>(new Simulation(
                                  make_simulation(scenario, reference, check.reference_side()))));
  }
  records.watch(simulation);
  const bool is_complete = run_with_progress(simulation, !arguments.quiet);
  if (!is_complete) {
    simulation.cut_off();
  } else if (is_checked) {
    check.finish();
  }
  records.finish(simulation, arguments.quiet);
  report = make_report(scenario, deployment, simulation, recorder, !is_complete);
  if (is_checked) {
    report.stepper = arguments.stepper;
  }
  return is_complete;
}

/// Two records in one file would be neither, and a scenario that is written over is gone.
void refuse_shared_files(const RunArguments& arguments) {
  const std::vector<std::pair<std::string, std::string>> named = {{"SCENARIO", arguments.scenario},
                                                                  {"--activity", arguments.records.activity},
                                                                  {"--trace", arguments.records.trace},
                                                                  {"--report", arguments.records.report}};
  std::map<std::filesystem::path, std::string> taken;
  for (const auto& [option, path] : named) {
    std::error_code unreadable;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(
        path.empty() ? std::filesystem::path() : std::filesystem::absolute(path), unreadable);
    const auto [first, is_new] = taken.emplace(whole, option);
    if (!is_new && !path.empty() && !unreadable) {
      throw ConfigError({}, first->second + " and " + option + " are the same file, " + path +
                                "; give each a file of its own");
    }
  }
}

void run(const RunArguments& arguments) {
  if (std::find(kSteppers.begin(), kSteppers.end(), arguments.stepper) == kSteppers.end()) {
    throw ConfigError({"--stepper"}, "expected " + join_alternatives(kSteppers, "or") + ", found \"" +
                                         arguments.stepper + "\"" +
                                         did_you_mean(arguments.stepper, kSteppers));
  }
  if (arguments.requests_csv && arguments.out.empty()) {
    throw ConfigError({}, "--requests-csv needs --out DIR, where the file is written");
  }
  if (arguments.records.trace_window && arguments.records.trace.empty()) {
    throw ConfigError({}, "--trace-window needs --trace FILE, where the trace is written");
  }
  refuse_shared_files(arguments);
  const Scenario scenario = load_scenario(
      arguments.scenario, {arguments.assignments, arguments.seed, {}, vllm_command(arguments.vllm_args)});
  Deployment deployment = make_deployment(scenario);
  deployment.set_stepper(arguments.stepper == "reference" ? Stepper::reference : Stepper::fast);
  if (arguments.stepper == "check" && !deployment.can_run_side_by_side()) {
    throw ConfigError({"--stepper"},
                      "check runs two simulations side by side, and SimGrid allows one; add --set "
                      "cluster.network.model=ideal");
  }
  if (!arguments.out.empty()) {
    make_directory(arguments.out);
  }
  MetricsRecorder recorder = make_recorder(scenario, arguments.requests_csv);
  RunRecords records(arguments.records, deployment, recorder);
  Report report;
  const bool is_complete = replay(arguments, scenario, deployment, recorder, records, report);
  const bool is_whole = is_complete &&
                        add_intervals(scenario, deployment, recorder, arguments.quiet, report) &&
                        add_sensitivity(scenario, deployment, arguments.quiet, report);
  if (!arguments.out.empty()) {
    write_outputs(arguments, report, recorder);
  }
  records.write(report, deployment, recorder);
  if (!arguments.quiet) {
    std::cout << terminal_summary(report, isatty(STDOUT_FILENO) != 0);
  }
  if (!is_whole) {
    throw CLI::RuntimeError(kExitInterrupted);
  }
}

}  // namespace

void add_run_command(CLI::App& app) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "What happens under this traffic: latency, throughput, cost");
  command->add_option("SCENARIO", arguments->scenario, "Scenario file (YAML)")->required();
  command
      ->add_option("--set", arguments->assignments,
                   "Change a key: engine.max_num_seqs=64, 'slo={ttft_p99: 1 s}'; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  add_vllm_args_option(*command, arguments->vllm_args);
  command->add_option("--seed", arguments->seed, "Start of all random streams; the same as --set seed=N")
      ->type_name("N");
  command->add_option("--out", arguments->out, "Write results.json there")
      ->type_name("DIR")
      ->check(
          [](const std::string& folder) { return folder.empty() ? "expected a folder, found \"\"" : ""; });
  command->add_flag("--requests-csv", arguments->requests_csv,
                    "Also write requests.csv there, a row a request");
  command
      ->add_option(
          "--activity", arguments->records.activity,
          "Write how busy SMs and memory of each GPU were, every 100 ms of simulated time, in the form "
          "of \"dcgmi dmon -e 1002,1005\", for \"inferometer calibrate activity\"")
      ->type_name("FILE")
      ->check(file_fault);
  command
      ->add_option("--trace", arguments->records.trace,
                   "Write what happened when, step by step and request by request, for ui.perfetto.dev")
      ->type_name("FILE")
      ->check(file_fault);
  command
      ->add_option(
          "--trace-window", arguments->records.trace_window,
          "Only steps, requests and transfers of that time in it, such as 10s..20s; those that cross "
          "its ends are shown whole")
      ->type_name("FROM..TO");
  command
      ->add_option("--report", arguments->records.report,
                   "Write a report for people there: one HTML file, with charts, that needs no network")
      ->type_name("FILE")
      ->check(file_fault);
  command
      ->add_option(
          "--stepper", arguments->stepper,
          "fast: many steps at once where they are alike; reference: one by one; check: both, side by "
          "side, stopping at the first difference (takes several times as long). All give the same results")
      ->type_name("fast|reference|check")
      ->capture_default_str();
  add_plugin_option(*command);
  command->add_flag("--quiet", arguments->quiet, "No summary, no progress bar");
  command->footer(
      "Ctrl-C ends the replay early: what was done so far is reported, marked partial, and the exit code is "
      "130. Among the runs behind uncertainty intervals or the sensitivity, only these are left out.\n"
      "`inferometer describe` explains every key of a scenario.");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace inferometer
