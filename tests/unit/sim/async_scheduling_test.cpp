// Hand-worked traces of asynchronous scheduling: the plan of a step is made when the step before begins. A
// step costs 10 us + 1 us a token; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

EngineSetup engine(bool plans_ahead, Stepper stepper) {
  EngineSetup setup;
  setup.policy = "chunked_prefill";
  setup.keys = "enable_prefix_caching: false, max_num_batched_tokens: 16";
  setup.blocks = 20;
  setup.max_model_len = 80;
  setup.max_num_seqs = 4;
  setup.plans_ahead = plans_ahead;
  setup.stepper = stepper;
  return setup;
}

StepLog run(bool plans_ahead, std::vector<TestRequest> requests, Stepper stepper = Stepper::reference) {
  return run_to_end(engine(plans_ahead, stepper), std::move(requests));
}

// Request 0 prefills in 0-13, then decodes in steps of 11 us: 13-24, 24-35, 35-46, ... Request 1 comes at 20,
// while 13-24 runs: the plan of 24-35 was made at 13.
TEST_CASE(
    "who comes during a step is in the next plan, or with asynchronous scheduling in the one after it") {
  const std::vector<TestRequest> requests{request_at(0, 3, 5), request_at(20, 2, 1)};
  CHECK(run(false, requests).lines() == Lines{"0-13 | prefill 0+3 | free 19",              //
                                              "13-24 | decode 0 | wait 1 | free 19",       //
                                              "24-37 | prefill 1+2 | decode 0 | free 17",  //
                                              "37-48 | decode 0 | free 18",                //
                                              "48-59 | decode 0 | free 18"});
  CHECK(run(true, requests).lines() == Lines{"0-13 | prefill 0+3 | free 19",              //
                                             "13-24 | decode 0 | wait 1 | free 19",       //
                                             "24-35 | decode 0 | wait 1 | free 18",       //
                                             "35-48 | prefill 1+2 | decode 0 | free 17",  //
                                             "48-59 | decode 0 | free 18"});
}

// At 13 a step ends and the next, planned at 0, begins; the plan made at 13 is that of 24-35. Who comes
// at 12.999999 is in that plan too: it was not there at 0.
TEST_CASE("who comes as a step begins is in the plan that is made then") {
  for (const Stepper stepper : {Stepper::reference, Stepper::fast}) {
    for (const Duration before : {Duration(), picoseconds(1)}) {
      TestRequest late = request_at(13, 2, 1);
      late.arrival = late.arrival - before;
      const StepLog log = run(true, {request_at(0, 3, 8), late}, stepper);
      CHECK(log.finished().front().admitted == TimePoint(microseconds(24)));
    }
    TestRequest later = request_at(13, 2, 1);
    later.arrival = later.arrival + picoseconds(1);
    const StepLog log = run(true, {request_at(0, 3, 8), later}, stepper);
    CHECK(log.finished().front().admitted == TimePoint(microseconds(35)));
  }
}

// Request 0 is done at 24 with its only decode. Nothing else was planned: the engine looks who is there.
TEST_CASE("an engine that has nothing to run begins at once") {
  const std::vector<TestRequest> requests{request_at(0, 3, 2), request_at(20, 2, 1), request_at(100, 4, 1)};
  CHECK(run(true, requests).lines() == Lines{"0-13 | prefill 0+3 | free 19",         //
                                             "13-24 | decode 0 | wait 1 | free 19",  //
                                             "24-36 | prefill 1+2 | free 19",        //
                                             "100-114 | prefill 2+4 | free 19"});
}

}  // namespace
}  // namespace inferometer::testing
