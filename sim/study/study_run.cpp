#include "sim/study/study_run.hpp"

#include <chrono>
#include <memory>
#include <set>
#include <utility>

#include "sim/study/executor/journal.hpp"

namespace inferometer {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(100);

/// What a worker does with an evaluation, which came as text.
std::string answer(const StudyBook& book, bool with_curves, const std::string& question) {
  const Evaluation evaluation = evaluation_from(question);
  std::optional<Scenario> scenario;
  try {
    scenario = book.scenario(evaluation);
  } catch (const InputError& mistake) {
    Outcome outcome;
    outcome.error = mistake.what();
    return to_text(outcome);
  }
  const auto work = [&] { return to_text(evaluate(*scenario, with_curves)); };
  const bool needs_own_process = scenario->nodes && scenario->nodes->network == NetworkModel::simgrid;
  return needs_own_process ? in_own_process(work) : work();
}

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
      if (std::optional<Answer> answer = executor_.wait(kBetweenLooks)) {
        take(std::move(*answer));
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

  /// Until nothing is wanted that the journal knows.
  void ask() {
    bool recalled_some = true;
    while (recalled_some) {
      recalled_some = false;
      for (Evaluation& evaluation : wanted_(run_.known)) {
        recalled_some = recall(evaluation) || recalled_some;
        if (run_.known.find(evaluation) == nullptr && asked_.insert(evaluation).second) {
          executor_.submit(next_ticket_, to_text(evaluation));
          in_flight_.emplace(next_ticket_++, std::move(evaluation));
        }
      }
    }
  }

  /// True when the journal told something new.
  bool recall(const Evaluation& evaluation) {
    if (!journal_ || run_.known.find(evaluation) != nullptr) {
      return false;
    }
    const std::string* const text = journal_->find(keyed(evaluation));
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
    ++run_.evaluated;
    if (!answer.failure.empty()) {
      Outcome outcome;
      outcome.error = std::move(answer.failure);
      run_.known.add(evaluation, std::move(outcome));
      return;
    }
    if (journal_) {
      journal_->append(keyed(evaluation), answer.text);
    }
    run_.known.add(evaluation, outcome_from(answer.text));
  }

  /// What was kept with curves serves those who want none, not the other way round.
  std::string keyed(const Evaluation& evaluation) const {
    return book_.key(evaluation) + (options_.with_curves ? " curves" : "");
  }

  const StudyBook& book_;
  const WantedEvaluations& wanted_;
  const StudyOptions& options_;
  Executor& executor_;
  std::optional<Journal> journal_;
  std::set<Evaluation> asked_;
  std::map<std::int64_t, Evaluation> in_flight_;  // by ticket
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
  std::optional<StudyRun> run;
  with_executor(
      how, [&](const std::string& question) { return answer(book, options.with_curves, question); },
      [&](Executor& executor) { run = Conversation(book, wanted, options, executor).run(); });
  return run;
}

}  // namespace inferometer
