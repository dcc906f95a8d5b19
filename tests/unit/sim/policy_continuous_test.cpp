// Hand-worked traces of continuous (vLLM V0). A step costs 10 us + 1 us a token; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"
#include "tests/unit/sim/continuous_engine.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t blocks, const std::string& watermark = "0") {
  return continuous_engine(blocks, watermark);
}

TEST_CASE("continuous: prompts run first and alone, decodes wait") {
  // step  0 (4+3)   1 (6+2)         cached after it   blocks
  //       4 of 4    not there       4                 1
  //       waits     6 of 6          4  6              1 + 2
  //       decode    decode, end     5  7              2 + 2
  //       end                       6                 2
  const StepLog log = run_to_end(engine(10), {request_at(0, 4, 3), request_at(5, 6, 2)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+4 | wait 1 | free 9",  //
                             "14-30 | prefill 1+6 | free 7",          //
                             "30-42 | decode 0 1 | free 6",           //
                             "42-53 | decode 0 | free 8"});
  CHECK(log.outcome(0) == "arrived 0, admitted 0, first 14, done 53, preempted 0");
}

TEST_CASE("continuous: the last to arrive is preempted and recomputes all it had, stalling the rest") {
  // step  0 (7+5)     1 (8+4)        blocks of 5
  //       7           8              2 + 2
  //       8 cached    9 cached       2 + 3
  //       9 cached    out            3       0 needs a third block, none is free
  //       10          waits          3       10 tokens need 3 blocks, 2 are free
  //       11, end     waits          3
  //                   10             3       emits its third token
  //                   11, end        3
  const StepLog log = run_to_end(engine(5), {request_at(0, 7, 5), request_at(0, 8, 4)});
  CHECK(log.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                 //
                             "25-37 | decode 0 1 | free 0",                     //
                             "37-48 | decode 0 | preempt 1 | wait 1 | free 2",  //
                             "48-59 | decode 0 | wait 1 | free 2",              //
                             "59-70 | decode 0 | wait 1 | free 2",              //
                             "70-90 | prefill 1+10 | free 2",                   //
                             "90-101 | decode 1 | free 2"});
  CHECK(log.outcome(1) == "arrived 0, admitted 0, first 25, done 101, preempted 1");
  // One block more: nobody is preempted.
  const StepLog roomy = run_to_end(engine(6), {request_at(0, 7, 5), request_at(0, 8, 4)});
  CHECK(roomy.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 2",  //
                               "25-37 | decode 0 1 | free 1",      //
                               "37-49 | decode 0 1 | free 0",      //
                               "49-61 | decode 0 1 | free 0",      //
                               "61-72 | decode 0 | free 3"});
}

TEST_CASE("continuous: a preempted prompt that fits again is recomputed before the decodes go on") {
  // step  0 (4+6)   1 (8+2)   2 (8+3)    blocks of 6
  //       4         8         8          1 + 2 + 2
  //       5         9, end    out        2 + 3       one was free, 0 and 1 need one each: 2 gives up its two
  //       waits               9          2 + 3       8 + 1 tokens again; emits its second
  //       6                   10, end    2 + 3
  //       7, 8, 9, end                   2, 2, 3
  const StepLog log = run_to_end(engine(6), {request_at(0, 4, 6), request_at(0, 8, 2), request_at(0, 8, 3)});
  CHECK(log.lines() == Lines{"0-30 | prefill 0+4 1+8 2+8 | free 1",               //
                             "30-42 | decode 0 1 | preempt 2 | wait 1 | free 1",  //
                             "42-61 | prefill 2+9 | free 1",                      //
                             "61-73 | decode 0 2 | free 1",                       //
                             "73-84 | decode 0 | free 4",                         //
                             "84-95 | decode 0 | free 4",                         //
                             "95-106 | decode 0 | free 3"});
  CHECK(log.outcome(2) == "arrived 0, admitted 0, first 30, done 73, preempted 1");
}

TEST_CASE("continuous: a prefill step takes prompts up to the budget, to the token") {
  const auto run = [](std::int64_t second) {
    return run_to_end(engine(5), {request_at(0, 12, 1), request_at(0, second, 1)}).lines();
  };
  CHECK(run(8) == Lines{"0-30 | prefill 0+12 1+8 | free 0"});
  CHECK(run(9) == Lines{"0-22 | prefill 0+12 | wait 1 | free 2", "22-41 | prefill 1+9 | free 2"});
}

TEST_CASE("continuous: admission leaves the watermark free, and a blocked head blocks the queue") {
  // A quarter of 8 blocks: 2. Request 0 holds 4; 2 more leave 2, 3 more leave 1.
  const auto run = [](std::int64_t second) {
    return run_to_end(engine(8, "0.25"),
                      {request_at(0, 16, 1), request_at(0, second, 1), request_at(0, 4, 1)})
        .lines();
  };
  CHECK(run(8) == Lines{"0-34 | prefill 0+16 1+8 | wait 1 | free 2", "34-48 | prefill 2+4 | free 7"});
  CHECK(run(9) == Lines{"0-26 | prefill 0+16 | wait 2 | free 4", "26-49 | prefill 1+9 2+4 | free 4"});
}

TEST_CASE("continuous: a prompt that can never leave the watermark free is rejected, and others go past it") {
  // 24 tokens are 6 of 8 blocks and leave the 2 of the watermark; 25 are 7.
  const StepLog log =
      run_to_end(engine(8, "0.25"), {request_at(0, 25, 1), request_at(0, 4, 1), request_at(50, 24, 1)});
  CHECK(log.lines() == Lines{"0 | reject 0",                 //
                             "0-14 | prefill 1+4 | free 7",  //
                             "50-84 | prefill 2+24 | free 2"});
}

TEST_CASE("continuous: a prompt without room for one token is rejected on arrival") {
  const StepLog log = run_to_end(engine(5), {request_at(3, 20, 1), request_at(4, 19, 1)});
  CHECK(log.lines() == Lines{"3 | reject 0", "4-33 | prefill 1+19 | free 0"});
}

TEST_CASE("continuous: no more than max_num_seqs run") {
  EngineSetup setup = engine(20);
  setup.max_num_seqs = 2;
  const StepLog log = run_to_end(setup, {request_at(0, 2, 2), request_at(0, 2, 3), request_at(0, 2, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+2 1+2 | wait 1 | free 18",  //
                             "14-26 | decode 0 1 | wait 1 | free 18",      //
                             "26-38 | prefill 2+2 | free 18",              //
                             "38-49 | decode 1 | free 19"});
}

TEST_CASE("continuous: an arrival at a step's end is prefilled next, one a picosecond later a step after") {
  const auto run = [](Duration late) {
    return run_to_end(engine(20), {request_at(0, 2, 2), {TimePoint(microseconds(12) + late), 5, 1, 0}})
        .lines();
  };
  CHECK(run(picoseconds(0)) == Lines{"0-12 | prefill 0+2 | free 19",   //
                                     "12-27 | prefill 1+5 | free 17",  //
                                     "27-38 | decode 0 | free 19"});
  CHECK(run(picoseconds(1)) == Lines{"0-12 | prefill 0+2 | free 19",         //
                                     "12-23 | decode 0 | wait 1 | free 19",  //
                                     "23-38 | prefill 1+5 | free 18"});
}

}  // namespace
}  // namespace inferometer::testing
