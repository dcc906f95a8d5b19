// Decodes that draft: hand-worked traces, and how often drafts are accepted. A step costs 10 us + 1 us a
// token; blocks hold 4 tokens.

#include "sim/batch/speculation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

using Lines = std::vector<std::string>;

SpeculationRule always(std::int64_t tokens, double acceptance) {
  SpeculationRule rule;
  rule.tokens = tokens;
  rule.acceptance.assign(static_cast<std::size_t>(tokens), acceptance);
  return rule;
}

EngineSetup engine(std::int64_t budget, std::int64_t blocks, const SpeculationRule& rule) {
  EngineSetup setup;
  setup.policy = "chunked_prefill";
  setup.keys = "max_num_batched_tokens: " + std::to_string(budget);
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = 2;
  setup.speculation = rule;
  return setup;
}

/// What all steps of a run came to, beside its log.
struct Counted : SimulationObserver {
  void on_steps(const StepRecord& steps) override {
    drafted.add(steps.drafted);
    emitted.push_back(steps.emitted);
    queries.push_back(steps.shape.queries);
    rows.push_back(steps.shape.sampled_rows);
  }
  void on_finished(const FinishedRequest& request) override { finished.push_back(request); }
  DraftCounts drafted;
  std::vector<std::int64_t> emitted, queries, rows;
  std::vector<FinishedRequest> finished;
};

Counted count(const EngineSetup& setup, std::vector<TestRequest> requests) {
  Counted counted;
  make_simulation(setup, make_list_workload(std::move(requests)), counted)->run();
  return counted;
}

TEST_CASE("all drafts accepted: k + 1 tokens a step and no more than the output has") {
  // step  computed  emits  slots        blocks
  //       3 of 3    1      3            1
  //       3         3      3 + 3        2
  //       6         3      6 + 3        3
  //       9         1      9 + 3        3       eighth token, of three that were right
  const EngineSetup setup = engine(8, 20, always(2, 1.0));
  const StepLog log = run_to_end(setup, {request_at(0, 3, 8)});
  CHECK(log.lines() == Lines{"0-13 | prefill 0+3 | free 19",  //
                             "13-26 | decode 0 | free 18",    //
                             "26-39 | decode 0 | free 17",    //
                             "39-52 | decode 0 | free 17"});
  CHECK(log.outcome(0) == "arrived 0, admitted 0, first 13, done 52, preempted 0");
  const Counted counted = count(setup, {request_at(0, 3, 8)});
  CHECK(counted.emitted == std::vector<std::int64_t>{1, 3, 3, 1});
  CHECK(counted.queries == std::vector<std::int64_t>{3, 3, 3, 3});
  CHECK(counted.rows == std::vector<std::int64_t>{1, 3, 3, 3});
  CHECK(counted.drafted.drafts == 3);
  CHECK(counted.drafted.draft_tokens == 6);
  CHECK(counted.drafted.accepted_tokens == 6);
  CHECK(counted.drafted.emitted_tokens == 4);
  CHECK(counted.drafted.accepted_by_position[0] == 3);
  CHECK(counted.drafted.accepted_by_position[1] == 3);
  CHECK(counted.drafted.accepted_by_position[2] == 0);
  // One gap a step, however many tokens it brings.
  CHECK(log.steps()[2].gaps == std::map<std::int64_t, std::int64_t>{{microseconds(13).count(), 1}});
}

TEST_CASE("lookahead slots are held from the first chunk on, and none beyond max_model_len") {
  // slots: 3 + 2 of the chunk, 3 + 3 + 2, 6 + 3 + 2, then 9 + 3 + 2 cut to 12: blocks 2 2 3 3
  SpeculationRule rule = always(2, 1.0);
  rule.lookahead = 2;
  EngineSetup setup = engine(8, 20, rule);
  setup.max_model_len = 12;
  const StepLog log = run_to_end(setup, {request_at(0, 3, 8)});
  CHECK(log.lines() == Lines{"0-13 | prefill 0+3 | free 18",  //
                             "13-26 | decode 0 | free 18",    //
                             "26-39 | decode 0 | free 17",    //
                             "39-52 | decode 0 | free 17"});
}

TEST_CASE("nothing accepted: the tokens and steps of no speculation, at the price of k more positions") {
  EngineSetup setup = engine(16, 40, always(3, 0.0));
  const std::vector<TestRequest> requests{request_at(0, 5, 7), request_at(0, 2, 4)};
  const Counted with = count(setup, requests);
  setup.speculation.reset();
  const Counted without = count(setup, requests);
  CHECK(with.emitted == without.emitted);
  CHECK(with.drafted.accepted_tokens == 0);
  CHECK(with.drafted.draft_tokens == 3 * (6 + 3));
  REQUIRE(with.finished.size() == 2);
  // The prefill of both, then three steps of two decodes and three of one.
  CHECK((without.finished[1].finished == TimePoint(microseconds(17 + 3 * 12 + 3 * 11))));
  CHECK((with.finished[1].finished == TimePoint(microseconds(17 + 3 * (12 + 6) + 3 * (11 + 3)))));
}

TEST_CASE("a decode takes k + 1 tokens of the budget") {
  // Of 9 tokens a decode with 3 drafts leaves 5 to the chunk, which lacks 4.
  const StepLog log = run_to_end(engine(9, 20, always(3, 1.0)), {request_at(0, 1, 5), request_at(0, 12, 1)});
  CHECK(log.lines() == Lines{"0-19 | prefill 0+1 1+8 | free 17",  //
                             "19-37 | prefill 1+4 | decode 0 | free 15"});
}

TEST_CASE("blocks of rejected drafts stay held: the last admitted gives up its own") {
  // step  0             1             blocks of 4
  //       4 of 4        4 of 4        1 + 1
  //       4: slots 8    4: slots 8    2 + 2
  //       5: slots 9    5: slots 9    2 more, none is free: 1 goes; 3
  //                     6 of 6        2         the third token of 1; of its first block it finds the KV
  const StepLog log = run_to_end(engine(16, 4, always(3, 0.0)), {request_at(0, 4, 3), request_at(0, 4, 3)});
  CHECK(log.lines() == Lines{"0-18 | prefill 0+4 1+4 | free 2",                 //
                             "18-36 | decode 0 1 | free 0",                     //
                             "36-50 | decode 0 | preempt 1 | wait 1 | free 1",  //
                             "50-62 | prefill 1+2 | free 2"});
}

TEST_CASE("nothing is drafted while more sequences decode than may") {
  SpeculationRule rule = always(2, 1.0);
  rule.most_sequences = 1;
  // Two decodes of a token each until 0 is done, then three tokens of 1 at once.
  const Counted counted = count(engine(8, 20, rule), {request_at(0, 1, 2), request_at(0, 1, 5)});
  CHECK(counted.emitted == std::vector<std::int64_t>{2, 2, 3});
  CHECK(counted.queries == std::vector<std::int64_t>{3, 1, 3});
  CHECK(counted.drafted.drafts == 1);
}

TEST_CASE("an engine that adapts drafts fewer tokens as it finds them wrong") {
  // A decode step takes 21 us and one more for each draft; of n drafts that were looked at none was right, so
  // that it expects 1 / (n + 1) of them to be.
  //   n                  0      1      2      3      4      5      6
  //   tokens, k = 1      2      1.5    1.333  1.25   1.2    1.167  1.143    in 22 us
  //   tokens, k = 2      3      1.75   1.444  1.313  1.24   1.194  1.163    in 23 us
  //   best k             2      2      2      2      1      1      1
  // While n is 3: 1.313 / 23 = .0571 and 1.25 / 22 = .0568; while it is 4: 1.24 / 23 = .0539, 1.2 / 22 =
  // .0545.
  SpeculationRule rule = always(2, 0.0);
  rule.adaptive = true;
  EngineSetup setup = engine(100, 20, rule);
  setup.costs.fixed = 20;
  const Counted counted = count(setup, {request_at(0, 3, 8)});
  CHECK(counted.queries == std::vector<std::int64_t>{3, 3, 3, 3, 3, 2, 2, 2});
  CHECK(counted.drafted.drafts == 7);
  CHECK(counted.drafted.draft_tokens == 4 * 2 + 3 * 1);
  CHECK(counted.drafted.most_tokens == 2);
}

TEST_CASE("an engine that adapts drafts for few sequences what it leaves out for more") {
  // A step takes 23 us and 10 for each token. The first drafts of both are wrong: one in three is expected to
  // be right from then on.
  //            k = 0         k = 1
  // both       1 in 43       1.333 in 63: 43 * 1.333 / 63 = .91
  // one        1 in 33       1.333 in 43: 33 * 1.333 / 43 = 1.02
  SpeculationRule rule = always(1, 0.0);
  rule.adaptive = true;
  EngineSetup setup = engine(100, 20, rule);
  setup.costs = {.fixed = 23, .per_token = 10};
  const Counted counted = count(setup, {request_at(0, 1, 4), request_at(0, 1, 3)});
  CHECK(counted.queries == std::vector<std::int64_t>{2, 2, 1, 2});
  CHECK(counted.emitted == std::vector<std::int64_t>{2, 2, 2, 1});
}

/// A step reads weights for 100 us, in which it computes 100 tokens, and then takes 1 us for each more.
class RoofPricer final : public StepPricer {
 public:
  [[nodiscard]] StepCost price(const StepShape& shape) const override {
    StepCost cost;
    cost.compute = microseconds(std::max<std::int64_t>(100, shape.tokens()));
    return cost;
  }
};

TEST_CASE("an engine that adapts leaves drafts out beside prompts that find a seat and blocks") {
  // 40 sequences whose drafts have all been wrong once: one in 41 is expected to be right. Alone, a draft of
  // each costs nothing. Beside 100 tokens of a prompt it takes 40 us, and what it brings would take 100 / 41.
  SpeculationRule rule = always(1, 0.0);
  rule.adaptive = true;
  std::vector<TestRequest> requests(40, request_at(0, 1, 5));
  requests.push_back(request_at(150, 100, 1));
  const auto queries = [&](std::int64_t seats, std::int64_t blocks) {
    EngineSetup setup = engine(200, blocks, rule);
    setup.block_size = 8;
    setup.max_model_len = 120;
    setup.max_num_seqs = seats;
    Counted counted;
    std::vector<Replica> replicas;
    replicas.emplace_back(replica_config(setup), make_policy(setup), std::make_shared<RoofPricer>(), counted);
    Simulation(make_list_workload(requests), std::move(replicas), counted).run();
    return counted.queries;
  };
  CHECK(queries(41, 200) == std::vector<std::int64_t>{2, 2, 1, 2, 2});
  CHECK(queries(40, 200) == std::vector<std::int64_t>{2, 2, 2, 2, 2, 2});
  // Each of the 40 holds a block of eight tokens: 12 are left, and the prompt takes 13.
  CHECK(queries(41, 52) == std::vector<std::int64_t>{2, 2, 2, 2, 2, 2});
}

TEST_CASE("a budget that cannot verify the drafts of all sequences is refused") {
  EngineSetup setup = engine(7, 20, always(3, 1.0));
  setup.keys += ", speculation: {method: ngram, num_speculative_tokens: 3, acceptance: 0.5}";
  CHECK_THROWS_AS(make_policy(setup), ConfigError);
  setup.keys =
      "max_num_batched_tokens: 8, speculation: {method: ngram, num_speculative_tokens: 3, "
      "acceptance: 0.5}";
  CHECK_NOTHROW(make_policy(setup));
  setup.keys =
      "max_num_batched_tokens: 4, speculation: {method: ngram, num_speculative_tokens: 3, "
      "acceptance: 0.5, disable_by_batch_size: 1}";
  CHECK_NOTHROW(make_policy(setup));
}

/// Mean and variance of how many of k drafts are accepted when each is with probability a: P(n >= i) = a^i.
struct Moments {
  double mean = 0, variance = 0;
};
Moments of_accepted(double acceptance, std::int64_t drafts) {
  Moments moments;
  double square = 0;
  for (std::int64_t i = 1; i <= drafts; ++i) {
    const double at_least = std::pow(acceptance, static_cast<double>(i));
    moments.mean += at_least;
    square += static_cast<double>(2 * i - 1) * at_least;
  }
  moments.variance = square - moments.mean * moments.mean;
  return moments;
}

TEST_CASE("accepted drafts follow the law of independent positions") {
  constexpr std::int64_t kSamples = 200'000;
  for (const double acceptance : {0.3, 0.7, 0.95}) {
    for (const std::int64_t drafts : {1, 4, 16}) {
      CAPTURE(acceptance, drafts);
      SpeculationRule rule = always(drafts, acceptance);
      rule.seed = 7;
      std::int64_t accepted = 0;
      for (std::int64_t i = 0; i < kSamples; ++i) {
        accepted += accepted_drafts(rule, i / 100, 1 + i % 100, drafts);
      }
      const Moments law = of_accepted(acceptance, drafts);
      const double mean = static_cast<double>(accepted) / kSamples;
      const double five_sigma = 5 * std::sqrt(law.variance / kSamples);
      CHECK(std::abs(mean - law.mean) < five_sigma);
      // The formula that texts give for the tokens of a step.
      CHECK(std::abs(1 + law.mean -
                     (1 - std::pow(acceptance, static_cast<double>(drafts + 1))) / (1 - acceptance)) < 1e-9);
    }
  }
}

TEST_CASE("tokens per verification step of a whole run are those of the formula") {
  SpeculationRule rule = always(4, 0.7);
  rule.seed = 3;
  EngineSetup setup = engine(64, 4000, rule);
  setup.max_num_seqs = 8;
  std::vector<TestRequest> requests;
  for (std::int64_t i = 0; i < 40; ++i) {
    requests.push_back(request_at(0, 10, 1000));
  }
  const Counted counted = count(setup, requests);
  const Moments law = of_accepted(0.7, 4);
  const auto drafts = static_cast<double>(counted.drafted.drafts);
  REQUIRE(drafts > 10'000);
  const double length = 1 + static_cast<double>(counted.drafted.accepted_tokens) / drafts;
  CHECK(std::abs(length - (1 - std::pow(0.7, 5)) / 0.3) < 5 * std::sqrt(law.variance / drafts));
  // Each request runs 999 tokens after its first in steps of a draft each.
  CHECK(counted.drafted.emitted_tokens + counted.drafted.drafts == 40 * 999);
}

TEST_CASE("of a cached prefix the last block is computed again and those before it count as they are") {
  // Request 1 shares the first block of request 0 and computes the second again. From 26 on the second block
  // that a prompt finds first is that of request 0, which nobody holds, while request 1 holds the third. So
  // request 2 would take two of the three, one of them from the free ones: 4 of the 3 that are free beside
  // request 1, which has its five tokens after steps of 12 us.
  SpeculationRule rule = always(1, 0.0);
  rule.recomputes_last_hit = true;
  EngineSetup setup = engine(100, 7, rule);
  setup.max_num_seqs = 3;
  std::vector<TestRequest> requests = {request_at(0, 8, 1), request_at(0, 12, 5), request_at(30, 17, 1)};
  requests[0].content = {{1, 8}};
  requests[1].content = {{1, 8}, {2, 4}};
  requests[2].content = {{1, 8}, {2, 4}, {3, 5}};
  const StepLog log = run_to_end(setup, requests);
  CHECK(log.lines().front() == "0-26 | prefill 0+8 1+8 | free 3");
  CHECK(log.lines().back() == "74-93 | prefill 2+9 | free 2");
}

TEST_CASE("positions have their own acceptance, given those before") {
  SpeculationRule rule = always(3, 1.0);
  rule.acceptance = {0.8, 0.5, 1.0};
  constexpr std::int64_t kSamples = 100'000;
  std::array<std::int64_t, 4> count_of{};
  for (std::int64_t i = 0; i < kSamples; ++i) {
    ++count_of[static_cast<std::size_t>(accepted_drafts(rule, i, 1, 3))];
  }
  const auto is_near = [&](std::int64_t counted, double share) {
    return std::abs(static_cast<double>(counted) / kSamples - share) <
           5 * std::sqrt(share * (1 - share) / kSamples);
  };
  CHECK(is_near(count_of[0], 0.2));
  CHECK(is_near(count_of[1], 0.8 * 0.5));
  CHECK(count_of[2] == 0);
  CHECK(is_near(count_of[3], 0.8 * 0.5));
}

TEST_CASE("requests differ by the spread, and on average do not") {
  SpeculationRule rule = always(1, 0.5);
  rule.spread = 0.3;
  constexpr std::int64_t kRequests = 2000;
  constexpr std::int64_t kSteps = 400;
  std::vector<double> shares;
  for (std::int64_t request = 0; request < kRequests; ++request) {
    std::int64_t accepted = 0;
    for (std::int64_t step = 1; step <= kSteps; ++step) {
      accepted += accepted_drafts(rule, request, step, 1);
    }
    shares.push_back(static_cast<double>(accepted) / kSteps);
  }
  const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / kRequests;
  double square = 0;
  for (const double share : shares) {
    square += (share - mean) * (share - mean) / kRequests;
  }
  // Uniform over a width of 0.6, and the noise of 400 steps: a (1 - a) / 400 with a mean of 0.22 above.
  const double uniform = 0.6 * 0.6 / 12;
  const double noise = (0.25 - uniform) / kSteps;
  CHECK(std::abs(mean - 0.5) < 5 * std::sqrt((uniform + noise) / kRequests));
  CHECK(std::abs(square / (uniform + noise) - 1) < 5 * std::sqrt(2.0 / kRequests));
}

TEST_CASE("what is accepted depends on seed, request and place in the output alone") {
  SpeculationRule rule = always(16, 0.9);
  rule.seed = 1;
  SpeculationRule other = rule;
  other.seed = 2;
  std::int64_t alike = 0;
  for (std::int64_t step = 1; step <= 100; ++step) {
    CHECK(accepted_drafts(rule, 5, step, 16) == accepted_drafts(rule, 5, step, 16));
    CHECK(accepted_drafts(rule, 5, step, 4) == std::min<std::int64_t>(4, accepted_drafts(rule, 5, step, 16)));
    alike += accepted_drafts(rule, 5, step, 16) == accepted_drafts(other, 5, step, 16) ? 1 : 0;
  }
  CHECK(alike < 60);
}

}  // namespace
}  // namespace inferometer::testing
