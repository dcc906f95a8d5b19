// `inferometer validate RUNS...`: how far predictions are from measured runs.

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
#include "sim/cli/commands.hpp"
#include "sim/cli/interrupt_guard.hpp"
#include "sim/cli/named_file.hpp"
#include "sim/cli/plugin_option.hpp"
#include "sim/cli/validation_page.hpp"
#include "sim/cli/validation_report.hpp"
#include "sim/report/progress_bar.hpp"
#include "sim/report/text_layout.hpp"
#include "sim/validation/predict/predict_runs.hpp"
#include "sim/validation/read_runs.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kFewestIntervals = 8, kMostIntervals = 1000;

struct ValidateArguments {
  std::vector<std::string> runs;
  std::string scenario;
  std::vector<std::string> assignments;
  std::int64_t intervals = 16;
  int jobs = 0;  // 0: a process for each processor
  std::string json;
  std::string report;
  bool shows_runs = false;
  bool is_quiet = false;
};

void check_intervals(std::int64_t intervals) {
  if (intervals != 0 && (intervals < kFewestIntervals || intervals > kMostIntervals)) {
    throw ConfigError({"--intervals"}, "expected 0 (no intervals) or " + std::to_string(kFewestIntervals) +
                                           " to " + std::to_string(kMostIntervals) + " re-runs, found " +
                                           std::to_string(intervals));
  }
}

/// Nothing where another rank of an MPI job has them.
std::optional<std::vector<Prediction>> predict_with_progress(const std::vector<MeasuredRun>& runs,
                                                             const PredictionOptions& options,
                                                             const ValidateArguments& arguments) {
  const InterruptGuard guard;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ProgressBar bar(std::cerr, !arguments.is_quiet && isatty(STDERR_FILENO) != 0);
  const auto in_all = static_cast<std::int64_t>(runs.size());
  const int processors = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 1024U));
  std::optional<std::vector<Prediction>> predictions =
      predict_runs(runs, options, arguments.jobs > 0 ? arguments.jobs : processors, [&](std::int64_t done) {
        bar.update({elapsed(),
                    {},
                    std::to_string(done) + " of " + std::to_string(in_all) + " runs",
                    done,
                    in_all,
                    "runs"});
        return !InterruptGuard::flag();
      });
  bar.clear();
  if (InterruptGuard::flag()) {
    std::cerr << "interrupted: nothing was judged\n";
    throw CLI::RuntimeError(kExitInterrupted);
  }
  if (predictions && !arguments.is_quiet) {
    std::cerr << in_all << (in_all == 1 ? " run in " : " runs in ") << short_duration(1e3 * elapsed())
              << "\n";
  }
  return predictions;
}

void validate_runs(const ValidateArguments& arguments) {
  check_intervals(arguments.intervals);
  PredictionOptions options;
  options.base = read_prediction_base(arguments.scenario, arguments.assignments);
  options.intervals = arguments.intervals;
  const std::vector<MeasuredRun> runs = read_measured_runs(arguments.runs);
  const auto predictions = predict_with_progress(runs, options, arguments);
  if (!predictions) {
    return;
  }
  const Judgement judgement = judge(runs, *predictions);
  const ValidatedRuns validated{runs, *predictions, judgement};
  if (!arguments.json.empty()) {
    write_file(arguments.json, judgement_json(validated));
  }
  if (!arguments.report.empty()) {
    write_file(arguments.report, html_text(validation_page(validated)));
  }
  if (!arguments.is_quiet) {
    if (arguments.shows_runs) {
      std::cout << judged_values_text(validated) << "\n";
    }
    std::cout << judgement_text(validated);
  }
}

}  // namespace

void add_validate_command(CLI::App& app) {
  const auto arguments = std::make_shared<ValidateArguments>();
  CLI::App* command = app.add_subcommand("validate", "How far predictions are from measured runs");
  command
      ->add_option("RUNS", arguments->runs,
                   "Files of measured runs, or folders, which are searched for such files")
      ->required();
  command
      ->add_option("--scenario", arguments->scenario,
                   "Scenario file (YAML) that says what the runs do not: GPUs, engine, network; need not be "
                   "whole")
      ->type_name("FILE")
      ->check(file_fault);
  command
      ->add_option("--set", arguments->assignments,
                   "Change a key of every run's scenario: engine.max_num_seqs=64; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("--intervals", arguments->intervals,
                   "Re-runs behind the interval of each prediction, 8 and more; 0: no intervals")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--jobs", arguments->jobs, "Worker processes; by default one for each processor")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->add_option("--json", arguments->json, "Write each value and the summary to this file")
      ->type_name("FILE")
      ->check(file_fault);
  command
      ->add_option("--report", arguments->report,
                   "Write a report for people there: one HTML file, measured against predicted in charts")
      ->type_name("FILE")
      ->check(file_fault);
  add_plugin_option(*command);
  command->add_flag("--runs", arguments->shows_runs, "Also print each run and metric");
  command->add_flag("--quiet", arguments->is_quiet, "No results on the terminal, no progress bar");
  command->footer(
      "A run's scenario is, from the bottom: --scenario, the preset of its engine's version, what the "
      "measurement says of model, GPUs, engine and traffic, --set. Runs that cannot be predicted are listed "
      "with the reason.");
  command->callback([arguments] { validate_runs(*arguments); });
}

}  // namespace inferometer
