#pragma once

// What the commands that run many evaluations have in common: options, the folder of results with its
// journal, progress, Ctrl-C.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/study_run.hpp"

namespace CLI {
class App;
}

namespace inferometer {

struct StudyArguments {
  std::string study;
  std::vector<std::string> assignments;
  std::string out;  ///< "": study_folder() finds one
  int jobs = 0;     ///< worker processes; 0: as many as there are processors, in an MPI job one a rank
  bool is_fresh = false;
  bool is_quiet = false;

  /// STUDY, --set, --out, --jobs, --plugin, --fresh, --quiet, and what Ctrl-C does as a footer.
  void add_options(CLI::App& command);
};

/// Where results go: --out, or in the working directory "<name of the study>-<command>". There, and not
/// beside the study, since studies are shared and read-only as often as not, and one is run with many --set.
std::string study_folder(const StudyArguments& arguments, const std::string& command);

/// Runs the study with a journal in its folder, which it makes, and a progress bar on stderr. `runs`: in all,
/// where that is known beforehand. Nothing on the ranks of an MPI job that have answered and are done. Throws
/// CLI::RuntimeError(kExitInterrupted) once Ctrl-C ended it, having said how to go on.
std::optional<StudyRun> run_with_journal(const StudyBook& book, const WantedEvaluations& wanted,
                                         const StudyArguments& arguments, const std::string& folder,
                                         std::optional<std::int64_t> runs);

}  // namespace inferometer
