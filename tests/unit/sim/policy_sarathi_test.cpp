// Hand-worked traces of sarathi. A step costs 10 us + 1 us a token; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t chunk_size, std::int64_t blocks, const std::string& watermark = "0") {
  EngineSetup setup;
  setup.policy = "sarathi";
  setup.keys = "chunk_size: " + std::to_string(chunk_size) + ", watermark: " + watermark;
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = 4;
  return setup;
}

TEST_CASE("sarathi: a prompt longer than the chunk is cut, every decode stays in") {
  // step  0 (3+4)   1 (12+2)        blocks: the whole prompt's from the start
  //       3 of 3    5 of 12         1 + 3
  //       decode    7 (12 of 12)    1 + 3     4 and 12 cached
  //       decode    decode, end     2 + 4     5 and 13
  //       end                       2
  const StepLog log = run_to_end(engine(8, 20), {request_at(0, 3, 4), request_at(0, 12, 2)});
  CHECK(log.lines() == Lines{"0-18 | prefill 0+3 1+5 | free 16",          //
                             "18-36 | prefill 1+7 | decode 0 | free 16",  //
                             "36-48 | decode 0 1 | free 14",              //
                             "48-59 | decode 0 | free 18"});
  CHECK(log.outcome(1) == "arrived 0, admitted 0, first 36, done 48, preempted 0");
}

TEST_CASE("sarathi: the last to arrive is preempted and recomputes prompt and output") {
  // step  0 (3+4)   1 (12+2)          blocks of 4
  //       3         5 of 12           1 + 3     exactly enough to admit it
  //       4         12 of 12          1 + 3
  //       5         out               2         0 needs a second block
  //       6, end    waits             2         12 + 1 emitted tokens need 4 blocks
  //                 8 of 13           4
  //                 13 of 13, end     4
  const StepLog log = run_to_end(engine(8, 4), {request_at(0, 3, 4), request_at(0, 12, 2)});
  CHECK(log.lines() == Lines{"0-18 | prefill 0+3 1+5 | free 0",                 //
                             "18-36 | prefill 1+7 | decode 0 | free 0",         //
                             "36-47 | decode 0 | preempt 1 | wait 1 | free 2",  //
                             "47-58 | decode 0 | wait 1 | free 2",              //
                             "58-76 | prefill 1+8 | free 0",                    //
                             "76-91 | prefill 1+5 | free 0"});
  CHECK(log.outcome(1) == "arrived 0, admitted 0, first 36, done 91, preempted 1");
}

TEST_CASE("sarathi: one block fewer and the head of the queue is not admitted, nor what stands behind it") {
  const StepLog log =
      run_to_end(engine(8, 3), {request_at(0, 3, 2), request_at(0, 9, 1), request_at(0, 1, 1)});
  CHECK(log.lines() == Lines{"0-13 | prefill 0+3 | wait 2 | free 2",   //
                             "13-24 | decode 0 | wait 2 | free 2",     //
                             "24-42 | prefill 1+8 | wait 1 | free 0",  //
                             "42-53 | prefill 1+1 | wait 1 | free 0",  //
                             "53-64 | prefill 2+1 | free 2"});
}

TEST_CASE("sarathi: a decode can preempt a prompt half way, which starts again") {
  // step  0 (3+4)   1 (12+1)     chunk of 6, 4 blocks
  //       3         3 of 12      1 + 3
  //       4         8 of 12      1 + 3
  //       5         out          2
  //       6, end    waits        2
  //                 6, 12, end   3
  const StepLog log = run_to_end(engine(6, 4), {request_at(0, 3, 4), request_at(0, 12, 1)});
  CHECK(log.lines() == Lines{"0-16 | prefill 0+3 1+3 | free 0",                 //
                             "16-32 | prefill 1+5 | decode 0 | free 0",         //
                             "32-43 | decode 0 | preempt 1 | wait 1 | free 2",  //
                             "43-54 | decode 0 | wait 1 | free 2",              //
                             "54-70 | prefill 1+6 | free 1",                    //
                             "70-86 | prefill 1+6 | free 1"});
  CHECK(log.outcome(1) == "arrived 0, admitted 0, first 86, done 86, preempted 1");
}

TEST_CASE("sarathi: an unfinished prompt comes before the queue") {
  // Chunk of 6: 0 takes 6 of 10, then its last 4; what is left of the chunk goes to 1.
  const StepLog log = run_to_end(engine(6, 20), {request_at(0, 10, 1), request_at(0, 5, 1)});
  CHECK(log.lines() == Lines{"0-16 | prefill 0+6 | wait 1 | free 17",  //
                             "16-32 | prefill 0+4 1+2 | free 15",      //
                             "32-45 | prefill 1+3 | free 18"});
}

TEST_CASE("sarathi: admission leaves the watermark free, to the block") {
  // A quarter of 8 blocks: 2. Request 0 holds 4.
  const auto run = [](std::int64_t second) {
    return run_to_end(engine(40, 8, "0.25"), {request_at(0, 16, 1), request_at(0, second, 1)}).lines();
  };
  CHECK(run(8) == Lines{"0-34 | prefill 0+16 1+8 | free 2"});
  CHECK(run(9) == Lines{"0-26 | prefill 0+16 | wait 1 | free 4", "26-45 | prefill 1+9 | free 5"});
}

TEST_CASE("sarathi: a prompt that can never leave the watermark free is rejected, and others go past it") {
  const StepLog log =
      run_to_end(engine(40, 8, "0.25"), {request_at(0, 25, 1), request_at(0, 4, 1), request_at(50, 24, 1)});
  CHECK(log.lines() == Lines{"0 | reject 0",                 //
                             "0-14 | prefill 1+4 | free 7",  //
                             "50-84 | prefill 2+24 | free 2"});
}

TEST_CASE("sarathi: no more than max_num_seqs run") {
  EngineSetup setup = engine(8, 20);
  setup.max_num_seqs = 2;
  const StepLog log = run_to_end(setup, {request_at(0, 1, 3), request_at(0, 3, 1), request_at(0, 1, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+1 1+3 | wait 1 | free 18",  //
                             "14-26 | prefill 2+1 | decode 0 | free 18",   //
                             "26-37 | decode 0 | free 19"});
}

TEST_CASE("sarathi: the chunk counts decodes, and must have room for one of every sequence") {
  EngineSetup setup = engine(2, 20);
  setup.max_num_seqs = 2;
  const StepLog log = run_to_end(setup, {request_at(0, 1, 3), request_at(0, 3, 1)});
  CHECK(log.lines() == Lines{"0-12 | prefill 0+1 1+1 | free 18",          //
                             "12-24 | prefill 1+1 | decode 0 | free 18",  //
                             "24-36 | prefill 1+1 | decode 0 | free 18"});
  setup.max_num_seqs = 3;
  CHECK_THROWS_AS(make_policy(setup), ConfigError);
}

TEST_CASE("sarathi: an arrival at a step's end joins the next step, one a picosecond later does not") {
  const auto run = [](Duration late) {
    return run_to_end(engine(8, 20), {request_at(0, 2, 2), {TimePoint(microseconds(12) + late), 5, 1, 0}})
        .lines();
  };
  CHECK(run(picoseconds(0)) ==
        Lines{"0-12 | prefill 0+2 | free 19", "12-28 | prefill 1+5 | decode 0 | free 17"});
  CHECK(run(picoseconds(1)) == Lines{"0-12 | prefill 0+2 | free 19",         //
                                     "12-23 | decode 0 | wait 1 | free 19",  //
                                     "23-38 | prefill 1+5 | free 18"});
}

}  // namespace
}  // namespace inferometer::testing
