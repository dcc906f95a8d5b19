// What reports say of the two pools of two_pools.hpp, worked out by hand from its tables.

#include <sstream>

#include <nlohmann/json.hpp>

#include "sim/report/cluster_text.hpp"
#include "sim/report/requests_csv.hpp"
#include "sim/report/results_json.hpp"
#include "sim/report/terminal_summary.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/sim/report_fixture.hpp"
#include "tests/unit/sim/two_pools.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;
using test::at_ms;

LinkUse link(const char* name, double gigabytes_per_s, std::int64_t bytes, double utilization) {
  return {name, BytesPerSecond(gigabytes_per_s * 1e9), Bytes(bytes), utilization};
}

Report report_of_two_pools(const std::optional<WorkTotals>& work = std::nullopt) {
  MetricsRecorder recorder = test::two_pool_recorder(work);
  test::replay_two_pools(recorder);
  Report report;
  report.scenario = "two pools";
  report.summary = summarize(recorder, test::two_pool_settings());
  return report;
}

/// With everything in it that can go on in a cluster.
Report eventful_report() {
  Report report = report_of_two_pools();
  ClusterSummary& cluster = *report.summary.cluster;
  cluster.lost = {{"its replica failed", 2}};
  cluster.lost_tokens = 1;
  cluster.retries = 1234;
  cluster.transfers.aborted = 5;
  cluster.local_prefills = 6;
  cluster.replica_starts = 7;
  cluster.replica_failures = 8;
  cluster.replica_drains = 9;
  cluster.replica_moves = 10;
  cluster.links = {link("a", 1, 1, 0.125), link("b", 50, 3, 0.5),  link("c", 50, 0, 0),
                   link("d", 50, 1, 0.25), link("e", 50, 1, 0.25), link("f", 50, 1, 0.0625),
                   link("g", 50, 1, 0.03), link("h", 50, 1, 0.04)};
  return report;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Busy: 75 of 140, 60 - 17 of 140. KV: 9.6 and at most 13 of 48 blocks, 16.7 and at most 21 of 60.
TEST_CASE("a table of pools") {
  const std::string text = terminal_summary(report_of_two_pools(), false, 100);
  CHECK(contains(text,
                 "\npools        replicas  busy %    KV % at most running   MFU %   MBU %\n"
                 "  prefill           2    53.6    20.0    27.1    1.00       -       -  2 x big each\n"
                 "  decode            1    30.7    27.8    35.0    1.00       -       -  4 x small each\n"));
  CHECK_FALSE(contains(text, "\nKV cache  "));
  CHECK(contains(text, "o bubble 6.1 %"));  // 17 of 280
  CHECK(contains(text, "waiting     0.429 requests on average, 1 at most on one replica\n"));
  CHECK(
      contains(text, "steps       6 in all, 0.444 decoding requests on average, 1 at most on one replica\n"));
  CHECK(contains(text, "cost        $18.00/h   $58.3 per million output tokens"));  // 0.00035 dollars for 6
  CHECK_FALSE(contains(text, "links"));
  CHECK(contains(text, "replicas    1 request begun anew\n"));

  CHECK(contains(terminal_summary(report_of_two_pools(), false, 72),
                 "\n  prefill           2    53.6    20.0    27.1    1.00       -       -\n"
                 "            2 x big each\n"));
}

TEST_CASE("a pool's utilisation stands in its row") {
  PoolSummary pool;
  pool.name = "mixed";
  pool.gpu = "a-gpu";
  pool.replicas = 256;
  pool.gpus = 8;
  pool.time_split.idle = 0.25;
  pool.all_phases.mfu = 0.5;
  pool.all_phases.mbu = 0.0625;
  pool.running.mean_busy = 1234.4;
  CHECK(pool_row(pool, 100) ==
        "  mixed           256    75.0       -       -   1,234    50.0    6.25  8 x a-gpu each");
}

TEST_CASE("a summary says what went on in the cluster") {
  const std::string text = terminal_summary(eventful_report(), false, 100);
  CHECK(contains(text, "\n2 lost: its replica failed\n"));
  CHECK(contains(
      text,
      "\ntransfers   2 KV caches, 38.4 MB in all   handover: mean 8.00 ms   p50 8.00 ms   p90 9.60 ms\n"
      "            p99 9.96 ms   5 aborted   6 prompts computed where they decode\n"));
  // Links without traffic are not counted among those that are left out.
  CHECK(contains(text,
                 "\nlinks       b 50.0 %   d 25.0 %   e 25.0 %   a 12.5 %   f 6.25 %   and 2 less busy\n"));
  CHECK(contains(text,
                 "\nreplicas    7 started   9 drained   8 failed   10 moved to the other pool\n"
                 "            1,234 requests begun anew   1 token emitted in vain\n"));
}

TEST_CASE("no line about a cluster passes the width or ends in a space") {
  for (const int width : {72, 100, 140}) {
    std::istringstream lines(terminal_summary(eventful_report(), false, width));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= static_cast<std::size_t>(width));
      CHECK((line.empty() || line.back() != ' '));
    }
  }
}

TEST_CASE("results of one replica say nothing of clusters") {
  const Json json = Json::parse(results_json(test::report_of_four()));
  for (const char* key : {"pools", "cluster", "links"}) {
    CHECK_FALSE(json.contains(key));
  }
  CHECK_FALSE(json["time_split"].contains("bubble"));
  CHECK_FALSE(json["requests"].contains("in_transit"));
}

TEST_CASE("results of a cluster have its pools") {
  const Json json = Json::parse(results_json(report_of_two_pools(WorkTotals(load_model("llama-3-8b"), 1))));
  REQUIRE(json["pools"].size() == 2);
  const Json& decode = json["pools"][1];
  CHECK(decode["name"] == "decode");
  CHECK(decode["role"] == "decode");
  CHECK(decode["replicas"] == 1);
  CHECK(decode["gpus_per_replica"] == 4);
  CHECK(decode["gpu"] == "small");
  CHECK(decode["time_split"]["bubble"].get<double>() == Approx(17.0 / 140));
  CHECK_FALSE(json["pools"][0]["time_split"].contains("bubble"));
  CHECK(json["time_split"]["bubble"].get<double>() == Approx(17.0 / 280));
  CHECK(decode["steps"]["decode"]["steps"] == 3);
  CHECK(decode["preemptions"] == 0);
  CHECK(decode["decoding_requests"]["mean_busy"] == 1);
  CHECK(decode["running_requests"]["peak"] == 1);
  CHECK(json["pools"][0]["most_waiting_requests"] == 1);
  CHECK(decode["kv_capacity_blocks"] == 60);
  CHECK(decode["kv_held_blocks"]["peak"] == 21);
  CHECK(decode["extrapolated_share"] == 0);
  CHECK(decode["money"]["price_dollars_per_hour"].get<double>() == Approx(3.6));
  CHECK(json["requests"]["in_transit"] == 0);
  CHECK(decode["energy"]["energy_joules"].get<double>() > 0);
}

TEST_CASE("results of a cluster have its transfers and links") {
  const Json json = Json::parse(results_json(eventful_report()));
  Json cluster = json["cluster"];
  CHECK(cluster["transfers"]["mean_handover_ms"] == 8.0);
  CHECK(cluster["transfers"]["p90_handover_ms"].get<double>() == Approx(9.6));
  CHECK(cluster["transfers"]["max_handover_ms"] == 10.0);
  CHECK(cluster["transfers"].size() == 3 + 9);
  CHECK(cluster["transfers"]["count"] == 2);
  CHECK(cluster["transfers"]["aborted"] == 5);
  CHECK(cluster["transfers"]["carried_bytes"] == 38'400'000);
  cluster.erase("transfers");
  CHECK(cluster ==
        Json::parse(R"({"local_prefills": 6, "lost": [{"reason": "its replica failed", "requests": 2}],
    "retries": 1234, "lost_tokens": 1, "replica_starts": 7, "replica_failures": 8, "replica_drains": 9,
    "replica_moves": 10,    "routed_requests": [2, 1, 2]})"));
  REQUIRE(json["links"].size() == 7);
  CHECK(json["links"][1] == Json::parse(R"({"name": "b", "capacity_bytes_per_s": 50000000000.0,
    "carried_bytes": 3, "utilization_share": 0.5})"));
}

TEST_CASE("requests.csv of several replicas says where a request ran") {
  MetricsRecorder recorder = test::two_pool_recorder();
  test::replay_two_pools(recorder);
  test::arrive(recorder, 3, at_ms(80), 9, 1);
  recorder.on_rejected({3, at_ms(80), at_ms(80), 9, "no room"});
  std::ostringstream out;
  write_requests_csv(recorder, out);
  CHECK(
      out.str() ==
      "id,session,status,arrival_s,prompt_tokens,output_tokens,queue_ms,ttft_ms,tpot_ms,e2el_ms,preemptions,"
      "cached_tokens,replica,prefill_replica,retries,handover_ms\n"
      "0,,finished,0,100,3,0,20,25,70,0,0,2,0,0,10\n"
      "1,,finished,0,200,2,0,40,30,70,0,0,2,1,0,6\n"
      "2,,finished,0.01,60,1,10,25,,25,0,0,0,,1,\n"
      "3,,rejected,0.08,9,,,,,,,,,,,\n");
}

}  // namespace
}  // namespace inferometer
