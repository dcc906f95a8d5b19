// Hand-worked traces of shortest_job_first. A step costs 10 us + 1 us a token; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(std::int64_t blocks, std::int64_t max_num_seqs, const std::string& more_keys = "") {
  EngineSetup setup;
  setup.policy = "shortest_job_first";
  setup.keys = "enable_prefix_caching: false, max_num_batched_tokens: 16" +
               (more_keys.empty() ? "" : ", " + more_keys);
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = max_num_seqs;
  return setup;
}

TEST_CASE("shortest_job_first: who may emit least is admitted first, or who has the shortest prompt") {
  const std::vector<TestRequest> requests{request_at(0, 2, 2), request_at(1, 2, 1, 9),
                                          request_at(2, 6, 1, 3)};
  CHECK(run_to_end(engine(20, 1), requests).lines() == Lines{"0-12 | prefill 0+2 | wait 2 | free 19",   //
                                                             "12-23 | decode 0 | wait 2 | free 19",     //
                                                             "23-39 | prefill 2+6 | wait 1 | free 18",  //
                                                             "39-51 | prefill 1+2 | free 19"});
  CHECK(run_to_end(engine(20, 1, "shortest_by: prompt"), requests).lines() ==
        Lines{"0-12 | prefill 0+2 | wait 2 | free 19",   //
              "12-23 | decode 0 | wait 2 | free 19",     //
              "23-35 | prefill 1+2 | wait 1 | free 19",  //
              "35-51 | prefill 2+6 | free 18"});
}

TEST_CASE("shortest_job_first: who has waited longer than the difference in length is worth goes first") {
  // 100,000 tokens a second are one in 10 us: 9 tokens since 1 us are as short as 3 since 61 us. The seat is
  // free after a prefill of 12 us and six decodes of 11: at 78 us.
  const auto admitted = [](std::int64_t arrival_us) {
    return run_to_end(engine(20, 1, "ageing: 100000"),
                      {request_at(0, 2, 7), request_at(1, 2, 1, 9), request_at(arrival_us, 2, 1, 3)})
        .outcome(1);
  };
  CHECK(admitted(60) == "arrived 1, admitted 90, first 102, done 102, preempted 0");
  CHECK(admitted(61) == "arrived 1, admitted 78, first 90, done 90, preempted 0");
}

TEST_CASE("shortest_job_first: who is preempted waits by its length again") {
  // 5 blocks. As chunked_prefill does, the last admitted goes; 2, which came meanwhile, is shorter.
  // step  0 (7+4)   1 (8+3, may emit 9)   2 (1+1)     blocks
  //       7 of 7    8 of 8                            2 + 2
  //       8         9                                 2 + 3
  //       9         out                               3         a step that preempts admits nobody
  //       10, end   8 + 2 tokens: 3     1 of 1        3 + 1
  //                 10 of 10                          3
  const StepLog log =
      run_to_end(engine(5, 4), {request_at(0, 7, 4), request_at(0, 8, 3, 9), request_at(30, 1, 1)});
  CHECK(log.lines() == Lines{"0-25 | prefill 0+7 1+8 | free 1",                   //
                             "25-37 | decode 0 1 | wait 1 | free 0",              //
                             "37-48 | decode 0 | preempt 1 | wait 2 | free 2",    //
                             "48-60 | prefill 2+1 | decode 0 | wait 1 | free 1",  //
                             "60-80 | prefill 1+10 | free 2"});
}

TEST_CASE("shortest_job_first: the fast stepper lets an arrival overtake a head that is blocked") {
  // 5 blocks: 0 (4+9) holds one, then two, then three. 1 (16+1) needs four; 2 (1+1, arrives at 20) one.
  const std::vector<TestRequest> requests{request_at(0, 4, 9), request_at(1, 16, 1, 5), request_at(20, 1, 1)};
  EngineSetup setup = engine(5, 4);
  const StepLog reference = run_to_end(setup, requests);
  CHECK(reference.lines()[1] == "14-25 | decode 0 | wait 2 | free 3");
  CHECK(reference.lines()[2] == "25-37 | prefill 2+1 | decode 0 | wait 1 | free 2");
  setup.stepper = Stepper::fast;
  const StepLog fast = run_to_end(setup, requests);
  CHECK(fast.outcome(2) == reference.outcome(2));
  CHECK(fast.outcome(1) == reference.outcome(1));
}

}  // namespace
}  // namespace inferometer::testing
