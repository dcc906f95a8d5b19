// Traces whose every event is worked out by hand.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"
#include "tests/unit/sim/trace/traced_run.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

/// Ten microseconds to launch and one a token, in two operators; half a microsecond of host.
class TwoOperators final : public StepPricer {
 public:
  [[nodiscard]] StepCost price(const StepShape& shape) const override {
    return {.compute = microseconds(shape.tokens()), .latency = microseconds(10), .host = nanoseconds(500)};
  }
  [[nodiscard]] std::vector<OperatorTime> operator_times(const StepShape& shape) const override {
    return {{"products", microseconds(shape.tokens())}, {"launch", microseconds(10)}};
  }
};

EngineSetup small_engine() {
  EngineSetup setup;
  setup.policy = "chunked_prefill";
  setup.keys = "max_num_batched_tokens: 100";
  return setup;
}

TimePoint at_us(std::int64_t us) {
  return TimePoint(microseconds(us));
}

// Blocks of 4 tokens. Request 0 comes at 0 with a prompt of 6 and emits 3, request 1 at 5 with 4 and emits 2.
//
//   step         runs                     blocks         decode context
//   0-16.5       prefill 0                2              -
//   16.5-32      decode 0 and prefill 1   2 + 1          7
//   32-44.5      decode 0 and 1           2 + 2          8 + 5
TEST_CASE("a trace of two requests worked by hand by either stepper") {
  const Lines expected = {
      R"({"displayTimeUnit":"ms","traceEvents":[)",
      R"({"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"requests"}})",
      R"({"ph":"M","pid":1,"tid":1,"name":"process_sort_index","args":{"sort_index":1}})",
      R"({"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"requests"}})",
      R"({"ph":"b","pid":1,"tid":1,"name":"request","ts":0.000000,"id":0,"cat":"request","args":{"id":0,"prompt_tokens":6,"output_tokens":3,"preemptions":0,"retries":0,"replica":"mixed 0"}})",
      R"({"ph":"b","pid":1,"tid":1,"name":"prefill","ts":0.000000,"id":0,"cat":"request"})",
      R"({"ph":"e","pid":1,"tid":1,"name":"prefill","ts":16.500000,"id":0,"cat":"request"})",
      R"({"ph":"b","pid":1,"tid":1,"name":"decode","ts":16.500000,"id":0,"cat":"request"})",
      R"({"ph":"e","pid":1,"tid":1,"name":"decode","ts":44.500000,"id":0,"cat":"request"})",
      R"({"ph":"e","pid":1,"tid":1,"name":"request","ts":44.500000,"id":0,"cat":"request"})",
      R"({"ph":"b","pid":1,"tid":1,"name":"request","ts":5.000000,"id":1,"cat":"request","args":{"id":1,"prompt_tokens":4,"output_tokens":2,"preemptions":0,"retries":0,"replica":"mixed 0"}})",
      R"({"ph":"b","pid":1,"tid":1,"name":"queue","ts":5.000000,"id":1,"cat":"request"})",
      R"({"ph":"e","pid":1,"tid":1,"name":"queue","ts":16.500000,"id":1,"cat":"request"})",
      R"({"ph":"b","pid":1,"tid":1,"name":"prefill","ts":16.500000,"id":1,"cat":"request"})",
      R"({"ph":"e","pid":1,"tid":1,"name":"prefill","ts":32.000000,"id":1,"cat":"request"})",
      R"({"ph":"b","pid":1,"tid":1,"name":"decode","ts":32.000000,"id":1,"cat":"request"})",
      R"({"ph":"e","pid":1,"tid":1,"name":"decode","ts":44.500000,"id":1,"cat":"request"})",
      R"({"ph":"e","pid":1,"tid":1,"name":"request","ts":44.500000,"id":1,"cat":"request"})",
      R"_({"ph":"M","pid":3,"tid":1,"name":"process_name","args":{"name":"mixed 0 (1 x gpu)"}})_",
      R"({"ph":"M","pid":3,"tid":1,"name":"process_sort_index","args":{"sort_index":3}})",
      R"({"ph":"M","pid":3,"tid":1,"name":"thread_name","args":{"name":"steps"}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"waiting","ts":0.000000,"args":{"value":0}})",
      R"({"ph":"X","pid":3,"tid":1,"name":"prefill 6","ts":0.000000,"dur":16.500000,"cat":"step","args":{"prefill_tokens":6,"decodes":0,"decode_context":0,"running":1,"waiting":0,"kv_blocks":2,"time_us":{"compute":6.000000,"bandwidth":0.000000,"latency":10.000000,"communication":0.000000,"host":0.500000,"bubble":0.000000},"operators_us":{"products":6.000000,"launch":10.000000}}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"running","ts":0.000000,"args":{"value":1}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"KV blocks","ts":0.000000,"args":{"value":2}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"waiting","ts":5.000000,"args":{"value":1}})",
      R"({"ph":"X","pid":3,"tid":1,"name":"mixed 4+1","ts":16.500000,"dur":15.500000,"cat":"step","args":{"prefill_tokens":4,"decodes":1,"decode_context":7,"running":2,"waiting":0,"kv_blocks":3,"time_us":{"compute":5.000000,"bandwidth":0.000000,"latency":10.000000,"communication":0.000000,"host":0.500000,"bubble":0.000000},"operators_us":{"products":5.000000,"launch":10.000000}}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"running","ts":16.500000,"args":{"value":2}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"KV blocks","ts":16.500000,"args":{"value":3}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"waiting","ts":16.500000,"args":{"value":0}})",
      R"({"ph":"X","pid":3,"tid":1,"name":"decode 2","ts":32.000000,"dur":12.500000,"cat":"step","args":{"prefill_tokens":0,"decodes":2,"decode_context":13,"running":2,"waiting":0,"kv_blocks":4,"time_us":{"compute":2.000000,"bandwidth":0.000000,"latency":10.000000,"communication":0.000000,"host":0.500000,"bubble":0.000000},"operators_us":{"products":2.000000,"launch":10.000000}}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"KV blocks","ts":32.000000,"args":{"value":4}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"running","ts":44.500000,"args":{"value":0}})",
      R"({"ph":"C","pid":3,"tid":1,"name":"KV blocks","ts":44.500000,"args":{"value":0}})",
      "]}",
  };
  const auto pricer = std::make_shared<const TwoOperators>();
  for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
    EngineSetup setup = small_engine();
    setup.stepper = stepper;
    const Lines lines = trace_lines(
        {{"mixed 0", "1 x gpu", 1, {pricer}}},
        [&](TimelineWriter& trace) {
          std::vector<Replica> replicas;
          replicas.emplace_back(replica_config(setup), make_policy(setup), pricer, trace);
          Simulation simulation(make_list_workload({request_at(0, 6, 3), request_at(5, 4, 2)}),
                                std::move(replicas), trace);
          simulation.run();
          CHECK((simulation.now() == TimePoint(nanoseconds(44'500))));
        },
        at_us(45));
    CHECK(lines == expected);
  }
}

/// The trace of one replica of `setup` that prices by no operators.
Lines trace_of(const EngineSetup& setup, const std::vector<TestRequest>& requests,
               const TraceWindow& window = {}) {
  return trace_lines(
      {{"mixed 0", "1 x gpu", 1, {make_test_pricer(setup.costs)}}},
      [&](TimelineWriter& trace) { make_simulation(setup, make_list_workload(requests), trace)->run(); },
      at_us(1000), window);
}

// Six tokens take six microseconds on the GPU; the test prices have ten of host time.
TEST_CASE("a price without operators is other") {
  const Lines steps = beginning_with(trace_of(small_engine(), {request_at(0, 6, 1)}), R"({"ph":"X")");
  REQUIRE(steps.size() == 1);
  CHECK(steps.front().ends_with(R"("operators_us":{"other":6.000000}}})"));
}

// Six blocks of four tokens. Both prompts of 8 take two each, and both want a third for their second token;
// request 0 gets another for its sixth, when request 1, which holds three, goes.
TEST_CASE("a preemption is marked at the start of the step that made room so") {
  EngineSetup setup = small_engine();
  setup.blocks = 6;
  setup.max_model_len = 24;
  const Lines lines = trace_of(setup, {request_at(0, 8, 8), request_at(0, 8, 8)});
  // 26 for both prompts, then steps of 12: token 2 at 38, 3 at 50, 4 at 62, 5 at 74; the sixth needs room.
  CHECK(beginning_with(lines, R"({"ph":"i")") ==
        Lines{R"({"ph":"i","pid":3,"tid":1,"name":"preempted 1","ts":74.000000,"s":"t","cat":"step"})"});
  CHECK(beginning_with(lines, R"({"ph":"b","pid":1,"tid":1,"name":"request","ts":0.000000,"id":1)")
            .front()
            .find(R"("preemptions":1)") != std::string::npos);
}

TEST_CASE("a request that is turned away is shown with the reason") {
  EngineSetup setup = small_engine();
  setup.max_model_len = 10;
  const Lines lines = trace_of(setup, {request_at(3, 10, 1)});
  CHECK(
      beginning_with(lines, R"({"ph":"b")") ==
      Lines{
          R"({"ph":"b","pid":1,"tid":1,"name":"request","ts":3.000000,"id":0,"cat":"request","args":{"id":0,)"
          R"("prompt_tokens":10,"rejected":"the prompt leaves no room for a token in max_model_len"}})"});
  CHECK(beginning_with(lines, R"({"ph":"e")") ==
        Lines{R"({"ph":"e","pid":1,"tid":1,"name":"request","ts":3.000000,"id":0,"cat":"request"})"});
}

TEST_CASE("what an interrupted run leaves is marked unfinished") {
  const EngineSetup setup = small_engine();
  const Lines lines = trace_lines(
      {{"mixed 0", "1 x gpu", 1, {make_test_pricer(setup.costs)}}},
      [&](TimelineWriter& trace) {
        const auto simulation = make_simulation(setup, make_list_workload({request_at(0, 6, 50)}), trace);
        simulation->run(1);
        simulation->cut_off();
      },
      at_us(40));
  CHECK(
      beginning_with(lines, R"({"ph":"b")") ==
      Lines{
          R"({"ph":"b","pid":1,"tid":1,"name":"request","ts":0.000000,"id":0,"cat":"request","args":{"id":0,)"
          R"("prompt_tokens":6,"unfinished":"the run ended before it did"}})"});
  CHECK(beginning_with(lines, R"({"ph":"e")") ==
        Lines{R"({"ph":"e","pid":1,"tid":1,"name":"request","ts":40.000000,"id":0,"cat":"request"})"});
  CHECK(lines.back() == "]}");
}

/// Names and starts of steps: "prefill 6 at 0.000000".
Lines steps_of(const Lines& lines) {
  Lines steps;
  const std::string head = R"({"ph":"X","pid":3,"tid":1,"name":")";
  for (const std::string& line : beginning_with(lines, head)) {
    const std::size_t time = line.find(R"(","ts":)");
    steps.push_back(line.substr(head.size(), time - head.size()) + " at " +
                    line.substr(time + 7, line.find(',', time + 7) - time - 7));
  }
  return steps;
}

// Steps 0-16, then one of 11 for each of four further tokens: 16, 27, 38, 49 until 60.
TEST_CASE("a window shows what is partly within it") {
  const std::vector<TestRequest> requests = {request_at(0, 6, 5)};
  const auto within = [&](std::int64_t begin_ps, std::int64_t end_ps) {
    return trace_of(small_engine(), requests,
                    {TimePoint(picoseconds(begin_ps)), TimePoint(picoseconds(end_ps))});
  };
  constexpr std::int64_t kUs = 1'000'000;
  CHECK(steps_of(within(0, 1)) == Lines{"prefill 6 at 0.000000"});
  CHECK(steps_of(within(16 * kUs - 1, 16 * kUs)) == Lines{"prefill 6 at 0.000000"});
  CHECK(steps_of(within(16 * kUs, 27 * kUs)) == Lines{"decode 1 at 16.000000"});
  CHECK(steps_of(within(27 * kUs - 1, 27 * kUs + 1)) ==
        Lines{"decode 1 at 16.000000", "decode 1 at 27.000000"});
  CHECK(steps_of(within(60 * kUs, 70 * kUs)).empty());
  // The request lasts until 60, and is whole wherever the window lies.
  const auto request = [&](std::int64_t begin_ps, std::int64_t end_ps) {
    return beginning_with(within(begin_ps, end_ps), R"({"ph":"b","pid":1,"tid":1,"name":"request")").size();
  };
  CHECK(request(60 * kUs - 1, 60 * kUs) == 1);
  CHECK(request(60 * kUs, 61 * kUs) == 0);
  // Two blocks of four for the first eight tokens, then a third, from 38 on: token 3 is the ninth cached.
  const std::string blocks = R"({"ph":"C","pid":3,"tid":1,"name":"KV blocks","ts":)";
  CHECK(beginning_with(within(30 * kUs, 50 * kUs), blocks) ==
        Lines{blocks + R"(30.000000,"args":{"value":2}})", blocks + R"(38.000000,"args":{"value":3}})"});
}

}  // namespace
}  // namespace inferometer::testing
