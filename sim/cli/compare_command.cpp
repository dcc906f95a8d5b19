// `inferometer compare STUDY`: which variant is better, and is the difference real.

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/study_options.hpp"
#include "sim/report/compare/compare_json.hpp"
#include "sim/report/compare/compare_page.hpp"
#include "sim/report/compare/compare_text.hpp"

namespace inferometer {
namespace {

void compare_variants(const StudyArguments& arguments) {
  const CompareStudy study = read_compare_study(arguments.study, arguments.assignments);
  const std::string folder = study_folder(arguments, "compare");
  const std::optional<StudyRun> run = run_with_journal(
      study.book, [&](const KnownOutcomes& known) { return wanted_runs(study, known); }, arguments, folder,
      study.runs());
  if (!run) {
    return;
  }
  const CompareReport report = make_compare_report(study, compare(study, run->known));
  const std::filesystem::path directory = folder;
  write_file(directory / "compare.json", compare_json(report));
  write_file(directory / "report.html", html_text(compare_page(report)));
  if (!arguments.is_quiet) {
    std::cout << compare_text(report, isatty(STDOUT_FILENO) != 0)
              << "\nwritten: " << (directory / "report.html").string() << " and "
              << (directory / "compare.json").string() << "\n";
  }
}

}  // namespace

void add_compare_command(CLI::App& app) {
  const auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command =
      app.add_subcommand("compare", "Which variant of a scenario is better, and is the difference real");
  arguments->add_options(*command);
  command->footer(
      "Writes compare.json, report.html and journal.jsonl to DIR, by default <name of the study>-compare in "
      "the working directory. Ctrl-C ends it early (exit code 130): runs that are done stay in the journal, "
      "and the same command goes on from there. Under mpirun or Slurm the ranks share the runs.\n"
      "`inferometer describe compare` explains every key of a study.");
  command->callback([arguments] { compare_variants(*arguments); });
}

}  // namespace inferometer
