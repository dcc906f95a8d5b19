#include "sim/study/compare/compare_study.hpp"

#include <string>

#include "sim/study/seed_use.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/study_compare/study_text.hpp"

namespace inferometer {
namespace {

using testing::faults_of;
using testing::small_base;
using testing::study_from;

const std::string kTwo = "variants: {a: {engine.policy: orca}, b: {engine: {policy: continuous}}}\n";

TEST_CASE("each load and variant is a case of its own under the seeds that follow the base's") {
  const test::TemporaryDirectory folder;
  const CompareStudy study = study_from(
      folder, small_base() + "rates: [2 req/s, 240 req/min]\nseeds: 3\nbaseline: b\n" + kTwo, {"seed=7"});
  REQUIRE(study.loads.size() == 2);
  CHECK(study.variants == std::vector<std::string>{"b", "a"});
  CHECK(study.seeds == std::vector<std::int64_t>{7, 8, 9});
  CHECK(study.runs() == 12);
  CHECK(study.scenario(1, 0).engine().text("policy") == "continuous");
  CHECK(study.scenario(1, 1).engine().text("policy") == "orca");
  CHECK(study.scenario(0, 1).workload().rate("rate").count() == Approx(2));
  CHECK(study.scenario(1, 1).workload().rate("rate").count() == Approx(4));
  CHECK(study.loads[0].in_words == "at 2 req/s");
}

TEST_CASE("what is wanted is what is not known and whole seeds come first") {
  const test::TemporaryDirectory folder;
  const CompareStudy study = study_from(folder, small_base() + "seeds: 2\n" + kTwo);
  KnownOutcomes known;
  const std::vector<Evaluation> all = wanted_runs(study, known);
  REQUIRE(all.size() == 4);
  CHECK(all[0].seed == 1);
  CHECK(all[1].seed == 1);
  CHECK(all[2].seed == 2);
  known.add(all[1], Outcome());
  CHECK(wanted_runs(study, known) == std::vector<Evaluation>{all[0], all[2], all[3]});
}

TEST_CASE("seeds matter to random traffic and random routers only") {
  const std::string fixed =
      "prompt: {distribution: fixed, tokens: 100}, output: {distribution: fixed, tokens: 10}, requests: 20}";
  const auto is_seeded = [](const std::string& workload, const std::string& variants) {
    const test::TemporaryDirectory folder;
    static_cast<void>(folder.write("own_times.csv",
                                   "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-01-01 00:00:00.0,10,5\n"
                                   "2024-01-01 00:00:01.0,20,5\n"));
    static_cast<void>(folder.write("lengths.csv", "input_length,output_length\n10,5\n20,5\n"));
    return study_from(folder, small_base(workload) + variants).loads.front().is_seeded;
  };
  CHECK(is_seeded("{preset: azure-conversation, rate: 8 req/s}", kTwo));
  CHECK(is_seeded("{generator: poisson, rate: 8 req/s, " + fixed, kTwo));
  CHECK_FALSE(is_seeded("{generator: constant, rate: 8 req/s, " + fixed, kTwo));
  CHECK_FALSE(is_seeded("{generator: closed_loop, clients: 4, " + fixed, kTwo));
  CHECK(is_seeded("{generator: closed_loop, clients: 4, think_time: 1 s, " + fixed, kTwo));
  CHECK_FALSE(is_seeded("{trace: own_times.csv}", kTwo));
  CHECK(is_seeded("{trace: lengths.csv, rate: 2 req/s}", kTwo));
  const auto routed = [&](const std::string& router) {
    return is_seeded(
        "{trace: own_times.csv}",
        "variants: {a: {}, b: {cluster: {pools: {mixed: {replicas: 2}}, router: " + router + "}}}\n");
  };
  CHECK_FALSE(routed("round_robin"));
  CHECK(routed("random"));
}

TEST_CASE("one run stands for all seeds where none of them matters") {
  const test::TemporaryDirectory folder;
  static_cast<void>(
      folder.write("t.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-01-01 00:00:00.0,10,5\n"));
  const CompareStudy study = study_from(folder, small_base("{trace: t.csv}") + "seeds: 5\n" + kTwo);
  CHECK(study.runs() == 2);
  CHECK(study.seeds_of(0) == std::vector<std::int64_t>{1});
}

TEST_CASE("traces are named from the study's folder") {
  const test::TemporaryDirectory folder;
  static_cast<void>(
      folder.write("t.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-01-01 00:00:00.0,10,5\n"));
  const CompareStudy study = study_from(folder, small_base() + "traces: [t.csv]\n" + kTwo);
  CHECK(study.loads.front().in_words == "under t.csv");
  CHECK(study.scenario(0, 0).trace_directory() + "/" + study.scenario(0, 0).workload().text("trace") ==
        folder.file("t.csv"));
}

TEST_CASE("all mistakes of a study are told at once and those of its scenarios once each") {
  check_says(faults_of(small_base() +
                       "metrics: [p99_tfft_ms]\nbaseline: aa\nrates: [1 req/s]\ntraces: [t.csv]\n" + kTwo),
             {"study.yaml:2:11: metrics: \"p99_tfft_ms\" is not known; did you mean \"p99_ttft_ms\"?",
              "study.yaml:3:11: baseline: there is no variant \"aa\"; did you mean \"a\"?",
              "study.yaml:5:9: expected rates or traces, found both"});
  check_says(faults_of(small_base() + "rates: [2 req/s, 120 req/min]\n" + kTwo),
             {"study.yaml:2:18: ", "stands there twice"});
  const std::string faults =
      faults_of(small_base() + "rates: [1 req/s, 2 req/s]\nvariants: {a: {}, b: {engine.polcy: orca}}\n");
  check_says(faults, {"study.yaml:3:23: ", "did you mean \"policy\"?"});
  CHECK(faults.find("polcy") == faults.rfind("polcy"));
}

TEST_CASE("what a study sets itself cannot be changed by a variant or the command line") {
  check_says(faults_of(small_base() + "rates: [1 req/s]\nvariants: {a: {}, b: {workload.rate: 3 req/s}}\n"),
             {"workload.rate cannot be changed here: the rates of the study set it"});
  check_says(faults_of(small_base() + "variants: {a: {}, b: {seed: 3}}\n"), {"seed cannot be changed here"});
  check_says(faults_of(small_base() + "rates: [1 req/s]\n" + kTwo, {"workload.rate=3 req/s"}),
             {"--set workload.rate=3 req/s", "cannot be changed here"});
  CHECK(faults_of(small_base() + "variants: {a: {}, b: {workload.rate: 3 req/s}}\n").empty());
}

TEST_CASE("rates of traffic that has none are refused where they stand") {
  const std::string closed = small_base("{generator: closed_loop, clients: 4, lengths: azure-conversation}");
  check_says(faults_of(closed + "rates: [1 req/s]\n" + kTwo),
             {"study.yaml:2:8: rates: clients of a closed loop"});
}

}  // namespace
}  // namespace inferometer
