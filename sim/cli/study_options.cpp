#include "sim/cli/study_options.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "sim/cli/interrupt_guard.hpp"
#include "sim/cli/plugin_option.hpp"
#include "sim/report/progress_bar.hpp"
#include "sim/report/text_layout.hpp"
#include "sim/study/executor/executor.hpp"

namespace inferometer {
namespace {

constexpr int kMostJobs = 1024;
constexpr const char* kJournal = "journal.jsonl";

int jobs_of(const StudyArguments& arguments) {
  if (arguments.jobs > 0) {
    return arguments.jobs;
  }
  return is_mpi_job() ? 1 : static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 1024U));
}

/// Of a study that goes on: what its journal knew at the start took no time, and is left out of rate and time
/// left.
class StudyProgressBar {
 public:
  StudyProgressBar(std::optional<std::int64_t> runs, bool is_shown)
      : bar_(std::cerr, is_shown && isatty(STDERR_FILENO) != 0), runs_(runs) {}

  void update(const StudyProgress& progress) {
    known_at_start_ = known_at_start_.value_or(progress.done);
    const std::int64_t before = *known_at_start_;
    const std::string doing =
        runs_ ? fmt::format("{} of {} runs", progress.done, *runs_) : fmt::format("{} runs", progress.done);
    bar_.update({elapsed_seconds(),
                 {},
                 doing,
                 progress.done - before,
                 runs_ ? std::optional(*runs_ - before) : std::nullopt,
                 "runs"});
  }

  void clear() { bar_.clear(); }

  [[nodiscard]] double elapsed_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  ProgressBar bar_;
  std::optional<std::int64_t> runs_;
  std::optional<std::int64_t> known_at_start_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string in_words(std::int64_t runs) {
  return grouped(runs) + (runs == 1 ? " run" : " runs");
}

}  // namespace

void StudyArguments::add_options(CLI::App& command) {
  command.add_option("STUDY", study, "Study file (YAML)")->required();
  command
      .add_option("--set", assignments,
                  "Change a key of the base scenario: engine.max_num_seqs=64; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--out", out, "Folder for results and journal; made where there is none")
      ->type_name("DIR")
      ->check(
          [](const std::string& folder) { return folder.empty() ? "expected a folder, found \"\"" : ""; });
  command
      .add_option("--jobs", jobs,
                  "Worker processes; by default one for each processor, in an MPI job one a rank")
      ->type_name("N")
      ->check(CLI::Range(1, kMostJobs));
  add_plugin_option(command);
  command.add_flag("--fresh", is_fresh, "Begin anew, whatever the folder's journal has");
  command.add_flag("--quiet", is_quiet, "No results on the terminal, no progress bar");
}

std::string study_folder(const StudyArguments& arguments, const std::string& command) {
  return arguments.out.empty() ? std::filesystem::path(arguments.study).stem().string() + "-" + command
                               : arguments.out;
}

std::optional<StudyRun> run_with_journal(const StudyBook& book, const WantedEvaluations& wanted,
                                         const StudyArguments& arguments, const std::string& folder,
                                         std::optional<std::int64_t> runs) {
  make_directory(folder);
  StudyOptions options;
  options.journal = (std::filesystem::path(folder) / kJournal).string();
  options.is_fresh = arguments.is_fresh;
  options.jobs = jobs_of(arguments);
  const InterruptGuard guard;
  StudyProgressBar bar(runs, !arguments.is_quiet);
  options.go_on = [&](const StudyProgress& progress) {
    bar.update(progress);
    return !InterruptGuard::flag();
  };
  std::optional<StudyRun> run = run_study(book, wanted, options);
  bar.clear();
  if (!run) {
    return run;
  }
  const std::string recalled =
      run->recalled > 0 ? fmt::format(", {} more known from {}", grouped(run->recalled), options.journal)
                        : "";
  if (!run->is_complete) {
    std::cerr << fmt::format(
        "interrupted: {} done{}; {} keeps them, and the same command goes on from there\n",
        in_words(run->evaluated), recalled, options.journal);
    throw CLI::RuntimeError(kExitInterrupted);
  }
  if (!arguments.is_quiet) {
    std::cerr << fmt::format("{} in {}{}\n", in_words(run->evaluated),
                             short_duration(1e3 * bar.elapsed_seconds()), recalled);
  }
  return run;
}

}  // namespace inferometer
