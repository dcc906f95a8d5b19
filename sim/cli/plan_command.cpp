// `inferometer plan STUDY`: what to buy, what it sustains, why not the others.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/study_options.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/plan/plan_json.hpp"
#include "sim/report/plan/plan_page.hpp"
#include "sim/report/plan/plan_provenance.hpp"
#include "sim/report/plan/plan_text.hpp"
#include "sim/study/plan/plan_search.hpp"

namespace inferometer {
namespace {

constexpr int kExitNoAnswer = 3;

/// Made when it is first asked: of an MPI job, only the rank that leads needs bounds of all shapes.
class LazySearch {
 public:
  LazySearch(const PlanSpec& spec, const PlanSpace& space) : spec_(spec), space_(space) {}

  const PlanSearch& get() {
    if (!search_) {
      const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
      facts_ = shape_facts(spec_, space_, threads);
      search_.emplace(spec_, space_, facts_);
    }
    return *search_;
  }

 private:
  const PlanSpec& spec_;
  const PlanSpace& space_;
  std::vector<ShapeFacts> facts_;
  std::optional<PlanSearch> search_;
};

void plan(const StudyArguments& arguments) {
  const PlanSpec spec = read_plan(arguments.study, arguments.assignments);
  const PlanSpace space = make_plan_space(spec);
  const std::string folder = study_folder(arguments, "plan");
  LazySearch search(spec, space);
  const std::optional<StudyRun> run = run_with_journal(
      space.book, [&](const KnownOutcomes& known) { return search.get().wanted(known); }, arguments, folder,
      std::nullopt);
  if (!run) {
    return;
  }
  const PlanResult result = search.get().result(run->known);
  const StudyProvenance provenance = plan_provenance(spec, space);
  const std::filesystem::path directory = folder;
  write_file(directory / "plan.json", plan_json(result, provenance));
  write_file(directory / "report.html", html_text(plan_page(result, provenance)));
  if (!arguments.is_quiet) {
    std::cout << plan_text(result, provenance, isatty(STDOUT_FILENO) != 0)
              << "\nwritten: " << (directory / "report.html").string() << " and "
              << (directory / "plan.json").string() << "\n";
  }
  if (!result.best) {
    throw CLI::RuntimeError(kExitNoAnswer);
  }
}

}  // namespace

void add_plan_command(CLI::App& app) {
  const auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command = app.add_subcommand(
      "plan", "What to buy for this traffic and SLO, what it sustains, why not the others");
  arguments->add_options(*command);
  command->footer(
      "Writes plan.json, report.html and journal.jsonl to DIR, by default <name of the study>-plan in the "
      "working directory. Exit code 3: no candidate meets the SLO. Ctrl-C ends it early (exit code 130): "
      "runs "
      "that are done stay in the journal, and the same command goes on from there. Under mpirun or Slurm the "
      "ranks share the runs.\n"
      "`inferometer describe plan` explains every key of a study.");
  command->callback([arguments] { plan(*arguments); });
}

}  // namespace inferometer
