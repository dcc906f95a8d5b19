#pragma once

// Carries out the evaluations of a study: asks it what it needs, hands that to an executor, writes answers
// into a journal, asks again. A study is a pure function of outcomes, so that its result is the same whatever
// the executor, the number of workers, the order of answers and interruptions.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/executor/executor.hpp"
#include "sim/study/outcome.hpp"
#include "sim/study/study_book.hpp"

namespace inferometer {

class KnownOutcomes {
 public:
  /// nullptr when it is not known.
  [[nodiscard]] const Outcome* find(const Evaluation& evaluation) const;
  void add(const Evaluation& evaluation, Outcome outcome);
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(outcomes_.size()); }

 private:
  std::map<Evaluation, Outcome> outcomes_;
};

/// Evaluations that a study needs next, of which none is known: all that it can name without seeing the
/// outcomes of one another. Empty: it has what it needs. Called again when answers came; what was wanted once
/// and is not known yet may be named again. Depends on nothing but `known`, which only grows.
using WantedEvaluations = std::function<std::vector<Evaluation>(const KnownOutcomes& known)>;

struct StudyProgress {
  std::int64_t done = 0;       ///< evaluations in all, those of an earlier run included
  std::int64_t in_flight = 0;  ///< asked for
};

struct StudyOptions {
  std::string journal;    ///< its path; "": none
  bool is_fresh = false;  ///< begin anew, whatever the journal has
  int jobs = 1;           ///< worker processes, >= 1
  /// Called some ten times a second; false: end now.
  std::function<bool(const StudyProgress&)> go_on;
};

struct StudyRun {
  KnownOutcomes known;
  bool is_complete = true;     ///< false: `go_on` ended it
  std::int64_t evaluated = 0;  ///< by this run
  std::int64_t recalled = 0;   ///< taken from the journal
};

/// Of an MPI job, rank 0 returns the run and the other ranks nothing, once it has ended. An evaluation whose
/// process died is tried once more. If that dies, too, it has an outcome with that error, which is not
/// written into the journal: the next run tries again. Throws ConfigError: a journal that cannot be written
/// or belongs to something else.
std::optional<StudyRun> run_study(const StudyBook& book, const WantedEvaluations& wanted,
                                  const StudyOptions& options);

}  // namespace inferometer
