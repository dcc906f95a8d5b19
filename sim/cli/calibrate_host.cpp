// `inferometer calibrate host RESULTS...`: host times that explain measured runs.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "sim/cli/calibrate_command.hpp"
#include "sim/cli/host_fit_report.hpp"
#include "sim/cli/interrupt_guard.hpp"
#include "sim/cli/named_file.hpp"
#include "sim/cli/plugin_option.hpp"
#include "sim/report/progress_bar.hpp"
#include "sim/report/text_layout.hpp"
#include "sim/validation/host_fit/host_fit.hpp"
#include "sim/validation/read_runs.hpp"

namespace inferometer {
namespace {

struct HostFitArguments {
  std::vector<std::string> runs;
  std::string fit = "host_fixed,host_per_sequence,host_per_prefill_token,frontend_latency";
  std::string scenario;
  std::vector<std::string> assignments;
  std::int64_t every = 1;
  int jobs = 0;  // 0: a process for each processor
  std::string out, json;
  bool is_quiet = false;
};

int processes(const HostFitArguments& arguments) {
  return arguments.jobs > 0 ? arguments.jobs
                            : static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 1024U));
}

/// Nothing where another rank of an MPI job has it.
std::optional<HostFitResult> fit_with_progress(const std::vector<MeasuredRun>& runs,
                                               const HostFitOptions& options,
                                               const HostFitArguments& arguments) {
  const InterruptGuard guard;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ProgressBar bar(std::cerr, !arguments.is_quiet && isatty(STDERR_FILENO) != 0);
  std::optional<HostFitResult> result;
  std::int64_t simulated = 0;
  const PredictionOptions predictions{options.base, 0, {}};
  try {
    with_simulator(
        runs, predictions, processes(arguments),
        [&](std::int64_t done) {
          simulated = done;
          bar.update({elapsed(), {}, "fitting host times", done, {}, "simulations"});
          return !InterruptGuard::flag();
        },
        [&](const Simulator& simulate) { result = fit_host_times(runs, options, simulate); });
  } catch (const SimulationsStopped&) {
    bar.clear();
    std::cerr << "interrupted: nothing was fitted\n";
    throw CLI::RuntimeError(kExitInterrupted);
  }
  bar.clear();
  if (result && !arguments.is_quiet) {
    std::cerr << grouped(simulated + 1) << " simulations in " << short_duration(1e3 * elapsed()) << "\n";
  }
  return result;
}

void run_host_fit(const HostFitArguments& arguments) {
  HostFitOptions options;
  options.fitted = host_parameters_named(arguments.fit);
  options.every = arguments.every;
  options.base = read_prediction_base(arguments.scenario, arguments.assignments);
  const std::vector<MeasuredRun> runs = read_measured_runs(arguments.runs);
  const std::optional<HostFitResult> result = fit_with_progress(runs, options, arguments);
  if (!result) {
    return;
  }
  if (!arguments.out.empty()) {
    write_file(arguments.out, host_fit_yaml(*result));
  }
  if (!arguments.json.empty()) {
    write_file(arguments.json, host_fit_json(runs, *result));
  }
  if (!arguments.is_quiet) {
    std::cout << host_fit_text(runs, *result);
  }
}

void add_files(CLI::App& command, HostFitArguments& arguments) {
  command
      .add_option("--out", arguments.out,
                  "Write the host times to this file, as a part of a scenario; a document for each engine")
      ->type_name("FILE")
      ->check(file_fault);
  command.add_option("--json", arguments.json, "Write host times, errors and what stays unexplained to this")
      ->type_name("FILE")
      ->check(file_fault);
}

}  // namespace

void add_calibrate_host(CLI::App& parent) {
  const auto arguments = std::make_shared<HostFitArguments>();
  CLI::App* command =
      parent.add_subcommand("host", "Host times of an engine with which simulations explain measured runs");
  command
      ->add_option("RESULTS", arguments->runs, "Files of measured runs, or folders, as validate reads them")
      ->required();
  command->add_option("--fit", arguments->fit, "Which keys of cost_model are fitted, with commas")
      ->type_name("KEYS")
      ->capture_default_str();
  command
      ->add_option("--every", arguments->every,
                   "Fit to every Nth run of each group alone, and judge the fit by the others, too")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}))
      ->capture_default_str();
  command
      ->add_option("--scenario", arguments->scenario,
                   "Scenario file (YAML) that says what the runs do not: GPUs, engine, network; need not be "
                   "whole")
      ->type_name("FILE")
      ->check(file_fault);
  command
      ->add_option("--set", arguments->assignments,
                   "Change a key of every run's scenario; of a fitted one, where its fit starts; may be "
                   "repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--jobs", arguments->jobs, "Worker processes; by default one for each processor")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  add_files(*command, *arguments);
  add_plugin_option(*command);
  command->add_flag("--quiet", arguments->is_quiet, "No results on the terminal, no progress bar");
  command->footer(
      "Fitted are runs away from saturation, by what a token takes (mean TPOT, else mean ITL) and the first "
      "one (lone TTFT, else mean TTFT), each preset of an engine by itself. A host time that the GPU hides "
      "or that looks like another one is not determined by these runs, and stays as it was.");
  command->callback([arguments] { run_host_fit(*arguments); });
}

}  // namespace inferometer
