// Hand-worked traces of priority (vLLM V1 by priority). A step costs 10 us + 1 us a token; blocks hold 4
// tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t blocks) {
  EngineSetup setup;
  setup.policy = "priority";
  setup.keys = "enable_prefix_caching: false, max_num_batched_tokens: 16";
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = 4;
  return setup;
}

TestRequest request(std::int64_t arrival_us, std::int64_t prompt, std::int64_t output,
                    std::int32_t priority) {
  TestRequest request = request_at(arrival_us, prompt, output);
  request.priority = priority;
  return request;
}

TEST_CASE("priority: the queue is in order of priority and within one of arrival") {
  EngineSetup setup = engine(20);
  setup.max_num_seqs = 1;
  const StepLog log =
      run_to_end(setup, {request(0, 2, 2, 1), request(1, 2, 1, 1), request(2, 2, 1, 0), request(3, 2, 1, 0)});
  CHECK(log.lines() == Lines{"0-12 | prefill 0+2 | wait 3 | free 19",   //
                             "12-23 | decode 0 | wait 3 | free 19",     //
                             "23-35 | prefill 2+2 | wait 2 | free 19",  //
                             "35-47 | prefill 3+2 | wait 1 | free 19",  //
                             "47-59 | prefill 1+2 | free 19"});
}

TEST_CASE("priority: nobody who waits takes the place of one who runs") {
  EngineSetup setup = engine(20);
  setup.max_num_seqs = 1;
  const StepLog log = run_to_end(setup, {request(0, 2, 3, 9), request(1, 2, 1, -9)});
  CHECK(log.lines() == Lines{"0-12 | prefill 0+2 | wait 1 | free 19",  //
                             "12-23 | decode 0 | wait 1 | free 19",    //
                             "23-34 | decode 0 | wait 1 | free 19",    //
                             "34-46 | prefill 1+2 | free 19"});
}

TEST_CASE("priority: when blocks run out the least important goes") {
  // step  0 (8+4, priority 1)  1 (7+4, priority 0)    blocks
  //       8 of 8               7 of 7                 2 + 2 of 5
  //       9 cached             8 cached               3 + 2
  //       needs none           needs a third          none is free: 0 goes
  //       out                  9, 10 cached           3       0 has 8 + 2 tokens: three blocks, two are free
  //       10 of 10, 11                                3
  const StepLog log = run_to_end(engine(5), {request(0, 8, 4, 1), request(0, 7, 4, 0)});
  CHECK(log.lines() == Lines{"0-25 | prefill 1+7 0+8 | free 1",                 //
                             "25-37 | decode 1 0 | free 0",                     //
                             "37-48 | decode 1 | preempt 0 | wait 1 | free 2",  //
                             "48-59 | decode 1 | wait 1 | free 2",              //
                             "59-79 | prefill 0+10 | free 2",                   //
                             "79-90 | decode 0 | free 2"});
}

TEST_CASE("priority: a victim that had its turn in this step gives it back") {
  // As above, but 0 runs before 1 comes, so that it stands ahead of it.
  // step  0 (8+4, priority 1)  1 (7+4, priority 0)    blocks
  //       8 of 8                                      2 of 5
  //       9 cached             7 of 7                 3 + 2
  //       10 cached            8 cached               3 + 2
  //       given its turn       needs a third: 0 goes, 2 of its 3 are left
  //                            10 cached, end         3       0 has 8 + 3 tokens: three blocks
  const StepLog log = run_to_end(engine(5), {request(0, 8, 4, 1), request(1, 7, 4, 0)});
  CHECK(log.lines() == Lines{"0-18 | prefill 0+8 | wait 1 | free 3",            //
                             "18-36 | prefill 1+7 | decode 0 | free 0",         //
                             "36-48 | decode 0 1 | free 0",                     //
                             "48-59 | decode 1 | preempt 0 | wait 1 | free 2",  //
                             "59-70 | decode 1 | wait 1 | free 2",              //
                             "70-91 | prefill 0+11 | free 2"});
}

TEST_CASE("priority: the block that a victim was given in this step is free again") {
  // 4 blocks. Each of the three needs a second block in the same step, and one is free: 0 (2+4, priority 1),
  // the first of the list, takes it, and gives it up with its own when 1 (3+3) finds none. 1 and 2 take the
  // two.
  const StepLog log = run_to_end(engine(4), {request(0, 2, 4, 1), request(1, 3, 3, 0), request(1, 3, 3, 0)});
  CHECK(log.lines() == Lines{"0-12 | prefill 0+2 | wait 2 | free 3",              //
                             "12-29 | prefill 1+3 2+3 | decode 0 | free 1",       //
                             "29-42 | decode 0 1 2 | free 1",                     //
                             "42-54 | decode 1 2 | preempt 0 | wait 1 | free 0",  //
                             "54-69 | prefill 0+5 | free 2"});
}

TEST_CASE("priority: who has to go itself ends the step for those behind it") {
  // 4 blocks. The list is 0 (1+4), 1 (7+3, priority 1), 2 (3+2).
  // step  0     1                       2          blocks
  //       1                                        1
  //       2     7 of 7                             1 2
  //       3     8 cached                3 of 3     1 2 1
  //       4     needs a third: it is the least important, and goes; 2 sits out
  //       end: 4 (its last token)       4          1 and 3 for the 7 + 2 tokens of 1
  const StepLog log = run_to_end(engine(4), {request(0, 1, 4, 0), request(1, 7, 3, 1), request(12, 3, 2, 0)});
  CHECK(log.lines() == Lines{"0-11 | prefill 0+1 | wait 1 | free 3",              //
                             "11-29 | prefill 1+7 | decode 0 | wait 1 | free 1",  //
                             "29-44 | prefill 2+3 | decode 0 1 | free 0",         //
                             "44-55 | decode 0 | preempt 1 | wait 1 | free 2",    //
                             "55-75 | prefill 1+9 | decode 2 | free 0"});
  CHECK(log.outcome(1) == "arrived 1, admitted 11, first 29, done 75, preempted 1");
}

TEST_CASE("priority: who goes alone leaves its place in the same step") {
  // 5 blocks. 0 (7+3, priority 1) needs a third block and none is free; it goes, and 1 (12+2) runs.
  const StepLog log = run_to_end(engine(5), {request(0, 7, 3, 1), request(1, 12, 2, 0)});
  CHECK(log.lines() == Lines{"0-17 | prefill 0+7 | wait 1 | free 3",      //
                             "17-40 | prefill 1+12 | decode 0 | free 0",  //
                             "40-51 | decode 1 | wait 1 | free 1",        //
                             "51-70 | prefill 0+9 | free 2"});
  CHECK(log.outcome(0) == "arrived 0, admitted 0, first 17, done 70, preempted 1");
}

}  // namespace
}  // namespace inferometer::testing
