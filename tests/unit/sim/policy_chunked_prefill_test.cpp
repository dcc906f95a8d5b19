// Hand-worked traces of chunked_prefill (vLLM V1) without its prefix cache. A step costs 10 us + 1 us a
// token; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t budget, std::int64_t blocks, const std::string& more_keys = "") {
  EngineSetup setup;
  setup.policy = "chunked_prefill";
  setup.keys = "enable_prefix_caching: false, max_num_batched_tokens: " + std::to_string(budget) +
               (more_keys.empty() ? "" : ", ") + more_keys;
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = 4;
  return setup;
}

TEST_CASE("chunked_prefill: a prompt longer than the budget is cut, and decodes run beside it") {
  // step  0: 3 of 3      1: 5 of 12             8 tokens  18 us  blocks 1 + 2
  //       0: decode      1: 7 (12 of 12)        8         18            1 + 3
  //       0: decode, end 1: decode, end         2         12            2 + 4 (5 and 13 cached tokens)
  const StepLog log = run_to_end(engine(8, 20), {request_at(0, 3, 3), request_at(0, 12, 2)});
  CHECK(log.lines() == Lines{"0-18 | prefill 0+3 1+5 | free 17",          //
                             "18-36 | prefill 1+7 | decode 0 | free 16",  //
                             "36-48 | decode 0 1 | free 14"});
  CHECK(log.outcome(0) == "arrived 0, admitted 0, first 18, done 48, preempted 0");
  CHECK(log.outcome(1) == "arrived 0, admitted 0, first 36, done 48, preempted 0");
}

// Request 0 will cache 7 + 4 - 1 = 10 tokens, request 1 8 + 3 - 1 = 10: three blocks each, in the end.
const std::vector<TestRequest> kTight{request_at(0, 7, 4), request_at(0, 8, 3)};

TEST_CASE("chunked_prefill: the last admitted is preempted and recomputes all it had") {
  // step  0            1            blocks
  //       7 of 7       8 of 8       2 + 2 of 5
  //       8 cached     9 cached     2 + 3
  //       9 cached     out          3        0 needs a third block, none is free: 1 gives up its three
  //       10, end      waits        3        8 + 2 emitted = 10 tokens need 3 blocks, 2 are free
  //                    10, end      3        the recomputed prefill emits its third token, the last
  const StepLog log = run_to_end(engine(16, 5), kTight);
  CHECK(log.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                 //
                             "25-37 | decode 0 1 | free 0",                     //
                             "37-48 | decode 0 | preempt 1 | wait 1 | free 2",  //
                             "48-59 | decode 0 | wait 1 | free 2",              //
                             "59-79 | prefill 1+10 | free 2"});
  CHECK(log.outcome(1) == "arrived 0, admitted 0, first 25, done 79, preempted 1");
}

TEST_CASE("chunked_prefill: one block more and nobody is preempted") {
  const StepLog log = run_to_end(engine(16, 6), kTight);
  CHECK(log.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 2",  //
                             "25-37 | decode 0 1 | free 1",      //
                             "37-49 | decode 0 1 | free 0",      //
                             "49-60 | decode 0 | free 3"});
}

TEST_CASE(
    "chunked_prefill: a step that preempts admits nobody, the first-chunk gate lets a cut prompt in early") {
  // As above with chunks of at most 8 tokens, and request 2 (1+1) waiting from 30 on. After the preemption 2
  // blocks are free, enough for request 2 or for a chunk of 8: nobody is admitted in that step. In the next,
  // request 1 has 10 tokens to recompute, in 8 + 2, and leaves no block to request 2.
  const std::vector<TestRequest> requests{kTight[0], kTight[1], request_at(30, 1, 1)};
  const StepLog early =
      run_to_end(engine(16, 5, "long_prefill_token_threshold: 8, admission: first_chunk"), requests);
  CHECK(early.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                   //
                               "25-37 | decode 0 1 | wait 1 | free 0",              //
                               "37-48 | decode 0 | preempt 1 | wait 2 | free 2",    //
                               "48-67 | prefill 1+8 | decode 0 | wait 1 | free 0",  //
                               "67-80 | prefill 1+2 2+1 | free 1"});
  // The gate on the full sequence wants all 3 blocks; request 2 waits behind it though it would fit.
  const StepLog late =
      run_to_end(engine(16, 5, "long_prefill_token_threshold: 8, admission: full_isl"), requests);
  CHECK(late.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                 //
                              "25-37 | decode 0 1 | wait 1 | free 0",            //
                              "37-48 | decode 0 | preempt 1 | wait 2 | free 2",  //
                              "48-59 | decode 0 | wait 2 | free 2",              //
                              "59-78 | prefill 1+8 2+1 | free 2",                //
                              "78-90 | prefill 1+2 | free 2"});
}

TEST_CASE("chunked_prefill: a prompt admitted by its first chunk can lose its blocks while it prefills") {
  // 4 blocks of 4. Request 0 caches 4 + 5 - 1 = 8 tokens, request 1 wants 14: 8 a step beside one decode.
  // step  0         1            blocks
  //       4 of 4    5 of 14      1 + 2     budget 9
  //       5 cached  +8 = 13      needs 2 + 4: one more than there is. The needy one is itself the last: it
  //       goes. 6, 7      its first chunk of 8 needs 2 of the 2 free: back in, and out again when it wants to
  //       go on
  const StepLog log =
      run_to_end(engine(9, 4, "admission: first_chunk"), {request_at(0, 4, 5), request_at(0, 14, 1)});
  CHECK(log.lines() == Lines{"0-19 | prefill 0+4 1+5 | free 1",                 //
                             "19-30 | decode 0 | preempt 1 | wait 1 | free 2",  //
                             "30-49 | prefill 1+8 | decode 0 | free 0",         //
                             "49-60 | decode 0 | preempt 1 | wait 1 | free 2",  //
                             "60-79 | prefill 1+8 | decode 0 | free 0",         //
                             "79-95 | prefill 1+6 | free 0"});
  CHECK(log.outcome(1) == "arrived 0, admitted 0, first 95, done 95, preempted 2");
}

TEST_CASE(
    "the head of the queue is admitted with exactly enough blocks, and blocks the queue with one fewer") {
  // Request 0 takes its third block in its second step. Request 1 needs 2 blocks, request 2 one.
  const std::vector<TestRequest> requests{request_at(0, 8, 5), request_at(1, 8, 1), request_at(2, 1, 1)};
  const StepLog enough = run_to_end(engine(16, 5), requests);
  CHECK(enough.lines() == Lines{"0-18 | prefill 0+8 | wait 2 | free 3",              //
                                "18-37 | prefill 1+8 | decode 0 | wait 1 | free 0",  //
                                "37-49 | prefill 2+1 | decode 0 | free 1",           //
                                "49-60 | decode 0 | free 2",                         //
                                "60-71 | decode 0 | free 2"});
  const StepLog blocked = run_to_end(engine(16, 4), requests);
  CHECK(blocked.lines() == Lines{"0-18 | prefill 0+8 | wait 2 | free 2",  //
                                 "18-29 | decode 0 | wait 2 | free 1",    //
                                 "29-40 | decode 0 | wait 2 | free 1",    //
                                 "40-51 | decode 0 | wait 2 | free 1",    //
                                 "51-62 | decode 0 | wait 2 | free 1",    //
                                 "62-81 | prefill 1+8 2+1 | free 1"});
}

TEST_CASE("chunked_prefill: the watermark holds back admissions only while something runs") {
  // A quarter of 8 blocks: 2. After the second step's decode 5 are free: room for 3, not for 4.
  const auto second_step = [](std::int64_t prompt) {
    return run_to_end(engine(40, 8, "watermark: 0.25"), {request_at(0, 8, 2), request_at(1, prompt, 1)})
        .lines()[1];
  };
  CHECK(second_step(12) == "18-41 | prefill 1+12 | decode 0 | free 2");
  CHECK(second_step(13) == "18-29 | decode 0 | wait 1 | free 5");
  // Alone, a prompt may take every block.
  const StepLog alone = run_to_end(engine(40, 8, "watermark: 0.25"), {request_at(0, 31, 1)});
  CHECK(alone.lines() == Lines{"0-41 | prefill 0+31 | free 0"});
}

TEST_CASE(
    "a partial prefill stands ahead of decodes admitted after it, and the last prompt gets what is left") {
  // Chunks of at most 4, budget 7. The list is 0, 1, 2 throughout.
  // step  0 (20)  1 (3)   2 (9)                        cached after it   blocks
  //       4       3       waits: the budget is spent   4  3  0           1 1 0
  //       4       decode  2 = 7 - 4 - 1                8  4  2           2 1 1
  //       4       decode  2                            12 5  4           3 2 1
  //       4       decode  2                            16 6  6           4 2 2
  //       4, end  decode  2                            20 7  8           5 2 2
  //               end     1, end                          8  9             2 3
  const StepLog log = run_to_end(engine(7, 20, "long_prefill_token_threshold: 4"),
                                 {request_at(0, 20, 1), request_at(0, 3, 6), request_at(0, 9, 1)});
  CHECK(log.lines() == Lines{"0-17 | prefill 0+4 1+3 | wait 1 | free 18",     //
                             "17-34 | prefill 0+4 2+2 | decode 1 | free 16",  //
                             "34-51 | prefill 0+4 2+2 | decode 1 | free 14",  //
                             "51-68 | prefill 0+4 2+2 | decode 1 | free 12",  //
                             "68-85 | prefill 0+4 2+2 | decode 1 | free 11",  //
                             "85-97 | prefill 2+1 | decode 1 | free 15"});
}

TEST_CASE("chunked_prefill: no more than max_num_seqs run") {
  EngineSetup setup = engine(16, 20);
  setup.max_num_seqs = 2;
  const StepLog log = run_to_end(setup, {request_at(0, 2, 2), request_at(0, 2, 3), request_at(0, 2, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+2 1+2 | wait 1 | free 18",  //
                             "14-26 | decode 0 1 | wait 1 | free 18",      //
                             "26-39 | prefill 2+2 | decode 1 | free 18"});
}

TEST_CASE("chunked_prefill: without chunking a prompt waits for a step with room for all of it") {
  EngineSetup setup = engine(10, 20, "enable_chunked_prefill: false");
  setup.max_model_len = 10;
  const auto run = [&](std::int64_t second_prompt) {
    return run_to_end(setup, {request_at(0, 6, 2), request_at(0, second_prompt, 1)}).lines();
  };
  CHECK(run(4) == Lines{"0-20 | prefill 0+6 1+4 | free 17", "20-31 | decode 0 | free 18"});
  CHECK(run(5) == Lines{"0-16 | prefill 0+6 | wait 1 | free 18", "16-32 | prefill 1+5 | decode 0 | free 16"});
}

TEST_CASE(
    "chunked_prefill: a prompt without room for one token is rejected on arrival, one token less is served") {
  EngineSetup setup = engine(16, 20);
  setup.max_model_len = 12;
  const StepLog log = run_to_end(setup, {request_at(5, 12, 1), request_at(6, 11, 9)});
  // The second may emit one token only: its output is cut at max_model_len.
  CHECK(log.lines() == Lines{"5 | reject 0", "6-27 | prefill 1+11 | free 17"});
  CHECK(log.outcome(1) == "arrived 6, admitted 6, first 27, done 27, preempted 0");
}

TEST_CASE(
    "chunked_prefill: an arrival at a step's end joins the next step, one a picosecond later does not") {
  const auto run = [](Duration late) {
    return run_to_end(engine(16, 20), {request_at(0, 2, 3), {TimePoint(microseconds(12) + late), 5, 1, 0}})
        .lines();
  };
  CHECK(run(picoseconds(0)) == Lines{"0-12 | prefill 0+2 | free 19",              //
                                     "12-28 | prefill 1+5 | decode 0 | free 17",  //
                                     "28-39 | decode 0 | free 19"});
  CHECK(run(picoseconds(1)) == Lines{"0-12 | prefill 0+2 | free 19",         //
                                     "12-23 | decode 0 | wait 1 | free 19",  //
                                     "23-39 | prefill 1+5 | decode 0 | free 17"});
}

TEST_CASE("chunked_prefill: a budget below max_num_seqs is refused") {
  EngineSetup setup = engine(3, 20);
  CHECK_THROWS_AS(make_policy(setup), ConfigError);
  setup = engine(4, 20);
  CHECK_NOTHROW(make_policy(setup));
}

}  // namespace
}  // namespace inferometer::testing
