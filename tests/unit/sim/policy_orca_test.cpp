// Hand-worked traces of orca. A step costs 10 us + 1 us a token; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t blocks, std::int64_t max_model_len, const std::string& keys = "") {
  EngineSetup setup;
  setup.policy = "orca";
  setup.keys = keys;
  setup.blocks = blocks;
  setup.max_model_len = max_model_len;
  setup.max_num_seqs = 4;
  return setup;
}

TEST_CASE("orca: a prompt runs whole beside decodes, and leaves as soon as it is done") {
  // Reserved: 0 (4+3) 2 blocks, 1 (9+1) 3 blocks, whatever is cached.
  const StepLog log = run_to_end(engine(10, 40), {request_at(0, 4, 3), request_at(5, 9, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+4 | wait 1 | free 8",     //
                             "14-34 | prefill 1+9 | decode 0 | free 5",  //
                             "34-45 | decode 0 | free 8"});
}

TEST_CASE(
    "orca: room for what the client allowed is reserved, to the block, a blocked head blocks the queue") {
  // 4 blocks. Request 0 may grow to 4 + 4 tokens: 2 blocks. Request 1 emits 3, but may emit 4 (2 blocks) or 5
  // (3).
  const auto run = [](std::int64_t allowed) {
    return run_to_end(engine(4, 16),
                      {request_at(0, 4, 2, 4), request_at(0, 4, 3, allowed), request_at(0, 1, 1)})
        .lines();
  };
  CHECK(run(4) == Lines{"0-18 | prefill 0+4 1+4 | wait 1 | free 0",  //
                        "18-30 | decode 0 1 | wait 1 | free 0",      //
                        "30-42 | prefill 2+1 | decode 1 | free 1"});
  CHECK(run(5) == Lines{"0-14 | prefill 0+4 | wait 2 | free 2",  //
                        "14-25 | decode 0 | wait 2 | free 2",    //
                        "25-40 | prefill 1+4 2+1 | free 0",      //
                        "40-51 | decode 1 | free 1",             //
                        "51-62 | decode 1 | free 1"});
}

TEST_CASE("orca: the longest sequence can be reserved instead") {
  // 16 tokens are 4 blocks: two fit into 8, one into 7.
  const std::vector<TestRequest> requests{request_at(0, 1, 1), request_at(0, 1, 1)};
  CHECK(run_to_end(engine(8, 16, "reserve: max_model_len"), requests).lines() ==
        Lines{"0-12 | prefill 0+1 1+1 | free 0"});
  CHECK(run_to_end(engine(7, 16, "reserve: max_model_len"), requests).lines() ==
        Lines{"0-11 | prefill 0+1 | wait 1 | free 3", "11-22 | prefill 1+1 | free 3"});
}

TEST_CASE("orca: no more than max_num_seqs run") {
  EngineSetup setup = engine(20, 40);
  setup.max_num_seqs = 2;
  const StepLog log = run_to_end(setup, {request_at(0, 2, 2), request_at(0, 2, 3), request_at(0, 2, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+2 1+2 | wait 1 | free 17",  //
                             "14-26 | decode 0 1 | wait 1 | free 17",      //
                             "26-39 | prefill 2+2 | decode 1 | free 17"});
}

TEST_CASE("orca: a prompt without room for one token is rejected on arrival") {
  const StepLog log = run_to_end(engine(4, 16), {request_at(3, 16, 1), request_at(4, 15, 1)});
  CHECK(log.lines() == Lines{"3 | reject 0", "4-29 | prefill 1+15 | free 0"});
}

TEST_CASE("orca: an arrival at a step's end joins the next step, one a picosecond later does not") {
  const auto run = [](Duration late) {
    return run_to_end(engine(20, 40), {request_at(0, 2, 2), {TimePoint(microseconds(12) + late), 5, 1, 0}})
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
