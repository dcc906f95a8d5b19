// Hand-worked traces of trtllm (TensorRT-LLM). A step costs 10 us + 1 us a token; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"
#include "tests/unit/scheduler/known_prefixes.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

/// Without a prefix cache, unless the keys say otherwise.
EngineSetup engine(std::int64_t blocks, const std::string& keys = "") {
  const bool says_so = keys.find("enable_block_reuse") != std::string::npos;
  EngineSetup setup;
  setup.policy = "trtllm";
  setup.keys = says_so ? keys : "enable_block_reuse: false" + (keys.empty() ? "" : ", " + keys);
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = 4;
  return setup;
}

EngineSetup chunking(std::int64_t tokens, const std::string& policy) {
  return engine(20, "enable_chunked_context: true, max_num_tokens: " + std::to_string(tokens) +
                        ", context_chunking_policy: " + policy);
}

TEST_CASE("trtllm: guaranteed_no_evict sets aside what a request may emit, not what it will") {
  // 5 blocks. 0 (4+2) may emit 8: three of them.
  const auto run = [](std::int64_t may_emit) {
    return run_to_end(engine(5), {request_at(0, 4, 2, 8), request_at(0, 4, 1, may_emit)}).lines();
  };
  CHECK(run(4) == Lines{"0-18 | prefill 0+4 1+4 | free 0", "18-29 | decode 0 | free 2"});
  CHECK(run(5) == Lines{"0-14 | prefill 0+4 | wait 1 | free 2",  //
                        "14-25 | decode 0 | wait 1 | free 2",    //
                        "25-39 | prefill 1+4 | free 2"});
}

TEST_CASE("trtllm: who does not fit blocks those behind it") {
  const StepLog log =
      run_to_end(engine(5), {request_at(0, 4, 2, 8), request_at(0, 4, 1, 5), request_at(0, 1, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+4 | wait 2 | free 2",  //
                             "14-25 | decode 0 | wait 2 | free 2",    //
                             "25-40 | prefill 1+4 2+1 | free 1"});
}

// Request 0 will cache 7 + 4 - 1 = 10 tokens, request 1 8 + 3 - 1 = 10: three blocks each, in the end.
const std::vector<TestRequest> kTight{request_at(0, 7, 4), request_at(0, 8, 3), request_at(30, 1, 1)};

TEST_CASE("trtllm: max_utilization admits what fits now and pauses the last when it does not any more") {
  // step  0            1            blocks
  //       7 of 7       8 of 8       2 + 2 of 5
  //       8 cached     9 cached     2 + 3
  //       9 cached     out          3        0 needs a third block: 1 pauses; 2, which came, is not looked at
  //       10, end      waits        3        8 + 2 emitted = 10 tokens need 3 blocks, 2 are free, and 2 waits
  //                    10, end      3        behind it
  const StepLog log = run_to_end(engine(5, "capacity_scheduler: max_utilization"), kTight);
  CHECK(log.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                 //
                             "25-37 | decode 0 1 | wait 1 | free 0",            //
                             "37-48 | decode 0 | preempt 1 | wait 2 | free 2",  //
                             "48-59 | decode 0 | wait 2 | free 2",              //
                             "59-80 | prefill 1+10 2+1 | free 1"});
  CHECK(log.outcome(1) == "arrived 0, admitted 0, first 25, done 80, preempted 1");
}

TEST_CASE("trtllm: who was paused finds the full blocks that nobody has taken meanwhile") {
  // As above. 1 gave up two full blocks and one that was not; 0 took that one, which was freed first. Of its
  // 10 tokens 8 are found.
  const StepLog log =
      run_to_end(engine(5, "capacity_scheduler: max_utilization, enable_block_reuse: true"), kTight);
  CHECK(log.lines().back() == "59-72 | prefill 1+2 2+1 | free 1");
}

TEST_CASE("trtllm: guaranteed_no_evict runs the same requests one after the other") {
  const StepLog log = run_to_end(engine(5), {kTight[0], kTight[1]});
  CHECK(log.lines() == Lines{"0-17 | prefill 0+7 | wait 1 | free 2",  //
                             "17-28 | decode 0 | wait 1 | free 2",    //
                             "28-39 | decode 0 | wait 1 | free 2",    //
                             "39-50 | decode 0 | wait 1 | free 2",    //
                             "50-68 | prefill 1+8 | free 2",          //
                             "68-79 | decode 1 | free 2",             //
                             "79-90 | decode 1 | free 2"});
}

TEST_CASE("trtllm: nobody joins a static batch") {
  // 2 + 3 tokens set aside two blocks, 2 + 1 one.
  const StepLog log = run_to_end(engine(20, "capacity_scheduler: static_batch"),
                                 {request_at(0, 2, 3), request_at(0, 2, 1), request_at(1, 2, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+2 1+2 | wait 1 | free 17",  //
                             "14-25 | decode 0 | wait 1 | free 18",        //
                             "25-36 | decode 0 | wait 1 | free 18",        //
                             "36-48 | prefill 2+2 | free 19"});
}

TEST_CASE("trtllm: without chunks a prompt waits for a step with room for all of it") {
  EngineSetup setup = engine(20, "max_num_tokens: 10");
  setup.max_model_len = 10;
  const auto run = [&](std::int64_t second_prompt) {
    return run_to_end(setup, {request_at(0, 6, 2), request_at(0, second_prompt, 1)}).lines();
  };
  CHECK(run(4) == Lines{"0-20 | prefill 0+6 1+4 | free 16", "20-31 | decode 0 | free 18"});
  CHECK(run(5) == Lines{"0-16 | prefill 0+6 | wait 1 | free 18", "16-32 | prefill 1+5 | decode 0 | free 16"});
}

TEST_CASE("trtllm: first come, first served: the last prompt gets what is left in whole blocks") {
  // Budget 10. 0 (7+3) takes 7 of it; what is left is less than a block of 1 (13+1). Beside the decode of 0
  // then 9 are left, two blocks, and at last the 5 that are lacking, though they are no whole blocks.
  const StepLog log =
      run_to_end(chunking(10, "first_come_first_served"), {request_at(0, 7, 3), request_at(0, 13, 1)});
  CHECK(log.lines() == Lines{"0-17 | prefill 0+7 | wait 1 | free 17",     //
                             "17-36 | prefill 1+8 | decode 0 | free 13",  //
                             "36-52 | prefill 1+5 | decode 0 | free 13"});
}

TEST_CASE("trtllm: first come, first served: a short prompt takes what is less than a block of a long one") {
  const StepLog log = run_to_end(chunking(10, "first_come_first_served"),
                                 {request_at(0, 7, 1), request_at(0, 9, 1), request_at(0, 2, 1)});
  CHECK(log.lines() == Lines{"0-19 | prefill 0+7 2+2 | wait 1 | free 17", "19-38 | prefill 1+9 | free 17"});
}

TEST_CASE("trtllm: equal progress gives a block to each in turn") {
  // 9, 6 and 3 tokens, budget 12: 4 + 4 + 3, and no further block fits into the 1 that is left.
  const std::vector<TestRequest> requests{request_at(0, 9, 1), request_at(0, 6, 1), request_at(0, 3, 1)};
  CHECK(run_to_end(chunking(12, "equal_progress"), requests).lines() ==
        Lines{"0-21 | prefill 0+4 1+4 2+3 | free 14", "21-38 | prefill 0+5 1+2 | free 15"});
  CHECK(run_to_end(chunking(12, "first_come_first_served"), requests).lines() ==
        Lines{"0-22 | prefill 0+9 2+3 | wait 1 | free 16", "22-38 | prefill 1+6 | free 18"});
}

TEST_CASE("trtllm: no more than max_num_seqs run") {
  EngineSetup setup = engine(20);
  setup.max_num_seqs = 2;
  const StepLog log = run_to_end(setup, {request_at(0, 2, 2), request_at(0, 2, 3), request_at(0, 2, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+2 1+2 | wait 1 | free 17",  //
                             "14-26 | decode 0 1 | wait 1 | free 17",      //
                             "26-39 | prefill 2+2 | decode 1 | free 17"});
}

TEST_CASE("trtllm: a prompt waits a step for the prefix that the one before it is about to compute") {
  // Both begin with the same 8 tokens, of which nothing is cached: 1 would find them once 0 has started.
  const EngineSetup setup = engine(20);
  KnownPrefixes prefixes;
  prefixes.later[1] = {8, 0};
  prefixes.later[2] = {0, 0};
  const StepPlan plan =
      prefixes.plan_for(setup, {request_at(0, 12, 1), request_at(0, 12, 1), request_at(0, 4, 1)});
  REQUIRE(plan.admitted.size() == 2);
  CHECK(plan.admitted[0].id == 0);
  CHECK(plan.admitted[1].id == 2);
}

TEST_CASE("trtllm: what is cached needs no tokens, and no blocks but those that nobody holds") {
  // 5 blocks. 0 (16+4) wants all of them, but 12 of its tokens are cached: in three blocks, one of them idle.
  const auto admitted = [](std::int64_t blocks, std::int64_t idle) {
    EngineSetup setup = engine(5);
    setup.blocks = blocks;
    KnownPrefixes prefixes;
    prefixes.at_first[0] = {12, idle};
    return prefixes.plan_for(setup, {request_at(0, 16, 4)});
  };
  const StepPlan plan = admitted(3, 1);
  REQUIRE(plan.admitted.size() == 1);
  CHECK(plan.admitted[0].cached_tokens == 12);
  CHECK(plan.admitted[0].reserve_tokens == 20);
  CHECK(plan.chunks[0].tokens == 4);
  CHECK(admitted(3, 2).admitted.empty());
}

TEST_CASE("trtllm: budgets that cannot work are refused") {
  EngineSetup setup = engine(20, "max_num_tokens: 3, enable_chunked_context: true");
  CHECK_THROWS_AS(make_policy(setup), ConfigError);  // four decodes
  setup.keys = "max_num_tokens: 79";
  CHECK_THROWS_AS(make_policy(setup), ConfigError);  // sequences of 80 that are not cut
  setup.keys = "max_num_tokens: 80";
  CHECK_NOTHROW(make_policy(setup));
  setup.keys = "max_num_tokens: 4, enable_chunked_context: true";
  CHECK_NOTHROW(make_policy(setup));
}

}  // namespace
}  // namespace inferometer::testing
