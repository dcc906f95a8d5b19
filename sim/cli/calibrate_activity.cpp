#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "calibration/activity/activity_comparison.hpp"
#include "calibration/activity/activity_log.hpp"
#include "calibration/activity/activity_summary.hpp"
#include "sim/cli/activity_report.hpp"
#include "sim/cli/calibrate_command.hpp"
#include "sim/cli/named_file.hpp"

namespace inferometer {
namespace {

struct ActivityOptions {
  std::vector<std::string> logs;
  std::string phases, simulated;
  double period_ms = 100;
};

/// The GPUs of several logs, each named after its log when there is more than one.
ActivityLog read_logs(const std::vector<std::string>& files) {
  ActivityLog all;
  for (const std::string& file : files) {
    LineSource lines(open_bytes(file), file);
    ActivityLog log = read_activity_log(lines);
    for (GpuLog& gpu : log.gpus) {
      if (files.size() > 1) {
        gpu.name = file + " " + gpu.name;
      }
      all.gpus.push_back(std::move(gpu));
    }
    all.notes.insert(all.notes.end(), log.notes.begin(), log.notes.end());
  }
  return all;
}

/// A sentence for each phase of --phases in which no GPU has a sample.
std::vector<std::string> empty_phases(const ActivitySettings& settings,
                                      const std::vector<GpuActivity>& measured) {
  std::set<std::string> missing;
  for (const PhaseWindow& window : settings.windows) {
    missing.insert(window.name);
  }
  for (const GpuActivity& gpu : measured) {
    for (const PhaseActivity& phase : gpu.phases) {
      missing.erase(phase.phase);
    }
  }
  std::vector<std::string> sentences;
  for (const std::string& name : missing) {
    sentences.push_back("no sample lies in phase \"" + name + "\"");
  }
  return sentences;
}

void run_activity(const ActivityOptions& options) {
  ActivitySettings settings;
  settings.period_s = options.period_ms / 1e3;
  if (!options.phases.empty()) {
    LineSource lines(open_bytes(options.phases), options.phases);
    settings.windows = read_phase_windows(lines);
  }
  const ActivityLog log = read_logs(options.logs);
  std::vector<std::string> notes = log.notes;
  const std::vector<GpuActivity> measured = summarize_activity(log.gpus, settings);
  const std::vector<std::string> empty = empty_phases(settings, measured);
  notes.insert(notes.end(), empty.begin(), empty.end());
  std::string text;
  if (options.simulated.empty()) {
    text = activity_text(measured, settings);
  } else {
    const ActivityLog simulated = read_logs({options.simulated});
    notes.insert(notes.end(), simulated.notes.begin(), simulated.notes.end());
    text = activity_comparison_text(compare_activity(measured, summarize_activity(simulated.gpus, settings)),
                                    settings);
  }
  for (const std::string& note : notes) {
    text += "note: " + note + "\n";
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_calibrate_activity(CLI::App& parent) {
  const auto options = std::make_shared<ActivityOptions>();
  CLI::App* command = parent.add_subcommand(
      "activity", "How busy a GPU's SMs and memory were, by phase, from logs of \"dcgmi dmon -e 1002,1005\"");
  command
      ->add_option("LOG", options->logs,
                   "Log of dcgmi dmon, or of \"inferometer run --activity\"; plain or .gz")
      ->required();
  command
      ->add_option("--phases", options->phases,
                   "CSV of start_s,end_s,name in seconds of the log; without it, each sample tells its phase")
      ->type_name("FILE")
      ->check(file_fault);
  command
      ->add_option(
          "--simulated", options->simulated,
          "Log of the same traffic by \"inferometer run --activity\", to put beside what was measured")
      ->type_name("FILE")
      ->check(file_fault);
  command->add_option("--period", options->period_ms, "Milliseconds from row to row: -d of dcgmi dmon")
      ->type_name("MS")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  command->footer(
      "Simulated: SM is the time of steps less the host's part, DRAM the bytes of the kernels over the "
      "datasheet's bandwidth.\nMeasured: DCGM's fields 1002 and 1005. Rows tell no time: they are taken to "
      "be "
      "one --period apart.");
  command->callback([options] { run_activity(*options); });
}

}  // namespace inferometer
