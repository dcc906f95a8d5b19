// A prompt of 20 tokens takes a prefill of 30 microseconds, its KV 20 on the link, a token alone 11.

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/unit/cluster/cluster_fixture.hpp"
#include "tests/unit/sim/trace/traced_run.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

/// A small cluster whose trace is written, too.
class TracedCluster final : public SmallCluster {
 public:
  using SmallCluster::SmallCluster;

  void on_arrival(const Request& request, std::int64_t waiting) override {
    SmallCluster::on_arrival(request, waiting);
    trace->on_arrival(request, waiting);
  }
  void on_rejected(const RejectedRequest& request) override { trace->on_rejected(request); }
  void on_steps(const StepRecord& record) override { trace->on_steps(record); }
  void on_finished(const FinishedRequest& request) override { trace->on_finished(request); }
  void on_idle(const IdleRecord& idle) override { trace->on_idle(idle); }
  void on_transfer(const TransferRecord& transfer) override { trace->on_transfer(transfer); }

  TimelineWriter* trace = nullptr;
};

const std::vector<TraceReplica> kTwoReplicas = {{"prefill 0", "1 x gpu", 1, {}},
                                                {"decode 1", "1 x gpu", 1, {}}};

Lines trace_of_one_handover(const std::vector<TestRequest>& requests, bool first_token_from_decode) {
  TracedCluster cluster({small_pool(PoolRole::prefill, 1), small_pool(PoolRole::decode, 1)});
  cluster.share_a_link();
  cluster.split().hop = microseconds(5);
  cluster.split().first_token_from_decode = first_token_from_decode;
  return trace_lines(
      kTwoReplicas,
      [&](TimelineWriter& trace) {
        cluster.trace = &trace;
        cluster.run(requests);
      },
      TimePoint(microseconds(1000)));
}

/// "b prefill 30": what happens to slices of a category, in the order of the file, without arguments.
Lines slices(const Lines& lines, const std::string& category) {
  Lines found;
  for (const std::string& line : lines) {
    if (line.find(R"("cat":")" + category + '"') == std::string::npos) {
      continue;
    }
    const std::size_t name = line.find(R"("name":")") + 8;
    const std::size_t time = line.find(R"("ts":)") + 5;
    found.push_back(line.substr(7, 1) + " " + line.substr(name, line.find('"', name) - name) + " " +
                    line.substr(time, line.find('.', time) - time));
  }
  return found;
}

TEST_CASE("a handover is a phase of its request and a transfer") {
  const Lines lines = trace_of_one_handover({request_at(0, 20, 3)}, false);
  CHECK(slices(lines, "request") == Lines{"b request 0", "b prefill 0", "e prefill 30", "b handover 30",
                                          "e handover 55", "b decode 55", "e decode 77", "e request 77"});
  CHECK(
      beginning_with(lines, R"({"ph":"b","pid":2)") ==
      Lines{R"({"ph":"b","pid":2,"tid":1,"name":"KV handover","ts":35.000000,"id":0,"cat":"transfer","args":)"
            R"({"request":0,"from":"prefill 0","to":"decode 1","bytes":20000}})"});
  CHECK(slices(lines, "transfer") == Lines{"b KV handover 35", "e KV handover 55"});
}

TEST_CASE("a first token from the decode replica is marked in its phase") {
  const Lines lines = trace_of_one_handover({request_at(0, 20, 3)}, true);
  CHECK(slices(lines, "request") == Lines{"b request 0", "b prefill 0", "e prefill 30", "b handover 30",
                                          "e handover 55", "b decode 55", "n first token 66", "e decode 88",
                                          "e request 88"});
}

// The KV is under way to replica 1 from 30 on, which fails at 40; then it goes to replica 2 until 60.
TEST_CASE("a transfer to a replica that fails is cut off and begun anew to another one") {
  TracedCluster cluster({small_pool(PoolRole::prefill, 1), small_pool(PoolRole::decode, 2)});
  cluster.share_a_link();
  cluster.setup.failures.events = {event_at(40, ReplicaEvent::Kind::fail, 1)};
  std::vector<TraceReplica> replicas = kTwoReplicas;
  replicas.push_back({"decode 2", "1 x gpu", 1, {}});
  const Lines lines = trace_lines(
      replicas,
      [&](TimelineWriter& trace) {
        cluster.trace = &trace;
        cluster.run({request_at(0, 20, 3)});
      },
      TimePoint(microseconds(1000)));
  CHECK(slices(lines, "request") == Lines{"b request 0", "b prefill 0", "e prefill 30", "b handover 30",
                                          "e handover 60", "b decode 60", "e decode 82", "e request 82"});
  CHECK(slices(lines, "transfer") ==
        Lines{"b KV handover 30", "e KV handover 40", "b KV handover 40", "e KV handover 60"});
  const Lines begins = beginning_with(lines, R"({"ph":"b","pid":2)");
  REQUIRE(begins.size() == 2);
  CHECK(begins[0].ends_with(R"("to":"decode 1","bytes":20000,"cancelled":"before all of it was there"}})"));
  CHECK(begins[1].ends_with(R"("to":"decode 2","bytes":20000}})"));
}

// Blocks of 10 tokens: the prompt holds two at the prefill replica until its KV is read, at 55; the decode
// replica holds two of them from the moment when it takes them, at 35, and three for tokens 21 and 22.
TEST_CASE("counters show blocks that are held while nothing runs") {
  const Lines lines = trace_of_one_handover({request_at(0, 20, 3)}, false);
  const auto counter = [](int process, const std::string& time, int value) {
    return R"({"ph":"C","pid":)" + std::to_string(process) + R"(,"tid":1,"name":"KV blocks","ts":)" + time +
           R"(.000000,"args":{"value":)" + std::to_string(value) + "}}";
  };
  CHECK(beginning_with(lines, R"({"ph":"C","pid":3,"tid":1,"name":"KV blocks")") ==
        Lines{counter(3, "0", 2), counter(3, "55", 0)});
  CHECK(beginning_with(lines, R"({"ph":"C","pid":4,"tid":1,"name":"KV blocks")") ==
        Lines{counter(4, "35", 2), counter(4, "55", 3), counter(4, "77", 0)});
}

/// One link of 1 GB/s that has carried so much by a time.
class OneLink final : public Network {
 public:
  void start(TimePoint, const Transfer&) override {}
  void cancel(TimePoint, std::uint32_t) override {}
  std::optional<TimePoint> next_end() override { return std::nullopt; }
  std::span<const std::uint32_t> ended(TimePoint) override { return {}; }
  [[nodiscard]] std::vector<LinkUse> link_use(TimePoint) const override {
    return {{"node0 nic0 out", BytesPerSecond(1e9), Bytes(bytes), 0}};
  }

  std::int64_t bytes = 0;
};

// 50 MB in the first 100 ms are a half of what the link could carry, 20 MB in the 200 ms after it a tenth.
TEST_CASE("links are looked at when a transfer ends and not too often") {
  OneLink network;
  const Lines lines = trace_lines(
      kTwoReplicas,
      [&](TimelineWriter& trace) {
        trace.watch(network);
        const auto end_at = [&](std::int64_t ms, std::int64_t bytes) {
          network.bytes = bytes;
          TransferRecord record;
          record.start = TimePoint(milliseconds(ms - 1));
          record.end = TimePoint(milliseconds(ms));
          trace.on_transfer(record);
        };
        end_at(99, 49'000'000);
        end_at(100, 50'000'000);
        end_at(300, 70'000'000);
        end_at(450, 70'000'000);
      },
      TimePoint(milliseconds(500)));
  const std::string head = R"({"ph":"C","pid":2,"tid":1,"name":"node0 nic0 out, %","ts":)";
  CHECK(beginning_with(lines, head) == Lines{head + R"(0.000000,"args":{"used":50.00}})",
                                             head + R"(100000.000000,"args":{"used":10.00}})",
                                             head + R"(300000.000000,"args":{"used":0.00}})"});
}

TEST_CASE("a transfer that is cut off says so") {
  TransferRecord record{TransferRecord::Kind::weights, -1,  -1, 1, Bytes(40'000), TimePoint(microseconds(2)),
                        TimePoint(microseconds(7)),    true};
  const Lines lines = trace_lines(
      kTwoReplicas, [&](TimelineWriter& trace) { trace.on_transfer(record); }, TimePoint(microseconds(9)));
  CHECK(
      beginning_with(lines, R"({"ph":"b")") ==
      Lines{R"({"ph":"b","pid":2,"tid":1,"name":"weights","ts":2.000000,"id":0,"cat":"transfer","args":)"
            R"({"from":"storage","to":"decode 1","bytes":40000,"cancelled":"before all of it was there"}})"});
}

}  // namespace
}  // namespace inferometer::testing
