#include "sim/report/results_json.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/sim/report_fixture.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

/// A report with few numbers, each of them easy to tell from the others.
Report small_report() {
  Report report;
  report.scenario = "tiny.yaml";
  report.program_version = "1.2.3";
  report.stepper = "fast";
  report.step_counts = {
      .stretches = 2, .in_stretches = 9, .changing_batch = 3, .unpromised = 1, .without_line = 2};
  report.events = 77;
  report.resolved_scenario = Json{{"seed", 1}, {"model", "llama-3-8b"}};
  report.inputs = {{"tiny.yaml", "sha256:00ff", 321}};
  report.notes = {"a note"};
  report.cost_basis = {
      CostLevel::calibrated, "vllm kernels on a GPU, fitted some day", {}, {{"lm_head", "n", 96, 64}}};
  Summary& summary = report.summary;
  summary.partial = true;
  summary.census = {.injected = 5, .completed = 2, .running = 1, .waiting = 1, .rejected = 1};
  summary.duration_seconds = 0.1;
  summary.completed = 2;
  summary.failed = 1;
  summary.total_input_tokens = 30;
  summary.total_output_tokens = 4;
  summary.request_throughput = 20;
  summary.output_throughput = 40;
  summary.total_token_throughput = 340;
  summary.max_output_tokens_per_second = 4;
  summary.max_concurrent_requests = 3;
  summary.ttft = DurationStatistics{2, 15.5, 4.5, 11, 20, 15.5, 15.5, 19.1, 19.55, 19.91};
  summary.preemptions = 6;
  summary.truncated = 7;
  summary.rejections = {{"no room", 1}};
  summary.extrapolated_share = 0.125;
  summary.time_split = {0.5, 0.25, 0, 0.125, 0, 0.125};
  summary.phases[0] = {3, 0.0875, 36, 0, 0.4, std::nullopt};
  summary.all_phases = {3, 0.0875, 36, 0, 0.4, std::nullopt};
  summary.kv_blocks = 100;
  summary.kv_occupancy_blocks = {8, 7, 9};
  summary.batch_size = {0, 0, 0};
  summary.running = {1.5, 1.25, 2};
  summary.waiting = {0.5, 0.25, 1};
  summary.money = Money{3.6, 0.0001, 25, 1e-7, 0.0625};
  summary.energy = Energy{50, 500, 12.5, 17.5};
  summary.stability.sentence = "too few";
  summary.stability.offered_per_second = 40;
  report.slo.verdicts = {{"ttft_p99", 19.91, 500, true, -0.96018},
                         {"tpot_p99", std::nullopt, 50, false, std::nullopt}};
  return report;
}

const std::string kExpected = std::string(R"(
{
  "schema_version": 1,
  "program": {
    "name": "inferometer",
    "version": "1.2.3"
  },
  "scenario": "tiny.yaml",
  "partial": true,
  "notes": [
    "a note"
  ],
  "metrics": {
    "definitions": "vllm",
    "duration": 0.1,
    "completed": 2,
    "failed": 1,
    "total_input_tokens": 30,
    "total_output_tokens": 4,
    "request_throughput": 20.0,
    "request_goodput": null,
    "output_throughput": 40.0,
    "total_token_throughput": 340.0,
    "max_output_tokens_per_s": 4,
    "max_concurrent_requests": 3,
    "mean_ttft_ms": 15.5,
    "median_ttft_ms": 15.5,
    "std_ttft_ms": 4.5,
    "min_ttft_ms": 11.0,
    "p50_ttft_ms": 15.5,
    "p90_ttft_ms": 19.1,
    "p95_ttft_ms": 19.55,
    "p99_ttft_ms": 19.91,
    "max_ttft_ms": 20.0,
    "mean_tpot_ms": null,
    "median_tpot_ms": null,
    "std_tpot_ms": null,
    "min_tpot_ms": null,
    "p50_tpot_ms": null,
    "p90_tpot_ms": null,
    "p95_tpot_ms": null,
    "p99_tpot_ms": null,
    "max_tpot_ms": null,
    "mean_itl_ms": null,
    "median_itl_ms": null,
    "std_itl_ms": null,
    "min_itl_ms": null,
    "p50_itl_ms": null,
    "p90_itl_ms": null,
    "p95_itl_ms": null,
    "p99_itl_ms": null,
    "max_itl_ms": null,
    "mean_e2el_ms": null,
    "median_e2el_ms": null,
    "std_e2el_ms": null,
    "min_e2el_ms": null,
    "p50_e2el_ms": null,
    "p90_e2el_ms": null,
    "p95_e2el_ms": null,
    "p99_e2el_ms": null,
    "max_e2el_ms": null,
    "mean_queue_delay_ms": null,
    "median_queue_delay_ms": null,
    "std_queue_delay_ms": null,
    "min_queue_delay_ms": null,
    "p50_queue_delay_ms": null,
    "p90_queue_delay_ms": null,
    "p95_queue_delay_ms": null,
    "p99_queue_delay_ms": null,
    "max_queue_delay_ms": null
  },
  "uncertainty": null,
  "sensitivity": null,
  "slo": [
    {
      "name": "ttft_p99",
      "unit": "ms",
      "value": 19.91,
      "limit": 500.0,
      "met": true,
      "over_share": -0.96018
    },
    {
      "name": "tpot_p99",
      "unit": "ms",
      "value": null,
      "limit": 50.0,
      "met": false,
      "over_share": null
    }
  ],
  "stability": {
    "queue": "not applicable",
    "sentence": "too few",
    "offered_requests_per_s": 40.0,
    "growth_share": null,
    "load_share": null
  },
  "requests": {
    "injected": 5,
    "completed": 2,
    "running": 1,
    "waiting": 1,
    "rejected": 1,
    "truncated": 7,
    "goodput_share": null,
    "rejections": [
      {
        "reason": "no room",
        "requests": 1
      }
    ]
  },
  "time_split": {
    "compute": 0.5,
    "bandwidth": 0.25,
    "communication": 0.0,
    "latency": 0.125,
    "host": 0.0,
    "idle": 0.125
  },
  "steps": {
    "all": {
      "steps": 3,
      "busy_s": 0.0875,
      "prefill_tokens": 36,
      "decode_tokens": 0,
      "mfu_share": 0.4,
      "mbu_share": null
    },
    "prefill": {
      "steps": 3,
      "busy_s": 0.0875,
      "prefill_tokens": 36,
      "decode_tokens": 0,
      "mfu_share": 0.4,
      "mbu_share": null
    },
    "decode": {
      "steps": 0,
      "busy_s": 0.0,
      "prefill_tokens": 0,
      "decode_tokens": 0,
      "mfu_share": null,
      "mbu_share": null
    },
    "mixed": {
      "steps": 0,
      "busy_s": 0.0,
      "prefill_tokens": 0,
      "decode_tokens": 0,
      "mfu_share": null,
      "mbu_share": null
    }
  },
  "engine": {
    "preemptions": 6,
    "recomputed_tokens": null,
    "decoding_requests": {
      "mean_busy": 0.0,
      "mean_total": 0.0,
      "peak": 0
    },
    "running_requests": {
      "mean_busy": 1.5,
      "mean_total": 1.25,
      "peak": 2
    },
    "waiting_requests": {
      "mean_busy": 0.5,
      "mean_total": 0.25,
      "peak": 1
    },
    "kv_capacity_blocks": 100,
    "kv_held_blocks": {
      "mean_busy": 8.0,
      "mean_total": 7.0,
      "peak": 9
    }
  },
  "stepper": {
    "name": "fast",
    "events": 77,
    "stretches": 2,
    "steps_in_stretches": 9,
    "single_steps": 6,
    "single_steps_because": {
      "the_batch_changes": 3,
      "the_policy_promises_nothing": 1,
      "the_price_has_no_line": 2,
      "the_reference_stepper_runs": 0
    }
  },
  "money": {
    "price_dollars_per_hour": 3.6,
    "cost_dollars": 0.0001,
    "output_dollars_per_million_tokens": 25.0,
    "total_dollars_per_million_tokens": 1e-07,
    "dollars_per_thousand_requests": 0.0625
  },
  "energy": {
    "energy_joules": 50.0,
    "power_watts_mean": 500.0,
    "joules_per_output_token": 12.5,
    "joules_per_request": 17.5
  },
  "cost_model": {
    "level": "calibrated",
    "profile": "vllm kernels on a GPU, fitted some day",
    "extrapolated_share": 0.125,
    "extrapolated": [
      {
        "kernel": "lm_head",
        "axis": "n",
        "value": 96.0,
        "measured": 64.0,
        "factor": 1.5
      }
    ]
  },
  "deployment": null,
  "inputs": [
    {
      "name": "tiny.yaml",
      "hash": "sha256:00ff",
      "size_bytes": 321
    }
  ],
  "resolved_scenario": {
    "seed": 1,
    "model": "llama-3-8b"
  }
}
)")
                                  .substr(1);

TEST_CASE("results.json, byte by byte") {
  CHECK(results_json(small_report()) == kExpected);
}

TEST_CASE("results.json of a run without money, lists or scenario has nulls and empty lists, and parses") {
  const Json json = Json::parse(results_json(Report()));
  CHECK(json["money"].is_null());
  CHECK(json["energy"].is_null());
  CHECK(json["slo"].is_array());
  CHECK(json["slo"].empty());
  CHECK(json["inputs"].is_array());
  CHECK(json["notes"].is_array());
  CHECK(json["requests"]["rejections"].is_array());
}

TEST_CASE("icl fields exist only under AIPerf's definitions") {
  Report report = test::report_of_four();
  CHECK_FALSE(Json::parse(results_json(report))["metrics"].contains("mean_icl_ms"));
  report.summary.definitions = MetricDefinitions::aiperf;
  report.summary.icl = report.summary.itl;
  const Json metrics = Json::parse(results_json(report))["metrics"];
  CHECK(metrics["definitions"] == "aiperf");
  CHECK(metrics["p90_icl_ms"] == 18.0);
}

TEST_CASE("what crossed the links to host memory stands under kv_offload where there is any") {
  Report report = small_report();
  CHECK(!Json::parse(results_json(report)).contains("kv_offload"));
  KvOffloadSummary offload;
  offload.host.counts = {.stored_blocks = 7,
                         .loaded_blocks = 5,
                         .loads = 2,
                         .storing = milliseconds(125),
                         .loading = microseconds(62'500),
                         .load_waiting = milliseconds(3)};
  offload.replicas = 2;
  offload.block_size = 16;
  offload.block_bytes = Bytes(1000);
  offload.set_duration(0.125);
  report.summary.kv_offload = offload;
  report.summary.prefixes = PrefixSummary{};
  report.summary.prefixes->cached = {.own = 1, .session = 20, .others = 300, .host = 64};
  report.summary.prefixes->recached = {.own = 4000, .host = 16};
  Json expected = {{"hit_tokens", {{"gpu", 4321}, {"host", 80}}},
                   {"loads", 2},
                   {"loaded_tokens", 80},
                   {"loaded_bytes", 5000},
                   {"load_link_busy_share", 0.25},
                   {"load_waiting_s", 0.003},
                   {"stored_tokens", 112},
                   {"stored_bytes", 7000},
                   {"store_link_busy_share", 0.5}};
  CHECK(Json::parse(results_json(report)).at("kv_offload") == expected);

  KvTierSummary& disk = report.summary.kv_offload->disk.emplace();
  disk.counts = {.stored_blocks = 4,
                 .lost_blocks = 6,
                 .loaded_blocks = 3,
                 .loads = 1,
                 .storing = milliseconds(25),
                 .loading = milliseconds(250),
                 .load_waiting = milliseconds(40)};
  report.summary.kv_offload->set_duration(0.125);
  report.summary.prefixes->cached.disk = 32;
  expected["hit_tokens"]["disk"] = 32;
  expected["disk"] = {{"loads", 1},
                      {"loaded_tokens", 48},
                      {"loaded_bytes", 3000},
                      {"load_link_busy_share", 1.0},
                      {"load_waiting_s", 0.04},
                      {"stored_tokens", 64},
                      {"stored_bytes", 4000},
                      {"store_link_busy_share", 0.1},
                      {"lost_tokens", 96}};
  CHECK(Json::parse(results_json(report)).at("kv_offload") == expected);
}

TEST_CASE("what was swapped stands beside the preemptions where a policy swaps") {
  Report report = small_report();
  CHECK(!Json::parse(results_json(report)).at("engine").contains("swaps"));
  report.summary.kv_swap = KvSwapSummary{.counts = {.swapped_out = 3,
                                                    .swapped_in = 2,
                                                    .out_blocks = 40,
                                                    .in_blocks = 30,
                                                    .recomputed = 1,
                                                    .copying = milliseconds(7)},
                                         .out_bytes = Bytes(4000),
                                         .in_bytes = Bytes(3000)};
  const Json expected = {
      {"swapped_out", 3},         {"swapped_in", 2},         {"recomputed_without_space", 1},
      {"swapped_out_blocks", 40}, {"swapped_in_blocks", 30}, {"swapped_out_bytes", 4000},
      {"swapped_in_bytes", 3000}, {"copying_s", 0.007}};
  CHECK(Json::parse(results_json(report)).at("engine").at("swaps") == expected);
}

TEST_CASE("intervals stand under the names of their metrics") {
  Report report = test::report_of_four();
  Uncertainty uncertainty;
  uncertainty.runs = 16;
  uncertainty.replayed_requests = 64;
  uncertainty.simulated_steps = 65;
  uncertainty.intervals = {{"request_throughput", 39, 41.5}, {"p99_ttft_ms", 38, 40}};
  report.uncertainty = uncertainty;
  CHECK(Json::parse(results_json(report))["uncertainty"] == Json::parse(R"({
    "runs": 16, "interval": [0.05, 0.95], "replayed_requests": 64, "simulated_steps": 65,
    "metrics": {"request_throughput": [39.0, 41.5], "p99_ttft_ms": [38.0, 40.0]}})"));
}

TEST_CASE("latencies with shorter and longer steps stand under the names of their metrics") {
  Report report = test::report_of_four();
  report.sensitivity = Sensitivity{0.05, {{"mean_ttft_ms", 27.5, 33}, {"p99_e2el_ms", 90, 111.5}}};
  CHECK(Json::parse(results_json(report))["sensitivity"] == Json::parse(R"({
    "step_time": 0.05,
    "metrics": {"mean_ttft_ms": {"minus": 27.5, "plus": 33.0}, "p99_e2el_ms": {"minus": 90.0, "plus": 111.5}}})"));
}

TEST_CASE("numbers in results.json are read back as what they were") {
  const Report report = test::report_of_four();
  const Json metrics = Json::parse(results_json(report))["metrics"];
  CHECK(metrics["std_ttft_ms"].get<double>() == report.summary.ttft->std_ms);
  CHECK(metrics["mean_itl_ms"].get<double>() == report.summary.itl->mean_ms);
  CHECK(metrics["mean_ttft_ms"].dump() == "30.0");
}

}  // namespace
}  // namespace inferometer
