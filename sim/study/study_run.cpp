#include "sim/study/study_run.hpp"

#include <chrono>
#include <memory>
#include <set>
#include <utility>

#include "sim/study/executor/journal.hpp"
#include "sim/study/executor/own_process.hpp"

namespace inferometer {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(100);

/// Of an evaluation whose process died: a system that is short of memory ends one, and the next may live.
/// What dies twice would die again.
constexpr int kMostTries = 2;

/// What a worker does: answers evaluations, which come as text.
class Evaluations {
 public:
  explicit Evaluations(const StudyBook& book) : book_(book) {}

  std::string answer(const std::string& question) {
    const Evaluation evaluation = evaluation_from(question);
    try {
      const Scenario scenario = book_.scenario(evaluation);
      if (scenario.nodes && scenario.nodes->network == NetworkModel::simgrid) {
        return in_own_process([&] { return to_text(evaluate(scenario)); });
      }
      return to_text(evaluate(scenario, deployment(evaluation.study_case, scenario)));
    } catch (const InputError& mistake) {
      return to_text(failed_outcome(mistake.what()));
    }
  }

 private:
  /// Tables of prices take longer than many a run; a case comes with several seeds and loads.
  const Deployment& deployment(std::int64_t study_case, const Scenario& scenario) {
    constexpr std::size_t kMostKept = 16;
    const auto found = kept_.find(study_case);
    Deployment made = make_deployment(scenario, found == kept_.end() ? nullptr : &found->second);
    if (found == kept_.end() && kept_.size() == kMostKept) {
      kept_.clear();
    }
    return kept_.insert_or_assign(study_case, std::move(made)).first->second;
  }

  const StudyBook& book_;
  std::map<std::int64_t, Deployment> kept_;  // the last one of a case
};

class Conversation {
 public:
  Conversation(const StudyBook& book, const WantedEvaluations& wanted, const StudyOptions& options,
               Executor& executor)
      : book_(book), wanted_(wanted), options_(options), executor_(executor) {
    if (!options.journal.empty()) {
      journal_.emplace(options.journal, options.is_fresh);
    }
  }

  StudyRun run() {
    ask();
    while (!in_flight_.empty() && go_on()) {
      if (take_all()) {
        ask();
      }
    }
    run_.is_complete = in_flight_.empty();
    return std::move(run_);
  }

 private:
  bool go_on() const {
    return !options_.go_on ||
           options_.go_on({run_.known.size(), static_cast<std::int64_t>(in_flight_.size())});
  }

  /// All answers that are there, for as long as a look may wait, so that a study whose questions take long to
  /// work out is not asked for each. False when none came.
  bool take_all() {
    const auto deadline = std::chrono::steady_clock::now() + kBetweenLooks;
    bool has_come = false;
    while (std::optional<Answer> answer =
               executor_.wait(has_come ? std::chrono::milliseconds(0) : kBetweenLooks)) {
      take(std::move(*answer));
      has_come = true;
      if (std::chrono::steady_clock::now() >= deadline) {
        break;
      }
    }
    return has_come;
  }

  /// Until nothing is wanted that the journal knows.
  void ask() {
    bool recalled_some = true;
    while (recalled_some) {
      recalled_some = false;
      for (Evaluation& evaluation : wanted_(run_.known)) {
        if (!asked_.insert(evaluation).second) {
          continue;
        }
        if (recall(evaluation)) {
          recalled_some = true;
          continue;
        }
        submit(std::move(evaluation));
      }
    }
  }

  void submit(Evaluation evaluation) {
    executor_.submit(next_ticket_, to_text(evaluation));
    in_flight_.emplace(next_ticket_++, std::move(evaluation));
  }

  /// True when the journal knows it.
  bool recall(const Evaluation& evaluation) {
    if (!journal_) {
      return false;
    }
    const std::string* const text = journal_->find(book_.key(evaluation));
    if (text == nullptr) {
      return false;
    }
    run_.known.add(evaluation, outcome_from(*text));
    ++run_.recalled;
    return true;
  }

  void take(Answer answer) {
    const auto found = in_flight_.find(answer.ticket);
    const Evaluation evaluation = std::move(found->second);
    in_flight_.erase(found);
    if (!answer.failure.empty() && ++failures_[evaluation] < kMostTries) {
      submit(evaluation);
      return;
    }
    ++run_.evaluated;
    if (!answer.failure.empty()) {
      run_.known.add(evaluation, failed_outcome(std::move(answer.failure)));
      return;
    }
    if (journal_) {
      journal_->append(book_.key(evaluation), answer.text);
    }
    run_.known.add(evaluation, outcome_from(answer.text));
  }

  const StudyBook& book_;
  const WantedEvaluations& wanted_;
  const StudyOptions& options_;
  Executor& executor_;
  std::optional<Journal> journal_;
  std::set<Evaluation> asked_;
  std::map<std::int64_t, Evaluation> in_flight_;  // by ticket
  std::map<Evaluation, int> failures_;
  std::int64_t next_ticket_ = 0;
  StudyRun run_;
};

}  // namespace

const Outcome* KnownOutcomes::find(const Evaluation& evaluation) const {
  const auto found = outcomes_.find(evaluation);
  return found == outcomes_.end() ? nullptr : &found->second;
}

void KnownOutcomes::add(const Evaluation& evaluation, Outcome outcome) {
  outcomes_.insert_or_assign(evaluation, std::move(outcome));
}

std::optional<StudyRun> run_study(const StudyBook& book, const WantedEvaluations& wanted,
                                  const StudyOptions& options) {
  ExecutorOptions how;
  how.jobs = options.jobs;
  how.fingerprint = book.fingerprint();
  Evaluations evaluations(book);
  std::optional<StudyRun> run;
  with_executor(
      how, [&](const std::string& question) { return evaluations.answer(question); },
      [&](Executor& executor) { run = Conversation(book, wanted, options, executor).run(); });
  return run;
}

}  // namespace inferometer
