// Hand-worked traces with host memory and disk. A step costs 10 us + 1 us a token; blocks hold 4 tokens.

#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;
using Load = KvOffloadConfig::Load;
using Write = KvOffloadConfig::Write;

EngineSetup engine(std::int64_t blocks, std::int64_t copy_us, Load load, std::int64_t host_blocks = 20) {
  EngineSetup setup;
  setup.policy = "chunked_prefill";
  setup.keys = "max_num_batched_tokens: 100";
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = 4;
  const KvTierConfig host{
      .blocks = host_blocks, .block_write = microseconds(copy_us), .block_read = microseconds(copy_us)};
  setup.offload = KvOffloadConfig{.tiers = {host}, .write = Write::on_evict, .load = load};
  return setup;
}

/// Room for all; 2 us to write a block.
EngineSetup with_disk(EngineSetup setup, std::int64_t read_us) {
  setup.offload->tiers.push_back(
      {.blocks = 100, .block_write = microseconds(2), .block_read = microseconds(read_us)});
  return setup;
}

TestRequest prompt_at(std::int64_t arrival_us, std::vector<ContentRun> content) {
  std::int64_t tokens = 0;
  for (const ContentRun& run : content) {
    tokens += run.tokens;
  }
  TestRequest request = request_at(arrival_us, tokens, 1);
  request.content = std::move(content);
  return request;
}

struct Seen {
  StepLog log;
  KvOffloadCounts counts;
};

Seen run(EngineSetup setup, const std::vector<TestRequest>& requests, Stepper stepper = Stepper::fast) {
  Seen seen;
  setup.stepper = stepper;
  const auto simulation = make_simulation(setup, make_list_workload(requests), seen.log, &seen.log);
  simulation->run();
  seen.counts = simulation->lanes().front().offload()->counts();
  return seen;
}

/// Five blocks. The second prompt takes all three of the first, the third begins as the first.
const std::vector<TestRequest> kOneComesBack = {prompt_at(0, {{1, 12}}), prompt_at(100, {{2, 19}}),
                                                prompt_at(200, {{1, 12}, {3, 4}})};

TEST_CASE("kv offload: what a prompt lost to another comes back before it runs") {
  // Three blocks of 1 us: the third prompt runs its last 4 tokens from 203 on. Meanwhile three blocks of the
  // second prompt were copied out, and a fourth is for the third prompt's own.
  const Seen seen = run(engine(5, 1, Load::always), kOneComesBack);
  CHECK(seen.log.lines() == Lines{"0-22 | prefill 0+12 | free 2",     //
                                  "100-129 | prefill 1+19 | free 0",  //
                                  "203-217 | prefill 2+4 | free 1"});
  CHECK(seen.counts.host.loads == 1);
  CHECK(seen.counts.host.loaded_blocks == 3);
  CHECK((seen.counts.host.loading == microseconds(3)));
  // The last block of the second prompt has 3 tokens and is worth nothing: two of its others are taken for
  // what comes back, one for what is computed.
  CHECK(seen.counts.host.stored_blocks == 3 + 3);
  CHECK(seen.log.finished().back().cached.host == 12);
  CHECK(seen.log.finished().back().cached.total() == 12);
}

TEST_CASE("kv offload: what comes back sooner than it is computed is brought and nothing else") {
  // Twelve tokens take a step of 22 us: three blocks of 7 us come sooner, three of 8 us do not.
  CHECK(run(engine(5, 7, Load::by_cost), kOneComesBack).log.lines().back() ==
        "221-235 | prefill 2+4 | free 1");
  const Seen seen = run(engine(5, 8, Load::by_cost), kOneComesBack);
  CHECK(seen.log.lines().back() == "200-226 | prefill 2+16 | free 1");
  CHECK(seen.counts.host.loads == 0);
  CHECK(run(engine(5, 8, Load::always), kOneComesBack).log.lines().back() ==
        "224-238 | prefill 2+4 | free 1");
}

TEST_CASE("kv offload: without room in host memory the end of a prompt is lost") {
  // One block of host memory has the first block: last ones are copied first. By 100 us the copies are done.
  const Seen seen = run(engine(5, 1, Load::always, 1), kOneComesBack);
  CHECK(seen.log.lines().back() == "201-223 | prefill 2+12 | free 1");
  CHECK(seen.counts.host.loaded_blocks == 1);
}

TEST_CASE("kv offload: a load waits for the copies that it needs") {
  // Blocks of 40 us are on their way out from 100 to 220, and back from then to 340.
  const Seen seen = run(engine(5, 40, Load::always), kOneComesBack);
  CHECK(seen.log.lines().back() == "340-354 | prefill 2+4 | free 1");
  CHECK((seen.counts.host.load_waiting == microseconds(20)));
}

TEST_CASE("kv offload: blocks that are copied when nobody holds them are not copied again") {
  EngineSetup setup = engine(5, 1, Load::always);
  setup.offload->write = Write::on_release;
  const Seen seen = run(setup, kOneComesBack);
  CHECK(seen.log.lines().back() == "203-217 | prefill 2+4 | free 1");
  CHECK(seen.counts.host.stored_blocks == 3 + 4 + 1);  // the full ones of each, three of the third were there
}

/// Eight blocks. The third prompt takes those of the first two, and two more begin as these.
const std::vector<TestRequest> kTwoComeBack = {prompt_at(0, {{1, 12}}), prompt_at(50, {{4, 12}}),
                                               prompt_at(100, {{2, 31}}), prompt_at(200, {{1, 12}, {3, 4}}),
                                               prompt_at(200, {{4, 12}, {5, 4}})};

TEST_CASE("kv offload: of two loads the second waits for the link") {
  // 15 us each.
  const Seen seen = run(engine(8, 5, Load::always), kTwoComeBack);
  const Lines& lines = seen.log.lines();
  REQUIRE(lines.size() == 5);
  CHECK(lines[3] == "215-229 | prefill 3+4 | wait 1 | free 1");
  CHECK(lines[4] == "230-244 | prefill 4+4 | free 4");
  CHECK((seen.counts.host.load_waiting == microseconds(15)));
}

TEST_CASE("kv offload: who would wait too long for the link is computed and gets past who loads") {
  // The second would have its KV after 30 us, and is computed in 22: it runs at once, the first one behind
  // it.
  const Seen seen = run(engine(8, 5, Load::by_cost), kTwoComeBack);
  const Lines& lines = seen.log.lines();
  REQUIRE(lines.size() == 5);
  CHECK(lines[3] == "200-226 | prefill 4+16 | wait 1 | free 1");
  CHECK(lines[4] == "226-240 | prefill 3+4 | free 4");
}

TEST_CASE("kv offload: what is never loaded is stored all the same") {
  const Seen seen = run(engine(5, 1, Load::never), kOneComesBack);
  CHECK(seen.log.lines().back() == "200-226 | prefill 2+16 | free 1");
  CHECK(seen.counts.host.loads == 0);
  CHECK(seen.counts.host.stored_blocks == 3 + 3);  // as above
}

TEST_CASE("kv offload: what host memory drops comes back from disk and then over the link") {
  // One block of host memory has the first block, the others are on disk: read in 2 x 3 us, all three copied
  // in 3.
  const Seen seen = run(with_disk(engine(5, 1, Load::always, 1), 3), kOneComesBack);
  CHECK(seen.log.lines().back() == "209-223 | prefill 2+4 | free 1");
  CHECK(seen.counts.disk.loads == 1);
  CHECK(seen.counts.disk.loaded_blocks == 2);
  CHECK((seen.counts.disk.loading == microseconds(6)));
  CHECK(seen.counts.host.loaded_blocks == 3);
  CHECK(seen.log.finished().back().cached.host == 4);
  CHECK(seen.log.finished().back().cached.disk == 8);
}

TEST_CASE("kv offload: a prompt goes on from GPU to host memory to disk") {
  // The second prompt takes three free blocks and the last two of the first.
  const Seen seen = run(with_disk(engine(6, 1, Load::always, 1), 3), kOneComesBack);
  CHECK(seen.log.lines().back() == "205-219 | prefill 2+4 | free 2");
  const PrefixSources found = seen.log.finished().back().cached;
  CHECK((found == PrefixSources{.own = 0, .session = 0, .others = 4, .host = 4, .disk = 4}));
}

TEST_CASE("kv offload: with a disk the sooner of all and of what is in host memory and of nothing") {
  const auto last_line = [](std::int64_t copy_us, std::int64_t read_us) {
    return run(with_disk(engine(5, copy_us, Load::by_cost, 1), read_us), kOneComesBack).log.lines().back();
  };
  // Nothing: 22 us. The block in host memory and a step of the other 8 tokens: 1 + 18. All: 2 reads and 3
  // copies.
  CHECK(last_line(1, 7) == "217-231 | prefill 2+4 | free 1");
  CHECK(last_line(1, 8) == "201-223 | prefill 2+12 | free 1");
  CHECK(last_line(4, 4) == "220-234 | prefill 2+4 | free 1");
  CHECK(last_line(4, 5) == "200-226 | prefill 2+16 | free 1");
}

TEST_CASE("kv offload: who waits for the disk does not keep another from the link") {
  // 14 blocks. The fifth prompt takes those of the four before; host memory keeps those of the last three.
  // What comes up for the sixth, and what it takes from the fifth, leaves the fourth's where they are.
  const std::vector<TestRequest> requests = {
      prompt_at(0, {{1, 12}}),          prompt_at(25, {{2, 12}}),  prompt_at(50, {{3, 12}}),
      prompt_at(75, {{4, 12}}),         prompt_at(100, {{5, 55}}), prompt_at(300, {{1, 12}, {6, 4}}),
      prompt_at(300, {{4, 12}, {7, 4}})};
  const Seen seen = run(with_disk(engine(14, 1, Load::always, 9), 10), requests);
  const Lines& lines = seen.log.lines();
  REQUIRE(lines.size() == 7);
  CHECK(lines[5] == "303-317 | prefill 6+4 | wait 1 | free 7");
  CHECK(lines[6] == "333-347 | prefill 5+4 | free 10");
  CHECK(seen.counts.disk.loads == 1);
  CHECK((seen.counts.host.load_waiting == microseconds(0)));
}

}  // namespace
}  // namespace inferometer::testing
