// The page of a run: what it says is what results.json says, and every odd case has its sentence.

#include "sim/report/run/run_page.hpp"

#include <array>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/report/results_json.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/report_run/page_of_run.hpp"

namespace inferometer::testing {
namespace {

const std::string kOneReplica =
    "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nslo: {ttft_p99: 500 ms, itl_p99: 50 ms, e2el: 20 s}\n";
const std::string kChat = "workload: {preset: azure-conversation, rate: 10 req/s, requests: 300}\n";
const std::string kSplit =
    "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nengine: {policy: disaggregated, system: vllm-nixl}\n"
    "cluster: {pools: {prefill: {replicas: 1}, decode: {replicas: 2, gpu: a100-80gb-sxm}}, network: {model: "
    "ideal}}\n";

/// The number at a path of results.json: "slo.0.value".
nlohmann::json at_path(const nlohmann::json& results, const std::string& path) {
  std::string pointer = "/" + path;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  const nlohmann::json::json_pointer place(pointer);
  return results.contains(place) ? results.at(place) : nlohmann::json();
}

/// Compares every number of the page with the file; returns the fields.
std::set<std::string> check_numbers(const RunWithCharts& run) {
  const nlohmann::json results = nlohmann::json::parse(results_json(run.report));
  std::set<std::string> fields;
  for (const ShownNumber& shown : numbers_of(run.page())) {
    INFO(shown.number.field << " shown as " << shown.text);
    const nlohmann::json value = at_path(results, shown.number.field);
    REQUIRE(value.is_number());
    CHECK(value.get<double>() == shown.number.value);
    fields.insert(shown.number.field);
  }
  return fields;
}

TEST_CASE("the page of a replica shows the figures of results.json") {
  const RunWithCharts run = run_with_charts(
      kOneReplica + "workload: {preset: azure-conversation, rate: 10 req/s, requests: 2000}\n");
  CHECK(first_fault(run.page()) == "");
  const std::set<std::string> fields = check_numbers(run);
  for (const char* field : {"metrics.request_throughput",
                            "metrics.output_throughput",
                            "metrics.total_token_throughput",
                            "metrics.p99_ttft_ms",
                            "metrics.mean_itl_ms",
                            "metrics.p50_tpot_ms",
                            "metrics.max_e2el_ms",
                            "metrics.p95_queue_delay_ms",
                            "requests.goodput_share",
                            "slo.0.value",
                            "slo.1.limit",
                            "stability.load_share",
                            "time_split.compute",
                            "time_split.latency",
                            "steps.decode.mbu_share",
                            "steps.mixed.busy_s",
                            "engine.kv_held_blocks.mean_busy",
                            "engine.waiting_requests.peak",
                            "money.price_dollars_per_hour",
                            "money.output_dollars_per_million_tokens",
                            "money.total_dollars_per_million_tokens",
                            "energy.energy_joules",
                            "energy.joules_per_output_token",
                            "inputs.0.size_bytes"}) {
    INFO(field);
    CHECK(fields.contains(field));
  }
}

TEST_CASE("the page of a cluster shows pools and transfers and links") {
  const RunWithCharts run = run_with_charts(kSplit + kChat);
  const Page page = run.page();
  CHECK(first_fault(page) == "");
  const std::set<std::string> fields = check_numbers(run);
  for (const char* field :
       {"pools.0.time_split.compute", "pools.1.steps.decode.mfu_share", "pools.1.replicas",
        "pools.0.money.cost_dollars", "pools.1.energy.energy_joules", "cluster.transfers.count",
        "cluster.transfers.p99_handover_ms", "links.0.utilization_share"}) {
    INFO(field);
    CHECK(fields.contains(field));
  }
  const std::vector<Chart> charts = all_of<Chart>(page);
  for (const char* id : {"roofline-prefill", "roofline-decode", "kv-timeline", "time-split"}) {
    INFO(id);
    CHECK(chart_of(charts, id) != nullptr);
  }
  CHECK(says(page, "No replica started, drained, failed or moved"));
}

TEST_CASE("charts of a replica show its limits and its roofs") {
  const std::vector<Chart> charts = all_of<Chart>(run_with_charts(kOneReplica + kChat).page());
  const Chart* ttft = chart_of(charts, "ttft-cdf");
  REQUIRE(ttft != nullptr);
  CHECK(ttft->x.is_log);
  REQUIRE(ttft->lines.size() == 1);  // the limit of each request follows from the target, and is the same
  CHECK(ttft->lines[0].at == 500);
  CHECK(ttft->lines[0].is_vertical);
  CHECK(ttft->series[0].points.back().y == 100);
  const Chart* whole = chart_of(charts, "e2el-cdf");
  REQUIRE(whole != nullptr);
  REQUIRE(whole->lines.size() == 1);
  CHECK(whole->lines[0].name == "limit of each request 20.0 s");
  REQUIRE(chart_of(charts, "gaps-cdf") != nullptr);
  CHECK(chart_of(charts, "gaps-cdf")->lines.size() == 1);
  CHECK(chart_of(charts, "tpot-cdf")->lines.empty());

  // H100 SXM: 989 TFLOP/s in bf16, 3.35 TB/s; they meet at 295.
  const Chart* roofline = chart_of(charts, "roofline");
  REQUIRE(roofline != nullptr);
  REQUIRE(roofline->lines.size() == 1);
  CHECK(roofline->lines[0].at == Approx(989.0 / 3.35));
  double share = 0;
  for (const ChartSeries& series : roofline->series) {
    for (const ChartPoint& point : series.points) {
      share += point.weight;
      const double roof = std::min(989.0, 3.35 * point.x);
      CHECK(point.y <= roof * 1.0001);
    }
  }
  CHECK(share == Approx(1));
}

TEST_CASE("fp8 has a roof of its own where it is served") {
  const std::vector<Chart> charts =
      all_of<Chart>(run_with_charts(kOneReplica + "engine: {quantization: fp8}\n" + kChat).page());
  const std::vector<ChartSeries>& series = chart_of(charts, "roofline")->series;
  CHECK(std::any_of(series.begin(), series.end(),
                    [](const ChartSeries& one) { return one.is_line && one.name.starts_with("fp8"); }));
}

TEST_CASE("limits that are met and missed stand in the answer") {
  const Page met = run_with_charts(kOneReplica + kChat).page();
  CHECK(answers(met, "All limits are met", Tone::good));
  const Page missed =
      run_with_charts("model: llama-3-8b\nhardware: {gpu: h100-sxm}\nslo: {ttft_p99: 1 ms}\n" + kChat).page();
  CHECK(answers(missed, "Limits missed: ttft_p99", Tone::bad));
  const Page none = run_with_charts("model: llama-3-8b\nhardware: {gpu: h100-sxm}\n" + kChat).page();
  CHECK(answers(none, "sets no limits", Tone::plain));
}

TEST_CASE("an unstable queue is told before all else that depends on it") {
  const RunWithCharts run = run_with_charts(
      kOneReplica + "workload: {preset: azure-conversation, rate: 60 req/s, requests: 1500}\n");
  const Page page = run.page();
  CHECK(first_fault(page) == "");
  CHECK(answers(page, "Queue: unstable", Tone::bad));
  CHECK(says(page, "No steady state"));
  CHECK(says(page, "At overload every replica is full"));
}

TEST_CASE("a run that was cut off says so and shows what was done") {
  const RunWithCharts run = run_with_charts(kOneReplica + kChat, 400);
  REQUIRE(run.report.summary.partial);
  CHECK(first_fault(run.page()) == "");
  CHECK(answers(run.page(), "Partial: the run was interrupted", Tone::bad));
  check_numbers(run);
}

TEST_CASE("a run cut off before anything finished has a sentence for everything") {
  for (const std::int64_t events : {0, 1}) {
    const RunWithCharts run = run_with_charts(kOneReplica + kChat, events);
    const Page page = run.page();
    CHECK(first_fault(page) == "");
    CHECK(says(page, "No step was run to its end, so there is nothing to show over time."));
    CHECK(says(page, "No step was run to its end, so none lies on the roofline."));
    CHECK(says(page, "No request finished, so none has a latency."));
    check_numbers(run);
  }
  const Page empty = run_with_charts(kOneReplica + kChat, 0).page();
  CHECK(answers(empty, "No request arrived", Tone::warning));
  CHECK(says(empty, "is the trace empty, or its window too narrow?"));
  CHECK_FALSE(says(empty, "?."));
}

TEST_CASE("requests that were all turned away") {
  const RunWithCharts run = run_with_charts(kOneReplica + "engine: {max_model_len: 4}\n" + kChat);
  REQUIRE(run.report.summary.completed == 0);
  const Page page = run.page();
  CHECK(first_fault(page) == "");
  CHECK(answers(page, "300 requests rejected", Tone::bad));
  CHECK(answers(page, "no request finished", Tone::bad));
  check_numbers(run);
}

TEST_CASE("one request") {
  const RunWithCharts run =
      run_with_charts(kOneReplica + "workload: {preset: azure-conversation, rate: 10 req/s, requests: 1}\n");
  const Page page = run.page();
  CHECK(first_fault(page) == "");
  CHECK(says(page, "One request finished: its latencies are all there is"));
  CHECK(answers(page, "1 of 1 request done", Tone::plain));
  check_numbers(run);
}

TEST_CASE("a closed loop has no load and says why") {
  const RunWithCharts run = run_with_charts(
      kOneReplica + "workload: {generator: closed_loop, clients: 8, requests: 100, lengths: sharegpt}\n");
  const Page page = run.page();
  CHECK(first_fault(page) == "");
  CHECK(answers(page, "Queue: not applicable, a closed loop holds itself back", Tone::plain));
  check_numbers(run);
}

TEST_CASE("what has no price or power limit is not given any") {
  RunWithCharts run = run_with_charts(kOneReplica + kChat);
  run.report.summary.money.reset();
  run.report.summary.energy.reset();
  const Page page = run.page();
  CHECK(says(page, "nothing is said of cost"));
  CHECK(says(page, "nothing is said of energy"));
}

TEST_CASE("losses stand in the answer") {
  RunWithCharts run = run_with_charts(kSplit + kChat);
  run.report.summary.truncated = 1;
  run.report.summary.preemptions = 3;
  run.report.summary.recomputed_tokens = 1200;
  run.report.summary.cluster->lost = {{"its replica failed", 2}};
  run.report.summary.cluster->replica_failures = 1;
  const Page page = run.page();
  CHECK(answers(page, "2 requests lost: its replica failed.", Tone::bad));
  CHECK(answers(page, "1 output cut short by max_model_len.", Tone::warning));
  CHECK(answers(page, "3 preemptions", Tone::warning));
  CHECK(answers(page, "1,200 tokens computed again", Tone::warning));
  CHECK(says(page, "Replicas: 1 failed."));
}

TEST_CASE("intervals stand beside their figures, and a limit among them is in doubt") {
  RunWithCharts run = run_with_charts(kOneReplica + kChat);
  Uncertainty uncertainty;
  uncertainty.runs = 16;
  uncertainty.intervals = {{"request_throughput", 9.25, 9.75}, {"p99_ttft_ms", 400, 600}};
  run.report.uncertainty = uncertainty;
  const Page page = run.page();
  CHECK(first_fault(page) == "");
  CHECK(answers(page, "req/s (9.25 to 9.75)", Tone::plain));
  CHECK(answers(page, "(400 ms to 600 ms)", Tone::plain));
  CHECK(answers(page, "In doubt: ttft_p99.", Tone::warning));
  CHECK(check_numbers(run).contains("uncertainty.metrics.p99_ttft_ms.1"));
  run.report.uncertainty->intervals = {{"p99_ttft_ms", 400, 500}};
  CHECK_FALSE(says(run.page(), "In doubt"));  // at most 500 ms: met by all
}

TEST_CASE("prices beyond what was measured are told, loudly when they are much") {
  RunWithCharts run = run_with_charts(kOneReplica + kChat);
  run.report.summary.extrapolated_share = 0.02;
  CHECK(answers(run.page(), "2.00 % of the time in steps went to kernels outside", Tone::plain));
  run.report.summary.extrapolated_share = 0.3;
  CHECK(answers(run.page(), "30.0 % of the time in steps went to kernels outside", Tone::warning));
  run.report.summary.extrapolated_share = 0;
  CHECK_FALSE(answers(run.page(), "outside of what was measured", Tone::plain));
}

TEST_CASE("gaps have no limits where ITL is one value a request") {
  const RunWithCharts run = run_with_charts(
      "model: llama-3-8b\nhardware: {gpu: h100-sxm}\nslo: {itl_p99: 50 ms}\n"
      "metrics: {definitions: aiperf}\n" +
      kChat);
  const std::vector<Chart> charts = all_of<Chart>(run.page());
  CHECK(chart_of(charts, "gaps-cdf")->lines.empty());
  CHECK(chart_of(charts, "gaps-cdf")->title.starts_with("ICL"));
  CHECK(chart_of(charts, "tpot-cdf")->lines.size() == 1);
  CHECK(check_numbers(run).contains("metrics.p99_icl_ms"));
}

}  // namespace
}  // namespace inferometer::testing
