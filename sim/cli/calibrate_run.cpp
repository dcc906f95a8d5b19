// `inferometer calibrate run`: measures a GPU, fits a profile and says how good it is.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/config/table.hpp"
#include "base/config/unit_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "calibration/fit/fit_profile.hpp"
#include "calibration/fit/validation.hpp"
#include "calibration/measure/kernel_goals.hpp"
#include "calibration/measure/measure_sweep.hpp"
#include "calibration/measure/open_device.hpp"
#include "calibration/measure/split_by_use.hpp"
#include "calibration/record/read_measurements.hpp"
#include "calibration/record/write_measurements.hpp"
#include "calibration/sweep/design_sweep.hpp"
#include "sim/cli/calibrate_command.hpp"
#include "sim/cli/calibrate_report.hpp"
#include "sim/cli/interrupt_guard.hpp"
#include "sim/cli/sweep_report.hpp"
#include "sim/report/progress_bar.hpp"

namespace inferometer {
namespace {

struct MeasureArguments {
  std::string gpu = "0";
  std::string provider{to_string(KernelProvider::inferometer)};
  std::string budget = "5m";
  std::string out;
  bool is_dry_run = false;
  bool is_quiet = false;
};

// Of the budget; the rest is for opening the GPU, the fit and its cross-validation.
constexpr double kMeasuringShare = 0.9;
constexpr int kExitDeviceLost = 1;
constexpr const char* kProfileFile = "profile.json";
constexpr const char* kSummaryFile = "summary.txt";
// Of what a process can use: a dry run has no GPU to ask.
constexpr double kUsableMemory = 0.9;

/// "5m", "90 s", "0.5 h"
double budget_seconds(const std::string& text) {
  constexpr double kLeastSeconds = 10;        // a few points of each kind
  constexpr double kMostSeconds = 24 * 3600;  // all there is to measure is expected to take a few hours
  const std::string number = text.substr(0, text.find_last_of("0123456789") + 1);
  const std::string unit = text.substr(number.size());
  const bool says_m = unit == "m" || unit == " m";
  const Parsed parsed = parse_quantity(says_m ? number + "min" : text, ValueType::duration);
  const auto* scalar = std::get_if<Value::Scalar>(&parsed);
  const double seconds = scalar != nullptr ? to_seconds(std::get<Duration>(*scalar)) : 0;
  if (seconds < kLeastSeconds || seconds > kMostSeconds) {
    throw ConfigError({},
                      fmt::format("--budget {} is not a time from 10 s to 24 h; write 90 s, 5m or 2 h, for "
                                  "instance",
                                  quoted_excerpt(text)));
  }
  return seconds;
}

std::optional<int> device_index(const std::string& text) {
  constexpr std::size_t kMostDigits = 4;
  if (text.empty() || text.size() > kMostDigits ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoi(text);
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// What a sweep may ask of a GPU that is only known by name.
SweepTarget target_by_name(const std::string& name, KernelProvider provider) {
  const GpuSpec gpu = load_gpu(name);
  return {gpu, kUsableMemory * static_cast<double>(gpu.hbm_usable.count()), 1, provider};
}

SweepTarget target_of(KernelDevice& device, const MeasurementHeader& header, KernelProvider provider) {
  if (header.gpu.empty()) {
    throw ConfigError({},
                      "the driver calls this GPU \"" + header.device +
                          "\", a name that no file in hardware/gpus has; add it to device_names of the GPU's "
                          "file there, or write one");
  }
  return {load_gpu(header.gpu), device.memory_bytes(), device.gpus(), provider};
}

SweepResult measure(KernelDevice& device, const SweepPlan& plan, RecordJournal& journal,
                    const MeasureOptions& options, bool is_quiet) {
  const InterruptGuard guard;
  ProgressBar bar(std::cerr, !is_quiet && isatty(STDERR_FILENO) != 0);
  const SweepResult result =
      measure_sweep(device, plan, journal, options, real_time_controls(InterruptGuard::flag()),
                    [&](const SweepProgress& progress) {
                      if (progress.elapsed_seconds > 0) {
                        bar.update({.elapsed_seconds = progress.elapsed_seconds,
                                    .doing = std::string(to_string(progress.family)),
                                    .requests_done = progress.done,
                                    .requests_in_all = progress.in_all,
                                    .unit = "points"});
                      }
                    });
  bar.clear();
  return result;
}

KernelProvider provider_of(const MeasureArguments& arguments) {
  const std::optional<KernelProvider> provider = kernel_provider_from(arguments.provider);
  if (!provider) {
    throw ConfigError(
        {}, "--provider \"" + arguments.provider + "\" is none; there are \"inferometer\" and \"cudnn\"");
  }
  return *provider;
}

bool is_there(const std::filesystem::path& file) {
  std::error_code unknown;  // who writes there says what the system says
  return std::filesystem::exists(file, unknown);
}

/// Record files of this GPU and library that are in the directory.
std::vector<std::string> record_files(const std::filesystem::path& directory,
                                      const MeasurementHeader& header) {
  std::vector<std::string> files;
  for (const KernelFamilyInfo& family : kernel_families()) {
    const std::filesystem::path file = directory / record_file_name(header, family.family);
    if (is_there(file)) {
      files.push_back(file.string());
    }
  }
  return files;
}

/// Where a file of the run goes: "profile.json", of cuDNN "cudnn.profile.json" beside it.
std::filesystem::path run_file(const MeasureArguments& arguments, const std::string& name) {
  const bool is_ours = provider_of(arguments) == KernelProvider::inferometer;
  return std::filesystem::path(arguments.out) / (is_ours ? name : arguments.provider + "." + name);
}

/// A profile or summary that does not come of this GPU's records there would be lost.
void require_own_directory(const MeasureArguments& arguments, const MeasurementHeader& header) {
  if (!record_files(arguments.out, header).empty()) {
    return;
  }
  for (const char* const name : {kProfileFile, kSummaryFile}) {
    const std::filesystem::path file = run_file(arguments, name);
    if (is_there(file)) {
      throw ConfigError({file.string(), 0, 0},
                        fmt::format("would be overwritten, and is not of records of {} on {}: there are none "
                                    "in this folder; write to another",
                                    header.library, header.gpu));
    }
  }
}

bool has_points(const std::vector<Measurements>& sets) {
  return std::any_of(sets.begin(), sets.end(), [](const Measurements& set) { return !set.points.empty(); });
}

/// A run that ended early may not have come to a shape that is held out, of a kernel that was fitted.
std::string held_out_text(const KernelProfile& profile, const std::vector<Measurements>& held_out) {
  for (const Measurements& set : held_out) {
    for (const MeasuredKernel& point : set.points) {
      if (find_fit(profile, point.call.family, point.call.variant) != nullptr) {
        return "On shapes that were held out of the fit:\n\n" + validation_table(validate(profile, held_out));
      }
    }
  }
  return "No shape that is held out of the fit was measured yet: how good the profile is, is not known.\n";
}

/// Fits and judges what lies of the library in the directory; the text of it all.
std::string fit_and_judge(const MeasureArguments& arguments, const MeasurementHeader& header,
                          const std::vector<Measurements>& measured) {
  const SplitMeasurements parts = split_by_use(measured);
  const KernelProfile profile = fit_profile(
      parts.fit,
      {.gpu = header.gpu, .library = header.library, .borrowed = {}, .date = today(), .notice = ""},
      [](KernelFamily, const std::string&, std::size_t) {});
  const std::filesystem::path path = run_file(arguments, kProfileFile);
  write_file(path, to_json(profile));
  const std::string left_out = left_out_text(measured);
  std::string text = profile_text(profile) + (left_out.empty() ? "" : "\n" + left_out) + "\n" +
                     held_out_text(profile, parts.held_out) + "\nKernels beside what is possible:\n\n";
  for (const Measurements& set : measured) {
    const std::vector<KernelGoal> goals = kernel_goals(set);
    text += goals.empty() ? "No call of a size that counts was measured yet.\n" : goal_table(goals);
    for (const std::string& sentence : missed_goals(goals)) {
      text += sentence + "\n";
    }
  }
  return text + "\nprofile written to " + path.string() + "\n";
}

void run_dry(const MeasureArguments& arguments, double budget_s) {
  const std::optional<int> index = device_index(arguments.gpu);
  if (!index) {
    const SweepTarget target = target_by_name(arguments.gpu, provider_of(arguments));
    print(plan_text(design_sweep(target, kMeasuringShare * budget_s), target.gpu));
    return;
  }
  const std::unique_ptr<KernelDevice> device = open_device(*index, provider_of(arguments));
  const SweepTarget target = target_of(*device, device->header(), provider_of(arguments));
  print(plan_text(design_sweep(target, kMeasuringShare * budget_s), target.gpu));
}

void run_calibration(const MeasureArguments& arguments) {
  const double budget_s = budget_seconds(arguments.budget);
  if (arguments.is_dry_run) {
    run_dry(arguments, budget_s);
    return;
  }
  const std::optional<int> index = device_index(arguments.gpu);
  if (!index) {
    throw ConfigError(
        {}, "--gpu \"" + arguments.gpu +
                "\" is not the number of a GPU of this machine, 0 for the first; names go with --dry-run");
  }
  if (arguments.out.empty()) {
    throw ConfigError({}, "--out DIR is needed: where records and profile are written");
  }
  const KernelProvider provider = provider_of(arguments);
  const std::unique_ptr<KernelDevice> device = open_device(*index, provider);
  const MeasureOptions options;
  const MeasurementHeader header = run_header(*device, options);
  const SweepTarget target = target_of(*device, header, provider);
  const SweepPlan plan = design_sweep(target, kMeasuringShare * budget_s);
  require_own_directory(arguments, header);
  RecordJournal journal(arguments.out, header);
  for (const std::string& note : journal.notes()) {
    std::cerr << "note: " << note << "\n";
  }
  const SweepResult result = measure(*device, plan, journal, options, arguments.is_quiet);
  print(sweep_text(result, plan));
  if (result.end == SweepResult::End::stopped) {
    throw CLI::RuntimeError(kExitInterrupted);
  }
  const bool is_lost = result.end == SweepResult::End::device_lost;
  const std::vector<Measurements> measured =
      read_measurements(record_files(arguments.out, header), {header.gpu});
  if (has_points(split_by_use(measured).fit) || !is_lost) {
    const std::string summary = fit_and_judge(arguments, header, measured);
    write_file(run_file(arguments, kSummaryFile), sweep_text(result, plan) + "\n" + summary);
    print("\n" + summary);
  }
  if (is_lost) {
    throw CLI::RuntimeError(kExitDeviceLost);
  }
}

}  // namespace

void add_calibrate_run(CLI::App& parent) {
  const auto arguments = std::make_shared<MeasureArguments>();
  CLI::App* command = parent.add_subcommand(
      "run", "Measures the kernels of a GPU of this machine, fits a profile to them and says how good it is");
  command
      ->add_option("--gpu", arguments->gpu,
                   "Number of the GPU as CUDA counts; with --dry-run also a built-in name or a YAML file")
      ->capture_default_str();
  command
      ->add_option("--provider", arguments->provider,
                   "Whose kernels: inferometer, or cudnn, of which only prefill attention is measured, in "
                   "files of its "
                   "own")
      ->capture_default_str();
  command->add_option("--budget", arguments->budget, "Time to spend, 10 s to 24 h: 2m, 5m, 30m, 90 s")
      ->capture_default_str();
  command->add_option(
      "--out", arguments->out,
      "Directory for records, profile.json and summary.txt; a run that was stopped goes on there when it is "
      "called again");
  command->add_flag("--dry-run", arguments->is_dry_run,
                    "Only print what would be measured, and how long it should take");
  command->add_flag("--quiet", arguments->is_quiet, "No progress bar");
  command->footer(
      "Ctrl-C ends the run early and keeps what was measured; the exit code is 130, and 1 where the GPU was "
      "lost.\nThe same command measures what is left; one with more time, further points. One run at a time "
      "writes to a\ndirectory, and all in it is of one GPU, driver and method.\n"
      "Example: inferometer calibrate run --budget 5m --out calibration-of-this-gpu");
  command->callback([arguments] { run_calibration(*arguments); });
}

}  // namespace inferometer
