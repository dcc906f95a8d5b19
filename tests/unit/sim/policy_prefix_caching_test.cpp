// Hand-worked traces of chunked_prefill with its prefix cache. A step costs 10 us + 1 us a token; blocks hold
// 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t budget, std::int64_t blocks) {
  EngineSetup setup;
  setup.policy = "chunked_prefill";
  setup.keys = "max_num_batched_tokens: " + std::to_string(budget);
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = 4;
  return setup;
}

TestRequest with_content(TestRequest request, std::vector<ContentRun> content, std::uint64_t output = 0) {
  request.content = std::move(content);
  request.output_content = output;
  return request;
}

TEST_CASE("prefix caching: a twin in the same step finds all but its last block") {
  // 12 tokens each: the second finds 8, since 11 hold two full blocks, and computes the last block again. It
  // takes one block of its own.
  const TestRequest first = with_content(request_at(0, 12, 1), {{1, 12}});
  const StepLog log = run_to_end(engine(100, 20), {first, first});
  CHECK(log.lines() == Lines{"0-26 | prefill 0+12 1+4 | free 16"});
}

TEST_CASE("prefix caching: a twin that comes later finds as much, a longer prompt more") {
  const TestRequest first = with_content(request_at(0, 12, 1), {{1, 12}});
  const TestRequest twin = with_content(request_at(100, 12, 1), {{1, 12}});
  const TestRequest longer = with_content(request_at(200, 14, 1), {{1, 12}, {2, 2}});
  const StepLog log = run_to_end(engine(100, 20), {first, twin, longer});
  CHECK(log.lines() == Lines{"0-22 | prefill 0+12 | free 17",    //
                             "100-114 | prefill 1+4 | free 17",  //
                             "200-212 | prefill 2+2 | free 16"});
}

TEST_CASE("prefix caching: what of a twin's prompt is not computed yet is computed twice") {
  // A budget of 8: when the second comes, two blocks of the first have been taken. It computes the rest
  // itself.
  const TestRequest first = with_content(request_at(0, 16, 1), {{1, 16}});
  const TestRequest twin = with_content(request_at(5, 16, 1), {{1, 16}});
  const StepLog log = run_to_end(engine(8, 20), {first, twin});
  CHECK(log.lines() == Lines{"0-18 | prefill 0+8 | wait 1 | free 18",   //
                             "18-36 | prefill 0+8 | wait 1 | free 16",  //
                             "36-50 | prefill 1+4 | free 16"});
}

TEST_CASE("prefix caching: the next turn finds prompt and answer of the one before") {
  // The answer of 5 tokens has its first 4 cached: 8 + 4 tokens are three full blocks.
  const TestRequest turn = with_content(request_at(0, 8, 5), {{1, 8}}, 7);
  const TestRequest next = with_content(request_at(100, 16, 1), {{1, 8}, {7, 5}, {2, 3}});
  const StepLog log = run_to_end(engine(100, 20), {turn, next});
  CHECK(log.lines().back() == "100-114 | prefill 1+4 | free 16");
}

TEST_CASE("prefix caching: a preempted request computes only what has been taken of its blocks") {
  // As without a cache until 37: request 1 loses its three blocks, the last of which, with 1 token, goes to
  // request 0. Its 10 tokens find two full blocks again, which count as free until then; a third one is there
  // when request 0 has gone.
  const StepLog log = run_to_end(engine(16, 5), {request_at(0, 7, 4), request_at(0, 8, 3)});
  CHECK(log.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                 //
                             "25-37 | decode 0 1 | free 0",                     //
                             "37-48 | decode 0 | preempt 1 | wait 1 | free 2",  //
                             "48-59 | decode 0 | wait 1 | free 2",              //
                             "59-71 | prefill 1+2 | free 2"});
}

TEST_CASE("prefix caching: a prefix that others hold takes no free blocks") {
  // 5 blocks: the first holds 3 for 9 tokens and decodes. The second needs 3 too, two of which it shares.
  const TestRequest first = with_content(request_at(0, 9, 3), {{1, 8}, {2, 1}});
  const TestRequest second = with_content(request_at(5, 9, 1), {{1, 8}, {3, 1}});
  const StepLog log = run_to_end(engine(16, 5), {first, second});
  CHECK(log.lines() == Lines{"0-19 | prefill 0+9 | wait 1 | free 2",  //
                             "19-31 | prefill 1+1 | decode 0 | free 1", "31-42 | decode 0 | free 2"});
}

TEST_CASE("prefix caching: a blocked head is admitted once the chunks before it have filled its last block") {
  // Chunks of 3 of a prompt of 23, and the same prompt again, which all 6 blocks would hold. After chunks of
  // 3, 6 and 9 tokens the first holds a block that is not full: the second lacks 6, 5 and 4, of 5, 4 and 3
  // free. After 12 it shares three full ones and lacks 3 of 3.
  const TestRequest prompt = with_content(request_at(0, 23, 1), {{1, 23}});
  EngineSetup setup = engine(100, 6);
  const std::string policy = GENERATE("chunked_prefill", "priority", "shortest_job_first");
  setup.policy = policy;
  setup.keys += ", long_prefill_token_threshold: 3";
  setup.stepper = GENERATE(Stepper::fast, Stepper::reference);
  const StepLog log = run_to_end(setup, {prompt, prompt});
  CHECK(log.outcome(1).starts_with("arrived 0, admitted 39,"));
}

}  // namespace
}  // namespace inferometer::testing
