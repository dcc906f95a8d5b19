#include "sim/report/run_report.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

Report report_of_run(const std::string& sections, bool keep_records) {
  const Scenario scenario =
      load_scenario_text("model: llama-3-8b\nhardware: {gpu: h100-sxm}\n" + sections, "a.yaml");
  const Deployment deployment = make_deployment(scenario);
  MetricsRecorder recorder = make_recorder(scenario, keep_records);
  Simulation simulation = make_simulation(scenario, deployment, recorder);
  simulation.run();
  return make_report(scenario, deployment, simulation, recorder, false);
}

Report report_of(const std::string& metrics, bool keep_records) {
  return report_of_run(
      "slo: {ttft: 100 ms}\nworkload: {preset: azure-conversation, rate: 10 req/s, requests: "
      "2000}\nmetrics: " +
          metrics + "\n",
      keep_records);
}

bool notes_a_sketch(const Report& report) {
  return std::any_of(report.notes.begin(), report.notes.end(),
                     [](const std::string& note) { return note.find("sketch") != std::string::npos; });
}

TEST_CASE("a scenario chooses exact percentiles or a sketch, and the report says when it is a sketch") {
  const Report exact = report_of("{percentiles: exact}", false);
  const Report sketch = report_of("{percentiles: sketch}", false);
  CHECK_FALSE(notes_a_sketch(report_of("{definitions: vllm}", false)));
  CHECK_FALSE(notes_a_sketch(exact));
  CHECK(notes_a_sketch(sketch));
  for (const auto metric :
       {&Summary::ttft, &Summary::tpot, &Summary::itl, &Summary::e2el, &Summary::queue_delay}) {
    const DurationStatistics& a = *(exact.summary.*metric);
    const DurationStatistics& b = *(sketch.summary.*metric);
    CHECK(b.p50_ms == Approx(a.p50_ms).epsilon(DurationDistribution::kSketchError));
    CHECK(b.p99_ms == Approx(a.p99_ms).epsilon(DurationDistribution::kSketchError));
    CHECK(b.mean_ms == a.mean_ms);
    CHECK(b.std_ms == a.std_ms);
    CHECK(b.max_ms == a.max_ms);
  }
  CHECK(sketch.summary.request_goodput == exact.summary.request_goodput);
  CHECK(sketch.summary.stability.load == exact.summary.stability.load);
}

TEST_CASE("records of requests change no result") {
  const Report with = report_of("{percentiles: sketch}", true);
  const Report without = report_of("{percentiles: sketch}", false);
  CHECK(with.summary.ttft->p99_ms == without.summary.ttft->p99_ms);
  CHECK(with.summary.goodput_share == without.summary.goodput_share);
  CHECK(with.summary.stability.load == without.summary.stability.load);
  CHECK(with.notes == without.notes);
}

// A request that finds an empty engine: what it takes there, and the front end before. Of one client without
// time to think, requests follow each other as answers end, front end included.
TEST_CASE("a front end delays answers by its latency, and clients with them") {
  const auto of_latency = [](const std::string& latency) {
    return report_of_run(
        "cost_model: {frontend_latency: " + latency +
            "}\nworkload: {generator: closed_loop, clients: 1, requests: 10, prompt: {distribution: "
            "fixed, tokens: 100}, output: {distribution: fixed, tokens: 20}}\n",
        false);
  };
  const Summary none = of_latency("0 s").summary;
  const Summary some = of_latency("3 ms").summary;
  CHECK(some.ttft->mean_ms == Approx(none.ttft->mean_ms + 3).epsilon(1e-12));
  CHECK(some.e2el->max_ms == Approx(none.e2el->max_ms + 3).epsilon(1e-12));
  CHECK(some.itl->mean_ms == none.itl->mean_ms);
  CHECK(1 / some.request_throughput == Approx(1 / none.request_throughput + 0.003).epsilon(1e-9));
}

// Turns of 100 and 20 tokens: 120, 240, 360, so that three of four fit into 400.
TEST_CASE("sessions that end early for want of room are told of") {
  const auto of_sessions = [](const std::string& sessions) {
    return report_of_run(
        "workload: {generator: constant, rate: 10 req/s, requests: 120, prompt: {distribution: fixed, "
        "tokens: 100}, output: {distribution: fixed, tokens: 20}, sessions: " +
            sessions + "}\n",
        false);
  };
  CHECK(of_sessions("{turns: 4, max_context: 400}").notes.back() ==
        "40 of 40 sessions had fewer turns than drawn: the next one would have come to more tokens than "
        "workload.sessions.max_context");
  const Report in_full = of_sessions("{turns: 4, max_context: 480}");
  CHECK(std::none_of(in_full.notes.begin(), in_full.notes.end(),
                     [](const std::string& note) { return note.find("sessions") != std::string::npos; }));
  // Each turn finds what came before it; the estimate of the capacity does not.
  CHECK(in_full.summary.stability.is_without_caches);
  CHECK_FALSE(of_sessions("{turns: 1}").summary.stability.is_without_caches);
}

}  // namespace
}  // namespace inferometer
