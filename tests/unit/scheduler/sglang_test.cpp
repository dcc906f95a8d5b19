// Hand-worked traces of sglang. A step costs 10 us + 1 us a token; blocks hold one token, as SGLang's pages
// do, where nothing else is said; nothing is cached. Memory set aside: of the tokens that a running request
// may still emit, a ratio of 0.7 that falls by (0.7 - 0.098) / 600 with every decode step, rounded down to
// whole tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"
#include "tests/unit/scheduler/known_prefixes.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t blocks, const std::string& keys = "", std::int64_t block_size = 1) {
  EngineSetup setup;
  setup.policy = "sglang";
  setup.keys = "disable_radix_cache: true" + (keys.empty() ? "" : ", " + keys);
  setup.blocks = blocks;
  setup.block_size = block_size;
  setup.max_model_len = block_size * blocks;
  setup.max_num_seqs = 4;
  return setup;
}

TEST_CASE("sglang: prompts run in a step of their own while decodes stand still") {
  const StepLog log = run_to_end(engine(40), {request_at(0, 3, 3), request_at(5, 4, 2)});
  CHECK(log.lines() == Lines{"0-13 | prefill 0+3 | wait 1 | free 37",  //
                             "13-27 | prefill 1+4 | free 33",          //
                             "27-39 | decode 0 1 | free 31",           //
                             "39-50 | decode 0 | free 35"});
}

TEST_CASE("sglang: with mixed chunks decodes run beside prompts") {
  const StepLog log =
      run_to_end(engine(40, "enable_mixed_chunk: true"), {request_at(0, 3, 3), request_at(5, 4, 2)});
  CHECK(log.lines() == Lines{"0-13 | prefill 0+3 | wait 1 | free 37",     //
                             "13-28 | prefill 1+4 | decode 0 | free 32",  //
                             "28-40 | decode 0 1 | free 30"});
}

// 14 tokens of memory. 2 (4+1) comes while 0 (2+2) and 1 (2+6) run their prompts: 4 of their 14 tokens. They
// may emit 1 and 5 more, of which 0.7 are 4.2: 14 - 4 - 4 = 6 are left, and 2 needs 4 + 1.
const std::vector<TestRequest> kLatched{request_at(0, 2, 2), request_at(0, 2, 6), request_at(1, 4, 1)};

TEST_CASE("sglang: a request that does not fit closes the batch until a decode after somebody has left") {
  // It needs a page to spare as well: 6, which is not less than 6. From then on nobody is tried.
  // at 26 us 0 leaves; the queue comes before the batch is looked over: one more decode
  //    37    1 may emit 3 more, of which 0.698 are 2.1: 10 - 2 = 8 are left, and 6 are less
  const StepLog log = run_to_end(engine(14), kLatched);
  CHECK(log.lines() == Lines{"0-14 | prefill 0+2 1+2 | wait 1 | free 10",  //
                             "14-26 | decode 0 1 | wait 1 | free 8",       //
                             "26-37 | decode 1 | wait 1 | free 10",        //
                             "37-51 | prefill 2+4 | free 6",               //
                             "51-62 | decode 1 | free 9",                  //
                             "62-73 | decode 1 | free 8",                  //
                             "73-84 | decode 1 | free 7"});
}

TEST_CASE("sglang: without a page to spare 5 tokens are less than 6") {
  const StepLog log = run_to_end(engine(14, "spare_page: false"), kLatched);
  CHECK(log.lines()[1] == "14-28 | prefill 2+4 | free 6");
}

TEST_CASE("sglang: while the batch is closed nobody is tried, even who would fit") {
  // 12 tokens. 0 (4+4) runs and may emit 3 more, of which 0.7 are 2: 8 - 2 = 6. 1 (4+1) needs 4 + 1 + 1,
  // which is not less; 2 (1+1) needs 3, but stands behind it.
  const StepLog log = run_to_end(engine(12), {request_at(0, 4, 4), request_at(1, 4, 1), request_at(2, 1, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+4 | wait 2 | free 8",  //
                             "14-25 | decode 0 | wait 2 | free 7",    //
                             "25-36 | decode 0 | wait 2 | free 6",    //
                             "36-47 | decode 0 | wait 2 | free 5",    //
                             "47-62 | prefill 1+4 2+1 | free 7"});
}

TEST_CASE("sglang: who ends with its prompt opens the batch at once") {
  // 13 tokens. 0 (2+6) and 1 (2+1) take 8 and 3 of them, 2 are left: 2 (1+1) needs 3 and closes the batch. 1
  // ends with its prompt. 0 may emit 5 more, 3 of them count: 11 - 3 = 8.
  const StepLog log = run_to_end(engine(13), {request_at(0, 2, 6), request_at(0, 2, 1), request_at(0, 1, 1)});
  CHECK(log.lines()[0] == "0-14 | prefill 0+2 1+2 | wait 1 | free 9");
  CHECK(log.lines()[1] == "14-25 | prefill 2+1 | free 10");
}

TEST_CASE("sglang: the seats close the batch as well") {
  EngineSetup setup = engine(40);
  setup.max_num_seqs = 2;
  const StepLog log = run_to_end(setup, {request_at(0, 2, 2), request_at(0, 2, 4), request_at(0, 2, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+2 1+2 | wait 1 | free 36",  //
                             "14-26 | decode 0 1 | wait 1 | free 34",      //
                             "26-37 | decode 1 | wait 1 | free 36",        //
                             "37-49 | prefill 2+2 | free 34",              //
                             "49-60 | decode 1 | free 35"});
}

TEST_CASE("sglang: one prompt at a time is cut, and goes on before anything else") {
  // Chunks of 6: 0 (3+3) leaves 3 of it to 1 (10+1), which then takes 6 and 1. 2 (2+1) comes in where 5 are
  // left.
  const StepLog log = run_to_end(engine(40, "chunked_prefill_size: 6"),
                                 {request_at(0, 3, 3), request_at(0, 10, 1), request_at(1, 2, 1)});
  CHECK(log.lines() == Lines{"0-16 | prefill 0+3 1+3 | wait 1 | free 34",  //
                             "16-32 | prefill 1+6 | wait 1 | free 28",     //
                             "32-45 | prefill 1+1 2+2 | free 25",          //
                             "45-56 | decode 0 | free 36",                 //
                             "56-67 | decode 0 | free 35"});
}

TEST_CASE("sglang: a prompt is cut at whole pages") {
  // Pages of 4, chunks of 6: 4, and then what is left, 6.
  const StepLog log = run_to_end(engine(10, "chunked_prefill_size: 6", 4), {request_at(0, 10, 1)});
  CHECK(log.lines() == Lines{"0-14 | prefill 0+4 | free 9", "14-30 | prefill 0+6 | free 7"});
}

TEST_CASE("sglang: prompts join a step until the next one would fill max_prefill_tokens") {
  // Of 8 tokens 5 are taken; 3 would fill the rest. A single prompt may be longer.
  const StepLog log = run_to_end(engine(40, "max_prefill_tokens: 8"),
                                 {request_at(0, 5, 1), request_at(0, 3, 1), request_at(0, 2, 1)});
  CHECK(log.lines() == Lines{"0-15 | prefill 0+5 | wait 2 | free 35", "15-30 | prefill 1+3 2+2 | free 35"});
  CHECK(run_to_end(engine(40, "max_prefill_tokens: 8"), {request_at(0, 10, 1)}).lines() ==
        Lines{"0-20 | prefill 0+10 | free 30"});
}

// Next to nothing is set aside for outputs, and no page to spare.
const std::string kBold = "schedule_conservativeness: 0.1, spare_page: false";

TEST_CASE("sglang: of those that emitted alike the longest prompt is retracted and queued behind all") {
  // 16 tokens; each request is admitted as it comes, since 0.07 of what the others may emit is less than one.
  // at 65 us 3 + 3 + 3 have been emitted, 1 token is free and 3 are needed: 2, with the longest prompt, gives
  //          up its 6. The ratio is now (3 + 3 + 20 * 2) / (6 + 6 + 1), at most 1.
  //    77    0 and 1 may emit 2 + 2 more: 5 - 4 = 1 is left, not enough for 3 (1+1), which came at 60
  //    101   both are done. 3 stands before 2: 16 - (1 + 1) = 14 are left, and 2 needs 7 + 3
  const StepLog log = run_to_end(engine(16, kBold), {request_at(0, 3, 6), request_at(1, 2, 6),
                                                     request_at(14, 4, 6), request_at(60, 1, 1)});
  CHECK(log.lines() == Lines{"0-13 | prefill 0+3 | wait 1 | free 13",             //
                             "13-25 | prefill 1+2 | wait 1 | free 11",            //
                             "25-39 | prefill 2+4 | free 7",                      //
                             "39-52 | decode 0 1 2 | free 4",                     //
                             "52-65 | decode 0 1 2 | wait 1 | free 1",            //
                             "65-77 | decode 0 1 | preempt 2 | wait 2 | free 5",  //
                             "77-89 | decode 0 1 | wait 2 | free 3",              //
                             "89-101 | decode 0 1 | wait 2 | free 1",             //
                             "101-119 | prefill 3+1 2+7 | free 8",                //
                             "119-130 | decode 2 | free 8",                       //
                             "130-141 | decode 2 | free 7"});
  CHECK(log.outcome(2) == "arrived 14, admitted 25, first 39, done 141, preempted 1");
}

TEST_CASE("sglang: who has emitted least is retracted, however short its prompt") {
  // 16 tokens. 1 (2+6) joins 0 (6+6) a token later. At 75 us they have emitted 5 and 4, and 1 token is free.
  const StepLog log = run_to_end(engine(16, kBold), {request_at(0, 6, 6), request_at(17, 2, 6)});
  CHECK(log.lines() == Lines{"0-16 | prefill 0+6 | free 10",                    //
                             "16-27 | decode 0 | wait 1 | free 9",              //
                             "27-39 | prefill 1+2 | free 7",                    //
                             "39-51 | decode 0 1 | free 5",                     //
                             "51-63 | decode 0 1 | free 3",                     //
                             "63-75 | decode 0 1 | free 1",                     //
                             "75-86 | decode 0 | preempt 1 | wait 1 | free 5",  //
                             "86-102 | prefill 1+6 | free 10",                  //
                             "102-113 | decode 1 | free 9"});
}

TEST_CASE("sglang: a request that may fill all memory is admitted to an empty engine") {
  const StepLog log = run_to_end(engine(8), {request_at(0, 5, 2, 3)});
  CHECK(log.lines() == Lines{"0-15 | prefill 0+5 | free 3", "15-26 | decode 0 | free 2"});
}

TEST_CASE("sglang: the longest cached prefix goes first, what came first where they are alike") {
  KnownPrefixes prefixes;
  prefixes.at_first[1] = {4, 0};
  prefixes.at_first[2] = {8, 0};
  const std::vector<TestRequest> requests{request_at(0, 12, 1), request_at(0, 12, 1), request_at(0, 12, 1)};
  const StepPlan sorted = prefixes.plan_for(engine(100, "schedule_policy: lpm"), requests);
  REQUIRE(sorted.admitted.size() == 3);
  CHECK(sorted.admitted[0].id == 2);
  CHECK(sorted.admitted[0].cached_tokens == 8);
  CHECK(sorted.chunks[0].tokens == 4);
  CHECK(sorted.admitted[1].id == 1);
  CHECK(sorted.admitted[2].id == 0);
  const StepPlan plain = prefixes.plan_for(engine(100), requests);
  REQUIRE(plain.admitted.size() == 3);
  CHECK(plain.admitted[0].id == 0);
  CHECK(plain.admitted[1].id == 1);
}

TEST_CASE("sglang: queues of more than 128 are not sorted") {
  KnownPrefixes prefixes;
  prefixes.at_first[1] = {1, 0};
  const auto first = [&](std::size_t waiting) {
    EngineSetup setup = engine(1000, "schedule_policy: lpm");
    return prefixes.plan_for(setup, std::vector<TestRequest>(waiting, request_at(0, 2, 1))).admitted[0].id;
  };
  CHECK(first(128) == 1);
  CHECK(first(129) == 0);
}

TEST_CASE("sglang: who would find 32 tokens in what its batch computes is tried behind all others") {
  const auto order = [](std::int64_t shared) {
    KnownPrefixes prefixes;
    prefixes.later[1] = {shared, 0};
    const StepPlan plan =
        prefixes.plan_for(engine(400, "schedule_policy: lpm"),
                          {request_at(0, 40, 1), request_at(0, 40, 1), request_at(0, 40, 1)});
    std::vector<SequenceId> ids;
    for (const StepPlan::Admission& admission : plan.admitted) {
      ids.push_back(admission.id);
    }
    return ids;
  };
  CHECK(order(31) == std::vector<SequenceId>{0, 1, 2});
  CHECK(order(32) == std::vector<SequenceId>{0, 2, 1});
}

TEST_CASE("sglang: cached blocks that nobody holds count as free until they are taken") {
  // 20 tokens; 0 (4+1) takes 5. 1 (12+2) finds 8 of its 12: 4 + 2 + 1 = 7 are less than 15 - 7, not than 15
  // - 8.
  const auto admitted = [](std::int64_t idle) {
    KnownPrefixes prefixes;
    prefixes.at_first[1] = {8, idle};
    return prefixes.plan_for(engine(20), {request_at(0, 4, 1), request_at(0, 12, 2)}).admitted.size();
  };
  CHECK(admitted(7) == 2);
  CHECK(admitted(8) == 1);
}

TEST_CASE("sglang: chunks that cannot work are refused") {
  EngineSetup setup = engine(10, "chunked_prefill_size: 3", 4);
  CHECK_THROWS_AS(make_policy(setup), ConfigError);
  setup = engine(10, "chunked_prefill_size: 7, enable_mixed_chunk: true", 4);
  CHECK_THROWS_AS(make_policy(setup), ConfigError);  // four decodes and a block
  setup = engine(10, "chunked_prefill_size: 8, enable_mixed_chunk: true", 4);
  CHECK_NOTHROW(make_policy(setup));
}

}  // namespace
}  // namespace inferometer::testing
