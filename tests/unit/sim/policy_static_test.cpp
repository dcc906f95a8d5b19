// Hand-worked traces of static batching. A step costs 10 us + 1 us a token + 1 us a token attended to by
// decodes; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t max_num_seqs, std::int64_t blocks, const std::string& keys = "") {
  EngineSetup setup;
  setup.policy = "static";
  setup.keys = keys;
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = max_num_seqs;
  setup.costs.per_context = 1;
  return setup;
}

// Reserved: 5 tokens (2 blocks), 5 (2), 4 (1).
const std::vector<TestRequest> kThree{request_at(0, 4, 1), request_at(0, 2, 3), request_at(1, 3, 1)};

TEST_CASE(
    "static: a batch runs until its last sequence is done, with padding all cost as much as the longest") {
  // step  0              1                     us
  //       4 of 4, end    2 of 2, padded to 4   10 + 8
  //       frozen at 4    attends to 3          10 + 2 + 7
  //       frozen at 4    attends to 4, end     10 + 2 + 8
  // then request 2 on its own                  10 + 3
  const StepLog log = run_to_end(engine(2, 100), kThree);
  CHECK(log.lines() == Lines{"0-18 | prefill 0+4 1+2 | wait 1 | free 96",  //
                             "18-37 | decode 1 | wait 1 | free 98",        //
                             "37-57 | decode 1 | wait 1 | free 98",        //
                             "57-70 | prefill 2+3 | free 99"});
}

TEST_CASE("static: without padding everyone costs what it is") {
  // 10 + 6, 10 + 1 + 3, 10 + 1 + 4, 10 + 3
  const StepLog log = run_to_end(engine(2, 100, "static_padding: false"), kThree);
  CHECK(log.lines() == Lines{"0-16 | prefill 0+4 1+2 | wait 1 | free 96",  //
                             "16-30 | decode 1 | wait 1 | free 98",        //
                             "30-45 | decode 1 | wait 1 | free 98",        //
                             "45-58 | prefill 2+3 | free 99"});
}

TEST_CASE("static: a sequence that ends in mid-batch stays frozen at what its last step attended to") {
  // Request 0 (2+2) ends with its first decode, at 3 tokens; request 1 (2+4) goes on at 3, 4, 5.
  // 10 + 4; 10 + 2 + 3 + 3; 10 + 2 + 3 + 4; 10 + 2 + 3 + 5
  const StepLog log = run_to_end(engine(2, 100), {request_at(0, 2, 2), request_at(0, 2, 4)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+2 1+2 | free 97",  //
                             "14-32 | decode 0 1 | free 97",      //
                             "32-51 | decode 1 | free 98",        //
                             "51-71 | decode 1 | free 98"});
}

TEST_CASE(
    "an incomplete batch waits for company until its first request's window closes, to the picosecond") {
  const auto run = [](TimePoint second) {
    return run_to_end(engine(4, 100, "wait_window: 50 us"), {request_at(0, 2, 1), {second, 2, 1, 0}}).lines();
  };
  CHECK(run(TimePoint(microseconds(30))) == Lines{"50-64 | prefill 0+2 1+2 | free 98"});
  CHECK(run(TimePoint(microseconds(50))) == Lines{"50-64 | prefill 0+2 1+2 | free 98"});
  // Too late for that batch, it waits for a window of its own.
  CHECK(run(TimePoint(microseconds(50) + picoseconds(1))) ==
        Lines{"50-62 | prefill 0+2 | wait 1 | free 99",  //
              "100000001ps-112000001ps | prefill 1+2 | free 99"});
}

TEST_CASE("static: a full batch does not wait: by count, or by blocks") {
  const std::vector<TestRequest> two{request_at(0, 5, 1), request_at(30, 5, 1)};
  CHECK(run_to_end(engine(2, 100, "wait_window: 50 us"), two).lines() ==
        Lines{"30-50 | prefill 0+5 1+5 | free 96"});
  // 3 blocks: the second does not fit, so the first need not wait any longer. Then the second waits until 80.
  CHECK(run_to_end(engine(4, 3, "wait_window: 50 us"), two).lines() ==
        Lines{"30-45 | prefill 0+5 | wait 1 | free 1", "80-95 | prefill 1+5 | free 1"});
  // 4 blocks: exactly enough for both, and room for more sequences.
  CHECK(run_to_end(engine(4, 4, "wait_window: 50 us"), two).lines() ==
        Lines{"50-70 | prefill 0+5 1+5 | free 0"});
}

TEST_CASE("static: the client's limit is reserved, or the longest sequence") {
  const std::vector<TestRequest> two{request_at(0, 2, 1, 6), request_at(0, 2, 1, 6)};
  // 2 + 6 tokens: 2 blocks each.
  CHECK(run_to_end(engine(4, 4), two).lines() == Lines{"0-14 | prefill 0+2 1+2 | free 0"});
  CHECK(run_to_end(engine(4, 3), two).lines() ==
        Lines{"0-12 | prefill 0+2 | wait 1 | free 1", "12-24 | prefill 1+2 | free 1"});
  CHECK(run_to_end(engine(4, 4, "reserve: max_model_len"), two).lines() ==
        Lines{"0-12 | prefill 0+2 | wait 1 | free 0", "12-24 | prefill 1+2 | free 0"});
}

TEST_CASE("static: nobody joins a running batch, though there is room") {
  const StepLog log = run_to_end(engine(4, 100), {request_at(0, 2, 2), request_at(5, 2, 1)});
  CHECK(log.lines() == Lines{"0-12 | prefill 0+2 | wait 1 | free 99",  //
                             "12-26 | decode 0 | wait 1 | free 99",    //
                             "26-38 | prefill 1+2 | free 99"});
}

TEST_CASE(
    "static: an arrival at a batch's end is in the next batch, one a picosecond later in the one after") {
  const auto run = [](Duration late) {
    return run_to_end(
               engine(4, 100),
               {request_at(0, 2, 1), request_at(3, 2, 1), {TimePoint(microseconds(12) + late), 2, 1, 0}})
        .lines();
  };
  CHECK(run(picoseconds(0)) ==
        Lines{"0-12 | prefill 0+2 | wait 1 | free 99", "12-26 | prefill 1+2 2+2 | free 98"});
  CHECK(run(picoseconds(1)) == Lines{"0-12 | prefill 0+2 | wait 1 | free 99",   //
                                     "12-24 | prefill 1+2 | wait 1 | free 99",  //
                                     "24-36 | prefill 2+2 | free 99"});
}

TEST_CASE("static: a prompt without room for one token is rejected on arrival") {
  const StepLog log = run_to_end(engine(4, 4), {request_at(3, 16, 1), request_at(4, 15, 1)});
  CHECK(log.lines() == Lines{"3 | reject 0", "4-29 | prefill 1+15 | free 0"});
}

TEST_CASE("static: requests that wait for company between steps count as waiting when the step starts") {
  // Two sit out the window of 50 us; a third comes at its very end and has not waited.
  class MostKept : public SimulationObserver {
   public:
    void on_steps(const StepRecord& step) override { kept.push_back(step.kept_waiting); }
    std::vector<std::int64_t> kept;
  } observer;
  const auto simulation = make_simulation(
      engine(8, 100, "wait_window: 50 us"),
      make_list_workload({request_at(0, 2, 1), request_at(10, 2, 1), request_at(50, 2, 1)}), observer);
  simulation->run();
  CHECK(observer.kept == std::vector<std::int64_t>{2});
}

}  // namespace
}  // namespace inferometer::testing
