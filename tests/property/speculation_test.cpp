// Engines that speculate, drawn at random: every step against what each sequence must have done in it by
// itself, and the two steppers against each other.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/random_content.hpp"
#include "tests/support/random_techniques.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

struct RandomEngine {
  EngineSetup setup;
  std::vector<TestRequest> requests;
  std::int64_t budget = 0;
  std::string text;
};

RandomEngine random_engine(std::uint64_t seed) {
  Dice dice(seed, "tests/speculation");
  RandomEngine engine;
  EngineSetup& setup = engine.setup;
  setup.policy = "chunked_prefill";
  setup.speculation = random_rule(dice);
  setup.block_size = dice.one_of({1, 2, 3, 5, 16});
  setup.max_model_len = dice.between(20, 400);
  setup.max_num_seqs = dice.one_of({1, 2, 5, 12});
  const std::int64_t least = ceil_div(setup.max_model_len, setup.block_size);
  setup.blocks = least + dice.one_of({0, 1, least / 2, 3 * least});
  setup.costs = {dice.between(1, 20), dice.between(0, 2), dice.between(0, 1), dice.between(0, 1),
                 dice.between(0, 3)};
  if (dice.chance(25)) {
    setup.window = dice.between(2, 40);
  }
  engine.budget = setup.max_num_seqs * (setup.speculation->tokens + 1) + dice.one_of({0, 1, 30, 200});
  setup.keys =
      "max_num_batched_tokens: " + std::to_string(engine.budget) +
      ", long_prefill_token_threshold: " + std::to_string(dice.chance(70) ? 0 : dice.between(1, 30)) +
      ", admission: " + (dice.chance(50) ? "full_isl" : "first_chunk");
  std::int64_t arrival = 0;
  for (std::int64_t i = dice.between(1, 25); i > 0; --i) {
    const std::int64_t prompt = dice.between(1, std::max<std::int64_t>(1, setup.max_model_len / 3));
    engine.requests.push_back(request_at(
        arrival, prompt, dice.between(1, setup.max_model_len - prompt + (dice.chance(5) ? 50 : 0))));
    arrival += dice.chance(60) ? 0 : dice.between(0, 300);
  }
  engine.text = "blocks " + std::to_string(setup.blocks) + " of " + std::to_string(setup.block_size) + " {" +
                setup.keys + "}" + to_text(*setup.speculation);
  return engine;
}

/// Follows each sequence on its own from step to step.
class Watcher : public SimulationObserver {
 public:
  explicit Watcher(const RandomEngine& engine) : engine_(engine), rule_(*engine.setup.speculation) {}

  void on_steps(const StepRecord& record) override {
    REQUIRE(record.stretch.steps() == 1);
    REQUIRE(record.shape.tokens() <= engine_.budget);
    const std::int64_t drafts = record.shape.queries - 1;
    REQUIRE((drafts == 0 || drafts == rule_.tokens || (rule_.adaptive && drafts < rule_.tokens)));
    REQUIRE((drafts == 0 || record.decodes <= rule_.most_sequences));
    note_choice(drafts, record.decodes);
    std::map<std::int64_t, Seen> now;
    ContextTokens context;
    std::int64_t held = 0, emitted = 0, accepted = 0, decodes = 0;
    for (SequenceId id = state().head(); id != kNoSequence; id = state().sequence(id).next) {
      const Sequence& s = state().sequence(id);
      const bool decodes_now = s.state == Sequence::State::decoding;
      held += own_blocks(state().store(), id, state().held_blocks(id));
      context += decodes_now ? state().decodes().attended(state().computed(id)) : ContextTokens{};
      const Seen seen{decodes_now, state().computed(id), state().emitted(id), state().held_blocks(id),
                      s.preemptions};
      now[s.request_id] = seen;
      const auto before = before_.find(s.request_id);
      if (before != before_.end() && before->second.decodes &&
          before->second.preemptions == seen.preemptions) {
        ++decodes;
        const std::int64_t right = check_decode(s, before->second, seen, drafts);
        accepted += right;
        emitted += seen.emitted - before->second.emitted;
      }
    }
    REQUIRE(held_with_cached(state().store(), held) == state().blocks().held().count());
    REQUIRE((context == state().decodes().context()));
    REQUIRE(decodes == record.decodes);
    REQUIRE(record.drafted.drafts == (drafts > 0 ? decodes : 0));
    REQUIRE(record.drafted.draft_tokens == drafts * decodes);
    REQUIRE(record.drafted.accepted_tokens == accepted);
    REQUIRE(record.drafted.emitted_tokens == emitted - decodes);
    total.add(record.drafted);
    before_ = std::move(now);
    preemptions += record.preempted;
    ends.push_back(record.stretch.end());
  }
  void on_finished(const FinishedRequest& request) override { finished.push_back(request); }

  const Simulation* simulation = nullptr;
  std::vector<TimePoint> ends;
  std::vector<FinishedRequest> finished;
  DraftCounts total;
  std::int64_t preemptions = 0;
  std::int64_t chose_none = 0, chose_some = 0, chose_all = 0;  // of the steps of engines that adapt

 private:
  struct Seen {
    bool decodes = false;
    std::int64_t computed = 0, emitted = 0, held = 0;
    std::int32_t preemptions = 0;
  };

  [[nodiscard]] const BatchState& state() const { return simulation->lanes().front().state(); }

  void note_choice(std::int64_t drafts, std::int64_t decodes) {
    if (rule_.adaptive && decodes > 0 && decodes <= rule_.most_sequences) {
      ++(drafts == 0 ? chose_none : drafts < rule_.tokens ? chose_some : chose_all);
    }
  }

  /// Returns the accepted drafts.
  std::int64_t check_decode(const Sequence& s, const Seen& before, const Seen& after, std::int64_t drafts) {
    const std::int64_t right = accepted_drafts(rule_, s.request_id, before.emitted, drafts);
    const std::int64_t expected = std::min(1 + right, s.output - before.emitted);
    REQUIRE(after.emitted - before.emitted == expected);
    REQUIRE(after.computed - before.computed == expected);
    const std::int64_t slots =
        std::min(before.computed + 1 + drafts + rule_.lookahead, engine_.setup.max_model_len);
    REQUIRE(after.held == std::max(before.held, ceil_div(slots, engine_.setup.block_size)));
    return right;
  }

  const RandomEngine& engine_;
  const SpeculationRule& rule_;
  std::map<std::int64_t, Seen> before_;
};

void run(const RandomEngine& engine, Stepper stepper, Watcher& watcher) {
  EngineSetup setup = engine.setup;
  setup.stepper = stepper;
  const auto simulation = make_simulation(setup, make_list_workload(engine.requests), watcher);
  watcher.simulation = simulation.get();
  simulation->run();
  const StepCounts& counts = simulation->lanes().front().step_counts();
  const auto steps = static_cast<std::int64_t>(watcher.ends.size());
  REQUIRE((stepper == Stepper::fast ? counts.speculating : counts.by_reference) == steps);
  REQUIRE(simulation->lanes().front().state().blocks().held() == BlockCount(0));
}

TEST_CASE("each sequence emits what it accepts and holds the slots it may need: 400 engines") {
  DraftCounts all;
  std::int64_t preemptions = 0, chose_none = 0, chose_some = 0, chose_all = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const RandomEngine engine = random_engine(seed);
    CAPTURE(seed);
    INFO(engine.text);
    Watcher reference(engine);
    run(engine, Stepper::reference, reference);
    Watcher fast(engine);
    run(engine, Stepper::fast, fast);
    REQUIRE((fast.ends == reference.ends));
    REQUIRE((fast.total == reference.total));
    REQUIRE(fast.finished.size() == engine.requests.size());
    for (std::size_t i = 0; i < fast.finished.size(); ++i) {
      REQUIRE(fast.finished[i].id == reference.finished[i].id);
      REQUIRE((fast.finished[i].finished == reference.finished[i].finished));
      REQUIRE((fast.finished[i].first_token == reference.finished[i].first_token));
    }
    all.add(fast.total);
    preemptions += fast.preemptions;
    chose_none += fast.chose_none;
    chose_some += fast.chose_some;
    chose_all += fast.chose_all;
  }
  CHECK(all.drafts > 10'000);
  CHECK(all.emitted_tokens < all.accepted_tokens);  // some ran past the end of an output
  CHECK(preemptions > 100);
  CHECK(chose_none > 500);
  CHECK(chose_some > 500);
  CHECK(chose_all > 500);
}

}  // namespace
}  // namespace inferometer::testing
