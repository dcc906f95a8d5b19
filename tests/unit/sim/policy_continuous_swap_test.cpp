// Hand-worked traces of continuous (vLLM V0) with preemption by swapping. A step costs 10 us + 1 us a token,
// and 2 us for each block that is copied; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"
#include "tests/unit/sim/continuous_engine.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t blocks, const std::string& watermark = "0") {
  EngineSetup setup = continuous_engine(blocks, watermark);
  setup.keys += ", preemption_mode: swap";
  setup.swap = KvSwapConfig{.blocks = 100, .block_copy = microseconds(2)};
  return setup;
}

struct Run {
  StepLog log;
  KvSwapCounts counts;
};

Run run(const EngineSetup& setup, std::vector<TestRequest> requests) {
  Run run;
  const auto simulation = make_simulation(setup, make_list_workload(std::move(requests)), run.log, &run.log);
  simulation->run();
  run.counts = simulation->lanes().front().swap_counts();
  return run;
}

TEST_CASE("continuous with swap: the last to arrive keeps its KV in host memory and goes on where it was") {
  // step  0 (7+5)     1 (8+4)        blocks of 5
  //       7           8              2 + 2
  //       8 cached    9 cached       2 + 3
  //       9 cached    out            3       0 needs a third block, none is free: 3 blocks of 1 go, 6 us
  //       10          swapped        3       9 tokens and the next need 3 blocks, 2 are free
  //       11, end     swapped        3
  //                   10             3       3 blocks come back, 6 us; emits its third token
  //                   11, end        3
  const Run swapped = run(engine(5), {request_at(0, 7, 5), request_at(0, 8, 4)});
  CHECK(swapped.log.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                  //
                                     "25-37 | decode 0 1 | free 0",                      //
                                     "37-54 | decode 0 | swap out 1 | wait 1 | free 2",  //
                                     "54-65 | decode 0 | wait 1 | free 2",               //
                                     "65-76 | decode 0 | wait 1 | free 2",               //
                                     "76-93 | swap in 1 | free 2",                       //
                                     "93-104 | decode 1 | free 2"});
  CHECK(swapped.log.outcome(1) == "arrived 0, admitted 0, first 25, done 104, preempted 1");
  CHECK(swapped.counts == KvSwapCounts{.swapped_out = 1,
                                       .swapped_in = 1,
                                       .out_blocks = 3,
                                       .in_blocks = 3,
                                       .recomputed = 0,
                                       .copying = microseconds(12)});
}

TEST_CASE("continuous with swap: who comes back decodes beside those that run") {
  // step  0 (4+6)   1 (8+2)   2 (8+3)    blocks of 6
  //       4         8         8          1 + 2 + 2
  //       5         9, end    out        2 + 3       one was free, 0 and 1 need one each: 2 blocks of 2 go
  //       6                   9          2 + 3       2 blocks come back
  //       7                   10, end    2 + 3
  //       8, 9, end                      2, 3
  const Run swapped = run(engine(6), {request_at(0, 4, 6), request_at(0, 8, 2), request_at(0, 8, 3)});
  CHECK(swapped.log.lines() == Lines{"0-30 | prefill 0+4 1+8 2+8 | free 1",                //
                                     "30-46 | decode 0 1 | swap out 2 | wait 1 | free 1",  //
                                     "46-62 | decode 0 | swap in 2 | free 1",              //
                                     "62-74 | decode 0 2 | free 1",                        //
                                     "74-85 | decode 0 | free 4",                          //
                                     "85-96 | decode 0 | free 3"});
}

TEST_CASE("continuous with swap: no prompt is admitted while somebody is swapped out") {
  // One of 4 tokens would find its block from 54 on.
  const Run swapped = run(engine(5), {request_at(0, 7, 5), request_at(0, 8, 4), request_at(40, 4, 1)});
  CHECK(swapped.log.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                  //
                                     "25-37 | decode 0 1 | free 0",                      //
                                     "37-54 | decode 0 | swap out 1 | wait 2 | free 2",  //
                                     "54-65 | decode 0 | wait 2 | free 2",               //
                                     "65-76 | decode 0 | wait 2 | free 2",               //
                                     "76-93 | swap in 1 | wait 1 | free 2",              //
                                     "93-107 | prefill 2+4 | free 1",                    //
                                     "107-118 | decode 1 | free 2"});
}

TEST_CASE("continuous with swap: who comes back leaves the watermark free") {
  // All three need a block at 34, two are free. At 98 request 1 leaves 4 blocks free, and 2 needs 3: one more
  // than a watermark of 2 lets it have, until 0 has gone.
  const std::vector<TestRequest> requests{request_at(0, 8, 9), request_at(0, 8, 6), request_at(0, 8, 2)};
  const Lines begin{"0-34 | prefill 0+8 1+8 2+8 | free 2",                //
                    "34-50 | decode 0 1 | swap out 2 | wait 1 | free 2",  //
                    "50-62 | decode 0 1 | wait 1 | free 2",               //
                    "62-74 | decode 0 1 | wait 1 | free 2",               //
                    "74-86 | decode 0 1 | wait 1 | free 2",               //
                    "86-98 | decode 0 1 | wait 1 | free 0"};
  const auto with = [&](Lines end) {
    Lines lines = begin;
    lines.insert(lines.end(), end.begin(), end.end());
    return lines;
  };
  CHECK(run(engine(8, "0.25"), requests).log.lines() ==
        with({"98-109 | decode 0 | wait 1 | free 4", "109-120 | decode 0 | wait 1 | free 4",
              "120-131 | decode 0 | wait 1 | free 4", "131-146 | swap in 2 | free 5"}));
  CHECK(run(engine(8, "0"), requests).log.lines() ==
        with({"98-114 | decode 0 | swap in 2 | free 1", "114-125 | decode 0 | free 4",
              "125-136 | decode 0 | free 4"}));
}

TEST_CASE("continuous with swap: who finds no room in host memory is computed again and counted") {
  EngineSetup setup = engine(5);
  const std::vector<TestRequest> requests{request_at(0, 7, 5), request_at(0, 8, 4)};
  setup.swap->blocks = 3;
  CHECK(run(setup, requests).counts.recomputed == 0);
  setup.swap->blocks = 2;
  const Run recomputed = run(setup, requests);
  CHECK(recomputed.log.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                 //
                                        "25-37 | decode 0 1 | free 0",                     //
                                        "37-48 | decode 0 | preempt 1 | wait 1 | free 2",  //
                                        "48-59 | decode 0 | wait 1 | free 2",              //
                                        "59-70 | decode 0 | wait 1 | free 2",              //
                                        "70-90 | prefill 1+10 | free 2",                   //
                                        "90-101 | decode 1 | free 2"});
  CHECK(recomputed.counts == KvSwapCounts{.recomputed = 1});
}

}  // namespace
}  // namespace inferometer::testing
