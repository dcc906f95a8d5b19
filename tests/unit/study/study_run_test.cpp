#include "sim/study/study_run.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer {
namespace {

StudyBook book_of(const std::string& change = "{}") {
  StudyCase only;
  only.name = "only";
  only.layers = {{"variant only", read_yaml_text(change, "study.yaml"), {}}};
  return StudyBook(
      {read_yaml_text("{model: llama-3-8b, hardware: {gpu: h100-sxm}, workload: {preset: sharegpt, "
                      "rate: 4 req/s, requests: 10}}",
                      "study.yaml"),
       "study.yaml"},
      {only});
}

/// Seeds 1, 2 and 3, then, once these are known, 4.
std::vector<Evaluation> four_seeds(const KnownOutcomes& known) {
  std::vector<Evaluation> wanted;
  for (const std::int64_t seed : {1, 2, 3}) {
    if (known.find({0, {}, seed}) == nullptr) {
      wanted.push_back({0, {}, seed});
    }
  }
  const Evaluation last{0, {}, 4};
  if (wanted.empty() && known.find(last) == nullptr) {
    wanted.push_back(last);
  }
  return wanted;
}

StudyOptions with_journal(const test::TemporaryDirectory& folder) {
  StudyOptions options;
  options.journal = folder.file("journal.jsonl");
  options.jobs = 2;
  return options;
}

TEST_CASE("a study that is run again takes from its journal what it asks for") {
  const test::TemporaryDirectory folder;
  const StudyBook book = book_of();
  const std::optional<StudyRun> first = run_study(book, four_seeds, with_journal(folder));
  REQUIRE(first);
  CHECK(first->is_complete);
  CHECK(first->evaluated == 4);
  CHECK(first->recalled == 0);
  const std::optional<StudyRun> second = run_study(book, four_seeds, with_journal(folder));
  REQUIRE(second);
  CHECK(second->evaluated == 0);
  CHECK(second->recalled == 4);
  for (const std::int64_t seed : {1, 2, 3, 4}) {
    REQUIRE(second->known.find({0, {}, seed}) != nullptr);
    CHECK(to_text(*second->known.find({0, {}, seed})) == to_text(*first->known.find({0, {}, seed})));
  }
  StudyOptions fresh = with_journal(folder);
  fresh.is_fresh = true;
  CHECK(run_study(book, four_seeds, fresh)->evaluated == 4);
}

TEST_CASE("a journal says nothing of a case that has changed") {
  const test::TemporaryDirectory folder;
  run_study(book_of(), four_seeds, with_journal(folder));
  const std::optional<StudyRun> changed =
      run_study(book_of("{engine: {max_num_seqs: 2}}"), four_seeds, with_journal(folder));
  CHECK(changed->evaluated == 4);
  CHECK(changed->recalled == 0);
}

TEST_CASE("a study ends when it is told to") {
  StudyOptions options;
  options.go_on = [](const StudyProgress&) { return false; };
  const std::optional<StudyRun> run = run_study(book_of(), four_seeds, options);
  REQUIRE(run);
  CHECK(!run->is_complete);
}

TEST_CASE("what an evaluation gets wrong is its outcome") {
  const std::optional<StudyRun> run =
      run_study(book_of(),
                [](const KnownOutcomes& known) {
                  const Evaluation wrong{0, {"engine.max_num_seqs=0"}, 1};
                  return known.find(wrong) == nullptr ? std::vector{wrong} : std::vector<Evaluation>{};
                },
                {});
  REQUIRE(run);
  const Outcome* const outcome = run->known.find({0, {"engine.max_num_seqs=0"}, 1});
  REQUIRE(outcome != nullptr);
  CHECK(outcome->error.find("max_num_seqs") != std::string::npos);
}

}  // namespace
}  // namespace inferometer
