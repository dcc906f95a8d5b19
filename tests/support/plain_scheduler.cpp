#include "tests/support/plain_scheduler.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <optional>
#include <stdexcept>

#include "tests/support/plain_cache.hpp"

namespace inferometer::testing {

namespace {

struct Item {
  FinishedRequest record;  // filled in on the way
  std::int64_t max_new = 0;
  std::int64_t emitted = 0;
  std::int64_t computed = 0;
  std::int64_t held = 0;
  bool was_admitted = false;
  bool prefilling = false;
  TimePoint last_token;
  PlainContent content;  // where prefixes are cached

  [[nodiscard]] std::int64_t tokens() const { return record.prompt + emitted; }
};

class PlainReplica {
 public:
  PlainReplica(const PlainEngine& engine, Workload& workload)
      : engine_(engine),
        workload_(workload),
        pricer_(make_test_pricer(engine.setup.costs)),
        free_(engine.setup.blocks),
        block_(engine.setup.block_size) {
    if (engine.caches_prefixes) {
      cache_.emplace(engine.setup.blocks, block_);
    }
  }

  PlainOutcome run() {
    while (true) {
      const std::optional<TimePoint> next = workload_.next_arrival();
      if (next && *next <= now_) {
        take_arrivals_until(now_);
      }
      runs_.clear();
      wake_.reset();
      schedule();
      if (!runs_.empty()) {
        step();
        continue;
      }
      const std::optional<TimePoint> arrival = workload_.next_arrival();
      if (!arrival && !wake_) {
        break;
      }
      now_ = !wake_ ? *arrival : (!arrival ? *wake_ : std::min(*arrival, *wake_));
    }
    if (!waiting_.empty() || !running_.empty()) {
      throw std::logic_error("the plain scheduler is stuck");
    }
    std::sort(outcome_.finished.begin(), outcome_.finished.end(),
              [](const FinishedRequest& a, const FinishedRequest& b) { return a.id < b.id; });
    return std::move(outcome_);
  }

 private:
  struct Run {
    Item* item;
    std::int64_t tokens;
  };

  // --- time
  // ------------------------------------------------------------------------------------------------------

  void take_arrivals_until(TimePoint time) {
    for (auto next = workload_.next_arrival(); next && *next <= time; next = workload_.next_arrival()) {
      Request request;
      workload_.take(request);
      const std::int64_t room = engine_.setup.max_model_len - request.prompt.count();
      if (room < 1) {
        leave_unserved(request.id, request.arrival);
        continue;
      }
      Item& item = items_.emplace_back();
      item.record.id = request.id;
      item.record.arrival = request.arrival;
      item.record.prompt = request.prompt.count();
      item.record.output = std::min(request.output.count(), room);
      item.max_new = std::min(request.max_new.count(), room);
      if (cache_) {
        item.content.tokens = tokens_of(request, item.record.output);
      }
      waiting_.push_back(&item);
    }
  }

  void leave_unserved(std::int64_t id, TimePoint time) {
    outcome_.rejected[id] = time;
    workload_.finished(id, time);
  }

  void step() {
    const TimePoint start = now_;
    const TimePoint end = start + price();
    const std::int64_t held = engine_.setup.blocks - free_;
    take_arrivals_until(end - picoseconds(1));
    now_ = end;
    StepLog::Step log{start, end, held, 0, {}};
    for (const Run& run : runs_) {
      run.item->computed += run.tokens;
      if (run.item->computed == run.item->tokens()) {
        emit(*run.item, log);
      }
    }
    outcome_.steps.push_back(log);
    for (const Run& run : runs_) {
      if (run.item->emitted == run.item->record.output) {
        finish(*run.item);
      }
    }
  }

  void emit(Item& item, StepLog::Step& log) {
    if (item.emitted == 0) {
      item.record.first_token = now_;
    } else {
      ++log.gaps[(now_ - item.last_token).count()];
    }
    item.last_token = now_;
    ++item.emitted;
    ++log.emitted;
    item.prefilling = false;
  }

  void finish(Item& item) {
    item.record.finished = now_;
    give_back(item);
    running_.erase(std::find(running_.begin(), running_.end(), &item));
    ++frozen_;
    frozen_context_ += attended(item.record.prompt + item.record.output - 2);
    outcome_.finished.push_back(item.record);
    workload_.finished(item.record.id, now_);
  }

  // --- price
  // -----------------------------------------------------------------------------------------------------

  [[nodiscard]] ContextTokens attended(std::int64_t computed) const {
    return {computed + 1, engine_.setup.window ? std::min(computed + 1, *engine_.setup.window) : 0};
  }

  [[nodiscard]] Duration price() const {
    StepShape shape;
    std::vector<ChunkShape> chunks;
    for (const Run& run : runs_) {
      if (run.item->prefilling) {
        chunks.push_back({std::max(run.tokens, padded_chunk_), run.item->computed});
        shape.sampled_rows += run.item->computed + run.tokens == run.item->tokens() ? 1 : 0;
      } else {
        ++shape.decodes;
        shape.add_context(attended(run.item->computed));
      }
    }
    if (engine_.setup.policy == "static" && engine_.static_padding && chunks.empty()) {
      shape.decodes += frozen_;
      shape.add_context(frozen_context_);
    }
    shape.sampled_rows += shape.decodes;
    shape.chunks = chunks;
    return pricer_->price(shape).total();
  }

  // --- blocks
  // ----------------------------------------------------------------------------------------------------

  [[nodiscard]] std::int64_t blocks_of(std::int64_t tokens) const { return (tokens + block_ - 1) / block_; }

  [[nodiscard]] std::int64_t lacking(const Item& item, std::int64_t tokens) const {
    return std::max<std::int64_t>(0, blocks_of(item.computed + tokens) - item.held);
  }

  bool allocate(Item& item, std::int64_t tokens) {
    const std::int64_t need = lacking(item, tokens);
    if (need > free_) {
      return false;
    }
    free_ -= need;
    item.held += need;
    if (cache_) {
      for (std::int64_t i = 0; i < need; ++i) {
        item.content.table.push_back(cache_->take());
      }
      if (item.prefilling || item.computed == 0) {
        cache_->cover(item.content, item.computed + tokens);
      }
    }
    return true;
  }

  void give_back(Item& item) {
    if (cache_) {
      cache_->give_back(item.content, item.computed);
      free_ = cache_->free();
    } else {
      free_ += item.held;
    }
    item.held = 0;
  }

  void preempt(Item& item) {
    give_back(item);
    item.prefilling = false;
    item.computed = 0;
    ++item.record.preemptions;
    waiting_.push_front(&item);
  }

  void admit_head() {
    Item& item = *waiting_.front();
    waiting_.pop_front();
    if (!item.was_admitted) {
      item.was_admitted = true;
      item.record.admitted = now_;
    }
    item.prefilling = true;
    running_.push_back(&item);
  }

  void sort_running_by_arrival() {
    std::sort(running_.begin(), running_.end(),
              [](const Item* a, const Item* b) { return a->record.id < b->record.id; });
  }

  [[nodiscard]] bool is_full() const {
    return static_cast<std::int64_t>(running_.size()) >= engine_.setup.max_num_seqs;
  }

  // --- the policies
  // ----------------------------------------------------------------------------------------------

  void schedule() {
    padded_chunk_ = 0;
    if (engine_.setup.policy == "chunked_prefill") {
      schedule_vllm_v1();
    } else if (engine_.setup.policy == "continuous") {
      schedule_vllm_v0();
    } else if (engine_.setup.policy == "sarathi") {
      schedule_sarathi();
    } else if (engine_.setup.policy == "orca") {
      schedule_orca();
    } else {
      schedule_static();
    }
  }

  [[nodiscard]] std::int64_t cut(std::int64_t tokens) const {
    const std::int64_t threshold = engine_.long_prefill_threshold;
    return threshold > 0 && threshold < tokens ? threshold : tokens;
  }

  void schedule_vllm_v1() {
    std::int64_t budget = engine_.budget;
    bool preempted_any = false;
    for (std::size_t i = 0; i < running_.size() && budget > 0; ++i) {
      Item* item = running_[i];
      const std::int64_t tokens = std::min(cut(item->tokens() - item->computed), budget);
      bool is_victim = false;
      while (!is_victim && !allocate(*item, tokens)) {
        Item* victim = running_.back();
        running_.pop_back();
        preempt(*victim);
        preempted_any = true;
        is_victim = victim == item;
      }
      if (is_victim) {
        break;
      }
      runs_.push_back({item, tokens});
      budget -= tokens;
    }
    while (!preempted_any && !waiting_.empty() && budget > 0 && !is_full()) {
      Item* item = waiting_.front();
      const std::vector<std::int64_t> found =
          cache_ ? cache_->match(item->content.first(item->tokens())) : std::vector<std::int64_t>();
      const auto hits = static_cast<std::int64_t>(found.size());
      const std::int64_t idle = std::count_if(
          found.begin(), found.end(), [&](std::int64_t block) { return cache_->holders(block) == 0; });
      std::int64_t tokens = cut(item->tokens() - hits * block_);
      if (!engine_.chunked && tokens > budget) {
        break;
      }
      tokens = std::min(tokens, budget);
      const std::int64_t first = blocks_of(hits * block_ + tokens) - hits + idle;
      const std::int64_t gate = engine_.full_isl ? blocks_of(item->tokens()) - hits + idle : first;
      if (gate + (runs_.empty() ? 0 : engine_.watermark_blocks) > free_ || first > free_) {
        break;
      }
      for (const std::int64_t block : found) {
        cache_->hold(block);
        item->content.table.push_back(block);
      }
      item->held = item->content.cached_blocks = hits;
      item->computed = hits * block_;
      free_ -= idle;
      admit_head();
      allocate(*item, tokens);
      runs_.push_back({item, tokens});
      budget -= tokens;
    }
  }

  /// Takes hopeless requests off the head of the queue.
  bool reject_head_if_hopeless(std::int64_t longest) {
    Item* item = waiting_.front();
    if (item->tokens() <= longest &&
        engine_.setup.blocks - blocks_of(item->tokens()) >= engine_.watermark_blocks) {
      return false;
    }
    waiting_.pop_front();
    leave_unserved(item->record.id, now_);
    return true;
  }

  void schedule_vllm_v0() {
    std::int64_t tokens = 0;
    while (!waiting_.empty()) {
      if (reject_head_if_hopeless(std::min(engine_.setup.max_model_len, engine_.budget))) {
        continue;
      }
      Item* item = waiting_.front();
      const std::int64_t length = item->tokens();
      if (free_ - blocks_of(length) < engine_.watermark_blocks || tokens + length > engine_.budget ||
          is_full()) {
        break;
      }
      allocate(*item, length);
      admit_head();
      runs_.push_back({item, length});
      tokens += length;
    }
    if (!runs_.empty()) {
      return;
    }
    sort_running_by_arrival();
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (!append_slot_preempting(i, running_)) {
        break;
      }
      runs_.push_back({running_[i], 1});
    }
  }

  /// Makes room for one more token of list[i], taking from the end of the list. False: it lost its own place.
  bool append_slot_preempting(std::size_t i, std::vector<Item*>& list) {
    Item* item = list[i];
    while (!allocate(*item, 1)) {
      Item* victim = list.back();
      list.pop_back();
      preempt(*victim);
      if (victim == item) {
        return false;
      }
    }
    return true;
  }

  void schedule_sarathi() {
    sort_running_by_arrival();
    std::vector<Item*> partial;
    std::int64_t tokens = 0;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (running_[i]->prefilling) {
        partial.push_back(running_[i]);
        continue;
      }
      if (!append_slot_preempting(i, running_)) {
        break;
      }
      runs_.push_back({running_[i], 1});
      ++tokens;
    }
    for (Item* item : partial) {
      const std::int64_t chunk = std::min(item->tokens() - item->computed, engine_.budget - tokens);
      if (chunk > 0) {
        runs_.push_back({item, chunk});
        tokens += chunk;
      }
    }
    while (!waiting_.empty()) {
      if (reject_head_if_hopeless(engine_.setup.max_model_len)) {
        continue;
      }
      Item* item = waiting_.front();
      const std::int64_t chunk = std::min(item->tokens(), engine_.budget - tokens);
      if (free_ - blocks_of(item->tokens()) < engine_.watermark_blocks || is_full() || chunk == 0) {
        break;
      }
      allocate(*item, item->tokens());
      admit_head();
      runs_.push_back({item, chunk});
      tokens += chunk;
    }
  }

  [[nodiscard]] std::int64_t reservation(const Item& item) const {
    return engine_.reserve_model_len ? engine_.setup.max_model_len : item.record.prompt + item.max_new;
  }

  void admit_reserving() {
    while (!waiting_.empty() && !is_full() && allocate(*waiting_.front(), reservation(*waiting_.front()))) {
      Item* item = waiting_.front();
      admit_head();
      runs_.push_back({item, item->record.prompt});
    }
  }

  void run_all_decodes() {
    for (Item* item : running_) {
      runs_.push_back({item, 1});
    }
  }

  void schedule_orca() {
    run_all_decodes();
    admit_reserving();
  }

  void schedule_static() {
    if (!running_.empty()) {
      run_all_decodes();
      return;
    }
    if (waiting_.empty()) {
      return;
    }
    // Would the batch take all that wait, with room for more? Then the first may wait for company.
    std::int64_t room = free_;
    std::int64_t fitting = 0;
    for (const Item* item : waiting_) {
      room -= blocks_of(reservation(*item));
      if (room < 0) {
        break;
      }
      ++fitting;
    }
    const TimePoint deadline = waiting_.front()->record.arrival + engine_.wait_window;
    const bool takes_all = fitting == static_cast<std::int64_t>(waiting_.size());
    if (takes_all && fitting < engine_.setup.max_num_seqs && now_ < deadline) {
      wake_ = deadline;
      return;
    }
    admit_reserving();
    frozen_ = 0;
    frozen_context_ = {};
    for (const Run& run : runs_) {
      padded_chunk_ = engine_.static_padding ? std::max(padded_chunk_, run.tokens) : 0;
    }
  }

  const PlainEngine& engine_;
  Workload& workload_;
  std::shared_ptr<const StepPricer> pricer_;
  std::list<Item> items_;
  std::deque<Item*> waiting_;
  std::vector<Item*> running_;
  std::vector<Run> runs_;
  std::optional<TimePoint> wake_;
  TimePoint now_;
  std::optional<PlainCache> cache_;
  std::int64_t free_;
  std::int64_t block_;
  std::int64_t padded_chunk_ = 0;
  std::int64_t frozen_ = 0;  // finished sequences of a padded batch
  ContextTokens frozen_context_;
  PlainOutcome outcome_;
};

}  // namespace

PlainOutcome run_plainly(const PlainEngine& engine, Workload& workload) {
  return PlainReplica(engine, workload).run();
}

}  // namespace inferometer::testing
