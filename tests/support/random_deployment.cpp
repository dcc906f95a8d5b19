#include "tests/support/random_deployment.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "tests/support/random_content.hpp"
#include "tests/support/random_prices.hpp"
#include "tests/support/random_swap.hpp"
#include "tests/support/random_techniques.hpp"

namespace inferometer::testing {
namespace {

/// What the traffic is meant to bring out.
enum class Traffic { mixed, long_outputs, starved, long_prompts, one_token, overload, idle_gaps };

std::string to_text(RandomDeployment::Promise promise) {
  switch (promise) {
    case RandomDeployment::Promise::own:
      return "own";
    case RandomDeployment::Promise::none:
      return "none";
    case RandomDeployment::Promise::bounded:
      return "bounded";
    case RandomDeployment::Promise::resting:
      return "resting";
  }
  return "";
}

/// Promises no further than so many steps.
class RestrainedPolicy : public BatchPolicy {
 public:
  RestrainedPolicy(std::unique_ptr<BatchPolicy> policy, std::int64_t most_steps)
      : policy_(std::move(policy)), most_steps_(most_steps) {}

  void plan(const ReplicaView& view, StepPlan& plan) override { policy_->plan(view, plan); }
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    Stability stability = policy_->stability(view, plan);
    stability.steps = std::min(stability.steps, most_steps_);
    return stability;
  }
  void on_finished(const ReplicaView& view, SequenceId id) override { policy_->on_finished(view, id); }
  void on_cleared() override { policy_->on_cleared(); }
  [[nodiscard]] RunningOrder running_order() const override { return policy_->running_order(); }
  [[nodiscard]] std::int64_t queue_rank(const Sequence& sequence) const override {
    return policy_->queue_rank(sequence);
  }
  [[nodiscard]] Requeue requeue() const override { return policy_->requeue(); }

 private:
  std::unique_ptr<BatchPolicy> policy_;
  std::int64_t most_steps_;
};

/// A policy of which only the decisions are known.
class DecisionsOnly : public BatchPolicy {
 public:
  explicit DecisionsOnly(std::unique_ptr<BatchPolicy> policy) : policy_(std::move(policy)) {}

  void plan(const ReplicaView& view, StepPlan& plan) override { policy_->plan(view, plan); }
  void on_finished(const ReplicaView& view, SequenceId id) override { policy_->on_finished(view, id); }
  void on_cleared() override { policy_->on_cleared(); }
  [[nodiscard]] RunningOrder running_order() const override { return policy_->running_order(); }
  [[nodiscard]] std::int64_t queue_rank(const Sequence& sequence) const override {
    return policy_->queue_rank(sequence);
  }
  [[nodiscard]] Requeue requeue() const override { return policy_->requeue(); }

 private:
  std::unique_ptr<BatchPolicy> policy_;
};

/// Lets the last of several decoding sequences sit out as long as there are others.
class RestingPolicy : public BatchPolicy {
 public:
  explicit RestingPolicy(std::unique_ptr<BatchPolicy> policy) : policy_(std::move(policy)) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    policy_->plan(view, plan);
    const SequenceId last = view.running_tail();
    if (plan.decode && plan.preempted.empty() && view.decode_count() > 1 && view.is_decoding(last)) {
      plan.decode_except.push_back(last);
    }
  }
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    return policy_->stability(view, plan);
  }
  void on_finished(const ReplicaView& view, SequenceId id) override { policy_->on_finished(view, id); }
  void on_cleared() override { policy_->on_cleared(); }
  [[nodiscard]] RunningOrder running_order() const override { return policy_->running_order(); }
  [[nodiscard]] std::int64_t queue_rank(const Sequence& sequence) const override {
    return policy_->queue_rank(sequence);
  }
  [[nodiscard]] Requeue requeue() const override { return policy_->requeue(); }

 private:
  std::unique_ptr<BatchPolicy> policy_;
};

class PricesOnly : public StepPricer {
 public:
  explicit PricesOnly(std::shared_ptr<const StepPricer> pricer) : pricer_(std::move(pricer)) {}
  [[nodiscard]] StepCost price(const StepShape& shape) const override { return pricer_->price(shape); }

 private:
  std::shared_ptr<const StepPricer> pricer_;
};

std::int64_t longest_of(Dice& dice, Traffic traffic) {
  switch (traffic) {
    case Traffic::long_outputs:
      return dice.between(300, 2500);
    case Traffic::long_prompts:
      return dice.between(600, 6000);
    case Traffic::starved:
      return dice.between(40, 400);
    default:
      return dice.between(20, 600);
  }
}

void draw_memory(Dice& dice, Traffic traffic, EngineSetup& setup) {
  setup.block_size = dice.one_of({1, 2, 3, 5, 8, 16, 16});
  setup.max_model_len = longest_of(dice, traffic);
  setup.max_num_seqs = dice.one_of({1, 2, 3, 5, 8, 16, 40});
  const std::int64_t least = ceil_div(setup.max_model_len, setup.block_size);
  setup.blocks =
      least + (traffic == Traffic::starved ? dice.one_of({0, 1, 2, least / 4, least / 2, least})
                                           : dice.one_of({least / 4, least, 4 * least, 30 * least}));
}

struct Limits {
  std::int64_t step_tokens = 0;  // most that one step may run
  std::int64_t fitting = 0;      // the longest sequence that can be admitted again at its end
};

/// Returns the longest sequence that admission lets in.
std::int64_t draw_watermark(Dice& dice, EngineSetup& setup) {
  const std::int64_t percent = dice.chance(60) ? 0 : dice.between(1, 30);
  setup.keys += std::string(", watermark: 0.") + (percent < 10 ? "0" : "") + std::to_string(percent);
  const std::int64_t kept = percent == 0 ? 0 : percent * setup.blocks / 100 + 1;
  return std::min(setup.max_model_len, (setup.blocks - kept) * setup.block_size);
}

/// Dice of their own: what has none of them stays as it is.
void draw_techniques(Dice dice, EngineSetup& setup) {
  if (dice.chance(30)) {
    setup.speculation = random_rule(dice);
  }
  if (dice.chance(35)) {
    setup.offload = random_offload(dice);
    const std::int64_t least = ceil_div(setup.max_model_len, setup.block_size);
    setup.blocks =
        least + dice.one_of({0, least / 4, least});  // blocks that nobody takes stay where they are
  } else if (setup.speculation) {
    setup.speculation->recomputes_last_hit = dice.chance(40);
  }
}

Limits draw_chunked_prefill(Dice& dice, Traffic traffic, EngineSetup& setup) {
  // What scenarios with host memory must have.
  const bool chunked = traffic == Traffic::long_prompts || dice.chance(85) || setup.offload;
  const bool is_gate_full = dice.chance(50) || setup.offload;
  const std::int64_t tokens_per_decode = setup.speculation ? setup.speculation->tokens + 1 : 1;
  std::int64_t budget = setup.max_num_seqs * tokens_per_decode + dice.one_of({0, 1, 7, 32, 100, 256});
  if (!chunked) {
    budget = std::max(budget, setup.max_model_len);
  }
  const std::int64_t threshold = dice.chance(70) ? 0 : dice.between(1, 60);
  setup.keys = "max_num_batched_tokens: " + std::to_string(budget) +
               ", long_prefill_token_threshold: " + std::to_string(threshold) +
               ", enable_chunked_prefill: " + (chunked ? "true" : "false") +
               ", admission: " + (is_gate_full ? "full_isl" : "first_chunk");
  draw_watermark(dice, setup);  // which only holds while something runs
  if (setup.policy == "shortest_job_first") {
    setup.keys += std::string(", shortest_by: ") + (dice.chance(50) ? "prompt" : "max_new_tokens") +
                  ", ageing: " + std::to_string(dice.one_of({0, 0, 100, 100'000}));
  }
  return {budget, setup.max_model_len};
}

Limits draw_sglang(Dice& dice, Traffic traffic, EngineSetup& setup) {
  const bool mixed = dice.chance(30);
  const std::int64_t least = setup.block_size + (mixed ? setup.max_num_seqs : 0);
  const std::int64_t chunk =
      least + (traffic == Traffic::long_prompts ? dice.one_of({0, 30, 100}) : dice.one_of({0, 1, 30, 400}));
  setup.keys = "chunked_prefill_size: " + std::to_string(chunk) +
               ", max_prefill_tokens: " + std::to_string(dice.one_of({1, 20, 200, 16'384})) +
               ", schedule_policy: " + (dice.chance(30) ? "lpm" : "fcfs") +
               ", schedule_conservativeness: " + (dice.chance(50) ? "1" : "0.05") +
               ", enable_mixed_chunk: " + (mixed ? "true" : "false") +
               ", spare_page: " + (dice.chance(50) ? "true" : "false");
  return {std::max(chunk, setup.max_num_seqs), setup.max_model_len};
}

Limits draw_trtllm(Dice& dice, Traffic traffic, EngineSetup& setup) {
  const bool chunked = traffic == Traffic::long_prompts || dice.chance(50);
  const std::int64_t least = std::max(setup.max_num_seqs, chunked ? setup.block_size : setup.max_model_len);
  const std::int64_t tokens = least + dice.one_of({0, 1, 30, 200});
  setup.keys = "capacity_scheduler: " +
               dice.name_of({"guaranteed_no_evict", "max_utilization", "max_utilization", "static_batch"}) +
               ", max_num_tokens: " + std::to_string(tokens) +
               ", enable_chunked_context: " + (chunked ? "true" : "false") + ", context_chunking_policy: " +
               (dice.chance(50) ? "first_come_first_served" : "equal_progress");
  return {tokens, setup.max_model_len};
}

Limits draw_policy(Dice& dice, std::optional<std::uint64_t> techniques, Traffic traffic, EngineSetup& setup) {
  const std::int64_t longest = setup.max_model_len;
  setup.policy = dice.name_of({"static", "orca", "continuous", "chunked_prefill", "chunked_prefill",
                               "sarathi", "sglang", "trtllm", "priority", "shortest_job_first"});
  if (traffic == Traffic::long_prompts && dice.chance(60)) {
    setup.policy = dice.name_of({"chunked_prefill", "sarathi"});  // whose chunks go on alike for many steps
  }
  if (techniques && setup.policy == "chunked_prefill") {
    draw_techniques(Dice(*techniques, "tests/random_deployment/techniques"), setup);
  }
  if (setup.policy == "chunked_prefill" || setup.policy == "priority" ||
      setup.policy == "shortest_job_first") {
    return draw_chunked_prefill(dice, traffic, setup);
  }
  if (setup.policy == "sglang") {
    return draw_sglang(dice, traffic, setup);
  }
  if (setup.policy == "trtllm") {
    return draw_trtllm(dice, traffic, setup);
  }
  if (setup.policy == "continuous") {
    const std::int64_t budget = longest + dice.one_of({0, 1, 40, 2000});
    setup.keys = "max_num_batched_tokens: " + std::to_string(budget);
    const std::int64_t fitting = draw_watermark(dice, setup);
    draw_swap(dice, setup);
    return {budget, fitting};
  }
  if (setup.policy == "sarathi") {
    const std::int64_t budget = setup.max_num_seqs + dice.one_of({0, 1, 7, 32, 100, 256});
    setup.keys = "chunk_size: " + std::to_string(budget);
    return {budget, draw_watermark(dice, setup)};
  }
  setup.keys = std::string("reserve: ") + (dice.chance(30) ? "max_model_len" : "max_new_tokens");
  if (setup.policy == "static") {
    setup.keys += std::string(", static_padding: ") + (dice.chance(50) ? "true" : "false") +
                  ", wait_window: " + std::to_string(dice.one_of({0, 0, 1000, 200'000})) + " us";
  }
  return {longest, longest};
}

void draw_promise(Dice& dice, RandomDeployment& deployment) {
  const std::int64_t percent = dice.between(1, 100);
  if (percent <= 5) {
    deployment.promise = RandomDeployment::Promise::none;
  } else if (percent <= 15) {
    deployment.promise = RandomDeployment::Promise::bounded;
    deployment.promise_steps = dice.one_of({1, 2, 3, 7, 50});
  } else if (percent <= 20) {
    deployment.promise = RandomDeployment::Promise::resting;
    // It changes plans in hindsight, which nobody may who looks for prefixes; and whoever drafts does it for
    // all.
    deployment.setup.speculation.reset();
    deployment.setup.offload.reset();
    deployment.setup.keys += key_without_prefix_cache(deployment.setup.policy);
  }
  deployment.has_line = !dice.chance(5);
}

TestRequest draw_lengths(Dice& dice, Traffic traffic, std::int64_t longest, std::int64_t fitting) {
  TestRequest request;
  if (dice.chance(2)) {
    request.prompt = longest + dice.between(0, 3);  // refused at the door
    return request;
  }
  if (fitting < longest - 1 && dice.chance(5)) {
    request.prompt = dice.between(fitting + 1, longest - 1);  // may be refused by the scheduler
    return request;
  }
  const bool is_long = traffic == Traffic::long_prompts && dice.chance(60);
  request.prompt = is_long ? dice.between(fitting / 2, fitting - 1)
                           : dice.between(1, std::max<std::int64_t>(1, fitting / 8));
  std::int64_t most = fitting - request.prompt;
  if (traffic == Traffic::one_token) {
    most = std::min(most, dice.one_of({1, 1, 2, 40}));
  } else if (traffic != Traffic::long_outputs && traffic != Traffic::starved && dice.chance(70)) {
    most = std::min<std::int64_t>(most, 80);
  }
  request.output = dice.between(1, most);
  if (fitting == longest && dice.chance(3)) {
    request.output = longest;  // cut at max_model_len
  }
  request.max_new = request.output + dice.one_of({0, 0, 3, 20});
  return request;
}

/// Steps between arrivals, in hundredths.
std::int64_t longest_gap(Dice& dice, Traffic traffic) {
  switch (traffic) {
    case Traffic::overload:
      return dice.one_of({0, 30, 200});
    case Traffic::idle_gaps:
      return dice.one_of({20'000, 200'000});
    case Traffic::long_outputs:
      return dice.one_of({0, 3000, 30'000});
    default:
      return dice.one_of({0, 100, 1000, 5000});
  }
}

void draw_requests(Dice& dice, Traffic traffic, std::int64_t fitting, RandomDeployment& deployment) {
  const EngineSetup& setup = deployment.setup;
  const std::int64_t typical = deployment.pricer
                                   ->price({setup.max_num_seqs,
                                            setup.max_num_seqs * (setup.max_model_len / 4 + 1),
                                            setup.max_num_seqs,
                                            {}})
                                   .total()
                                   .count();
  const bool is_long = traffic == Traffic::long_outputs || traffic == Traffic::long_prompts;
  const std::int64_t count = is_long ? dice.between(1, 10) : dice.between(1, 30);
  const std::int64_t gap = longest_gap(dice, traffic);
  const std::int64_t burst_percent = dice.one_of({0, 30, 90});
  constexpr std::int64_t kHundredths = 100;
  std::int64_t arrival = dice.between(0, typical);
  for (std::int64_t i = 0; i < count; ++i) {
    TestRequest request = draw_lengths(dice, traffic, setup.max_model_len, fitting);
    request.arrival = TimePoint(Duration(arrival));
    request.priority = static_cast<std::int32_t>(dice.between(-1, 1));
    deployment.requests.push_back(request);
    arrival +=
        dice.chance(burst_percent) ? 0 : typical / kHundredths * dice.between(0, gap) + dice.between(0, 9);
  }
  if (dice.chance(25)) {
    deployment.clients = dice.between(1, 10);
    deployment.think = Duration(typical / kHundredths * dice.one_of({0, 0, 70, 5000}));
  }
}

class StepEnds : public SimulationObserver {
 public:
  void on_steps(const StepRecord& steps) override {
    starts.push_back(steps.stretch.start());
    ends.push_back(steps.stretch.end());
  }
  std::vector<TimePoint> starts, ends;
};

/// Moves arrivals to the end of the step under way, or a picosecond before it or behind it. Those of one step
/// move together, so that their order stays; all later steps then stay where they are, as a step sees whoever
/// came during the one before it, whenever that was.
void align_arrivals(Dice& dice, RandomDeployment& deployment) {
  StepEnds steps;
  std::vector<Replica> replicas;
  replicas.emplace_back(deployment.replica(Stepper::reference), deployment.policy(), deployment.pricer,
                        steps);
  Simulation(deployment.workload(), std::move(replicas), steps).run();
  std::size_t aligned_step = steps.ends.size();
  std::int64_t shift = 0;
  for (TestRequest& request : deployment.requests) {
    const auto place = std::lower_bound(steps.ends.begin(), steps.ends.end(), request.arrival);
    const auto step = static_cast<std::size_t>(place - steps.ends.begin());
    if (place == steps.ends.end() || request.arrival <= steps.starts[step]) {
      continue;
    }
    if (step != aligned_step) {
      aligned_step = step;
      shift = dice.one_of({0, 0, 0, 0, -1, 1});
    }
    request.arrival = steps.ends[step] + Duration(shift);
  }
  std::stable_sort(deployment.requests.begin(), deployment.requests.end(),
                   [](const TestRequest& a, const TestRequest& b) { return a.arrival < b.arrival; });
}

}  // namespace

std::unique_ptr<BatchPolicy> RandomDeployment::policy() const {
  std::unique_ptr<BatchPolicy> policy = make_policy(setup);
  if (promise == Promise::none) {
    return std::make_unique<DecisionsOnly>(std::move(policy));
  }
  if (promise == Promise::bounded) {
    return std::make_unique<RestrainedPolicy>(std::move(policy), promise_steps);
  }
  if (promise == Promise::resting) {
    return std::make_unique<RestingPolicy>(std::move(policy));
  }
  return policy;
}

ReplicaConfig RandomDeployment::replica(Stepper stepper) const {
  ReplicaConfig config = replica_config(setup);
  config.stepper = stepper;
  return config;
}

std::string RandomDeployment::describe() const {
  std::string text = setup.policy + " {" + setup.keys + "} blocks " + std::to_string(setup.blocks) + " of " +
                     std::to_string(setup.block_size) + ", max_model_len " +
                     std::to_string(setup.max_model_len) + ", max_num_seqs " +
                     std::to_string(setup.max_num_seqs) + ", window " +
                     (setup.window ? std::to_string(*setup.window) : "none") + swap_text(setup) +
                     (setup.plans_ahead ? ", plans ahead" : "") + ", promise " + to_text(promise) + " " +
                     std::to_string(promise_steps) + (has_line ? ", line" : ", no line") + ", clients " +
                     std::to_string(clients) + ", think_ps " + std::to_string(think.count()) +
                     (setup.speculation ? to_text(*setup.speculation) : "") +
                     (setup.offload ? to_text(*setup.offload) : "") + "\n" + prices + "\n";
  for (const TestRequest& request : requests) {
    text += std::to_string(request.arrival.since_start().count()) + "ps " + std::to_string(request.prompt) +
            "+" + std::to_string(request.output) + " max_new " + std::to_string(request.max_new) +
            " priority " + std::to_string(request.priority) + content_text(request) + "\n";
  }
  return text;
}

RandomDeployment random_deployment(std::uint64_t seed, bool with_techniques) {
  Dice dice(seed, "tests/random_deployment");
  RandomDeployment deployment;
  const auto traffic = static_cast<Traffic>(dice.between(0, static_cast<std::int64_t>(Traffic::idle_gaps)));
  draw_memory(dice, traffic, deployment.setup);
  const Limits limits =
      draw_policy(dice, with_techniques ? std::optional(seed) : std::nullopt, traffic, deployment.setup);
  RandomPrices prices = random_prices(
      dice, deployment.setup.max_model_len,
      {.max_tokens = limits.step_tokens,
       .max_rows = deployment.setup.max_num_seqs,
       .max_queries = deployment.setup.speculation ? deployment.setup.speculation->tokens + 1 : 1});
  deployment.setup.window = prices.window;
  deployment.pricer = std::move(prices.pricer);
  deployment.work = prices.work;
  deployment.attention_ranks = prices.attention_ranks;
  deployment.prices = std::move(prices.text);
  deployment.setup.plans_ahead = Dice(seed, "tests/random_deployment/plans_ahead").chance(30);
  draw_promise(dice, deployment);
  if (!deployment.has_line) {
    deployment.pricer = std::make_shared<PricesOnly>(deployment.pricer);
  }
  draw_requests(dice, traffic, std::max<std::int64_t>(limits.fitting, 2), deployment);
  if (dice.chance(60) || deployment.setup.offload) {
    draw_contents(dice, deployment.requests);
  }
  if (deployment.clients == 0 && dice.chance(40)) {
    align_arrivals(dice, deployment);
  }
  return deployment;
}

}  // namespace inferometer::testing
