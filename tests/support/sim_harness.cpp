#include "tests/support/sim_harness.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <utility>

#include "base/check.hpp"

namespace inferometer::testing {

namespace {

constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;

std::string time_text(TimePoint time) {
  const std::int64_t ps = time.since_start().count();
  return ps % kPicosecondsPerMicrosecond == 0 ? std::to_string(ps / kPicosecondsPerMicrosecond)
                                              : std::to_string(ps) + "ps";
}

class ListWorkload : public Workload {
 public:
  ListWorkload(std::vector<TestRequest> requests, std::int64_t clients, Duration think)
      : requests_(std::move(requests)), closed_(clients > 0), think_(think) {
    const std::size_t open = closed_ ? static_cast<std::size_t>(clients) : requests_.size();
    for (std::size_t i = 0; i < std::min(open, requests_.size()); ++i) {
      due_.push(requests_[i].arrival);
    }
  }

  std::optional<TimePoint> next_arrival() override {
    if (taken_ == requests_.size() || due_.empty()) {
      return std::nullopt;
    }
    return due_.top();
  }

  void take(Request& request) override {
    const TestRequest& next = requests_[taken_];
    request.id = static_cast<std::int64_t>(taken_);
    request.arrival = due_.top();
    request.prompt = TokenCount(next.prompt);
    request.output = TokenCount(next.output);
    request.max_new = TokenCount(std::max(next.output, next.max_new));
    request.session = next.session;
    request.content = next.content;
    request.output_content = next.output_content;
    request.priority = next.priority;
    due_.pop();
    ++taken_;
  }

  void finished(std::int64_t id, TimePoint now) override {
    (void)id;
    if (closed_) {
      due_.push(now + think_);
    }
  }

 private:
  std::vector<TestRequest> requests_;
  bool closed_;
  Duration think_;
  std::size_t taken_ = 0;
  std::priority_queue<TimePoint, std::vector<TimePoint>, std::greater<>> due_;
};

class TestPricer : public StepPricer {
 public:
  explicit TestPricer(const StepCosts& costs) : costs_(costs) {}

  [[nodiscard]] StepCost price(const StepShape& shape) const override {
    std::int64_t past = 0;
    for (const ChunkShape& chunk : shape.chunks) {
      past += chunk.past;
    }
    StepCost cost;
    cost.host = microseconds(costs_.fixed);
    cost.compute = microseconds(costs_.per_token * shape.tokens() + costs_.per_past * past);
    cost.bandwidth = microseconds(costs_.per_context * shape.decode_context +
                                  costs_.per_window_context * shape.decode_window_context);
    cost.latency = microseconds(costs_.per_row * shape.sampled_rows);
    return cost;
  }

  [[nodiscard]] std::optional<StepLine> line(const StepShape& shape,
                                             const ContextTokens& context_growth) const override {
    StepLine line{price(shape)};
    line.growth.compute = microseconds(costs_.per_past * shape.chunk_tokens());
    line.growth.bandwidth = microseconds(costs_.per_context * context_growth.full +
                                         costs_.per_window_context * context_growth.windowed);
    return line;
  }

 private:
  StepCosts costs_;
};

/// Asks the policy under test and notes what it answered.
class NotedPolicy : public BatchPolicy {
 public:
  NotedPolicy(std::unique_ptr<BatchPolicy> policy, StepLog& log) : policy_(std::move(policy)), log_(log) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    policy_->plan(view, plan);
    log_.note_plan(view, plan);
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
  StepLog& log_;
};

/// The keys of a setup as a scenario's section.
struct ReadEngine {
  explicit ReadEngine(const EngineSetup& setup) {
    register_builtin_policies(registry);
    const std::string text = "{policy: " + setup.policy +
                             ", max_num_seqs: " + std::to_string(setup.max_num_seqs) +
                             ", block_size: " + std::to_string(setup.block_size) +
                             (setup.keys.empty() ? "" : ", ") + setup.keys + "}";
    Diagnostics diagnostics;
    values = parse(engine_table(registry), read_yaml_text(text, "engine"), diagnostics);
    diagnostics.throw_if_any();
    entry = registry.find(setup.policy);
    INFEROMETER_CHECK(entry != nullptr, "the registry has what the table accepts");
  }
  [[nodiscard]] const PolicyEntry& policy() const { return *entry; }

  PolicyRegistry registry;
  Values values;
  const PolicyEntry* entry = nullptr;
};

bool contains(const std::vector<SequenceId>& ids, SequenceId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

TestRequest request_at(std::int64_t arrival_us, std::int64_t prompt, std::int64_t output,
                       std::int64_t max_new) {
  return {TimePoint(microseconds(arrival_us)), prompt, output, max_new};
}

std::unique_ptr<Workload> make_list_workload(std::vector<TestRequest> requests, std::int64_t clients,
                                             Duration think) {
  return std::make_unique<ListWorkload>(std::move(requests), clients, think);
}

std::shared_ptr<const StepPricer> make_test_pricer(const StepCosts& costs) {
  return std::make_shared<TestPricer>(costs);
}

ReplicaConfig replica_config(const EngineSetup& setup) {
  const ReadEngine engine(setup);
  ReplicaConfig config;
  config.block_size = setup.block_size;
  config.blocks = BlockCount(setup.blocks);
  config.max_model_len = setup.max_model_len;
  config.max_num_seqs = setup.max_num_seqs;
  config.attention_window = setup.window;
  config.caches_prefixes = engine.policy().caches_prefixes && engine.policy().caches_prefixes(engine.values);
  config.stepper = setup.stepper;
  config.plans_ahead = setup.plans_ahead;
  config.speculation = setup.speculation;
  config.offload = setup.offload;
  config.swap = setup.swap;
  config.step_tokens = engine.policy().step_tokens(engine.values, setup.max_model_len);
  return config;
}

std::unique_ptr<BatchPolicy> make_policy(const EngineSetup& setup) {
  const ReadEngine engine(setup);
  engine.policy().step_tokens(engine.values, setup.max_model_len);  // refuses budgets that cannot work
  return engine.policy().make(engine.values,
                              {setup.max_num_seqs, setup.max_model_len, setup.block_size, setup.blocks});
}

void StepLog::on_rejected(const RejectedRequest& request) {
  rejected_.push_back(request);
  rejected_.back().reason = {};
  lines_.push_back(time_text(request.rejected) + " | reject " + std::to_string(request.id));
}

void StepLog::on_steps(const StepRecord& steps) {
  visit_steps(steps, [this](const StepRecord& step) { add_step(step); });
}

void StepLog::add_step(const StepRecord& step) {
  const TimePoint start = step.stretch.start();
  const TimePoint end = step.stretch.end();
  Step entry{start, end, step.held_blocks.count(), step.emitted, {}};
  for (const TokenGap& gap : step.gaps) {
    entry.gaps[gap.gap.count()] += gap.count;
  }
  steps_.push_back(std::move(entry));
  const std::string waiting = step.waiting > 0 ? " | wait " + std::to_string(step.waiting) : "";
  lines_.push_back(time_text(start) + "-" + time_text(end) + planned_ + waiting + " | free " +
                   std::to_string(total_blocks - step.held_blocks.count()));
}

void StepLog::on_finished(const FinishedRequest& request) {
  finished_.push_back(request);
}

void StepLog::note_plan(const ReplicaView& view, const StepPlan& plan) {
  const auto number = [&](SequenceId id) { return " " + std::to_string(view.sequence(id).request_id); };
  std::string prefills;
  for (const StepPlan::Chunk& chunk : plan.chunks) {
    prefills += number(chunk.id) + "+" + std::to_string(chunk.tokens);
  }
  std::string decodes;
  for (SequenceId id = view.running_head(); plan.decode && id != kNoSequence; id = view.sequence(id).next) {
    if (view.is_decoding(id) && !contains(plan.preempted, id) && !contains(plan.decode_except, id)) {
      decodes += number(id);
    }
  }
  std::string preempted;
  std::string swapped_out;
  for (const SequenceId id : plan.preempted) {
    (contains(plan.swapped_out, id) ? swapped_out : preempted) += number(id);
  }
  std::string swapped_in;
  for (const SequenceId id : plan.swapped_in) {
    swapped_in += number(id);
  }
  planned_.clear();
  planned_ += prefills.empty() ? "" : " | prefill" + prefills;
  planned_ += decodes.empty() ? "" : " | decode" + decodes;
  planned_ += preempted.empty() ? "" : " | preempt" + preempted;
  planned_ += swapped_out.empty() ? "" : " | swap out" + swapped_out;
  planned_ += swapped_in.empty() ? "" : " | swap in" + swapped_in;
}

std::string StepLog::outcome(std::int64_t request_id) const {
  for (const FinishedRequest& request : finished_) {
    if (request.id == request_id) {
      return "arrived " + time_text(request.arrival) + ", admitted " + time_text(request.admitted) +
             ", first " + time_text(request.first_token) + ", done " + time_text(request.finished) +
             ", preempted " + std::to_string(request.preemptions);
    }
  }
  return "none";
}

std::unique_ptr<Simulation> make_simulation(const EngineSetup& setup, std::unique_ptr<Workload> workload,
                                            SimulationObserver& observer, StepLog* log) {
  std::unique_ptr<BatchPolicy> policy = make_policy(setup);
  if (log != nullptr) {
    log->total_blocks = setup.blocks;
    policy = std::make_unique<NotedPolicy>(std::move(policy), *log);
  }
  std::vector<Replica> replicas;
  replicas.emplace_back(replica_config(setup), std::move(policy), make_test_pricer(setup.costs), observer);
  return std::make_unique<Simulation>(std::move(workload), std::move(replicas), observer);
}

StepLog run_to_end(const EngineSetup& setup, std::vector<TestRequest> requests) {
  StepLog log;
  make_simulation(setup, make_list_workload(std::move(requests)), log, &log)->run();
  return log;
}

}  // namespace inferometer::testing
