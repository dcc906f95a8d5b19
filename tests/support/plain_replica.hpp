#pragma once

// What all plainly written engines have in common (plain_scheduler.hpp): time, prices, blocks, lists of what
// waits and runs. Which of them a step runs, the engine says.

#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/support/plain_cache.hpp"
#include "tests/support/plain_scheduler.hpp"

namespace inferometer::testing {

struct PlainItem {
  FinishedRequest record;  // filled in on the way
  std::int64_t max_new = 0;
  std::int64_t emitted = 0;
  std::int64_t computed = 0;
  std::int64_t held = 0;
  std::int64_t swapped = 0;  // blocks in host memory
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
        swap_room_(engine.setup.swap ? engine.setup.swap->blocks : 0),
        block_(engine.setup.block_size) {
    if (engine.caches_prefixes) {
      cache_.emplace(engine.setup.blocks, block_);
    }
  }

  virtual ~PlainReplica() = default;

  PlainOutcome run() {
    while (true) {
      const std::optional<TimePoint> next = workload_.next_arrival();
      if (next && *next <= now_) {
        take_arrivals_until(now_);
      }
      admit_to_queue(false);
      schedule_afresh();
      if (runs_.empty() && !door_.empty()) {  // nothing under way that a plan could be ahead of
        admit_to_queue(true);
        schedule_afresh();
      }
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
    if (!waiting_.empty() || !running_.empty() || !swapped_.empty()) {
      throw std::logic_error("the plain scheduler is stuck");
    }
    std::sort(outcome_.finished.begin(), outcome_.finished.end(),
              [](const FinishedRequest& a, const FinishedRequest& b) { return a.id < b.id; });
    return std::move(outcome_);
  }

 protected:
  using Item = PlainItem;
  struct Run {
    Item* item;
    std::int64_t tokens;
  };

  // --- time
  // ------------------------------------------------------------------------------------------------------

  void schedule_afresh() {
    runs_.clear();
    wake_.reset();
    padded_chunk_ = 0;
    copied_ = 0;
    schedule();
  }

  /// Who came before the last step began, or all of them when no step ends now.
  void admit_to_queue(bool all) {
    const bool is_planned = engine_.setup.plans_ahead && last_end_ == now_ && !all;
    while (!door_.empty() && (!is_planned || door_.front().second < steps_)) {
      waiting_.push_back(door_.front().first);
      door_.pop_front();
    }
  }

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
      door_.emplace_back(&item, steps_);
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
    ++steps_;
    last_end_ = end;
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
    on_finished();
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
    const Duration copying = copied_ > 0 ? engine_.setup.swap->block_copy * copied_ : Duration();
    return pricer_->price(shape).total() + copying;
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
    if (engine_.setup.swap && item.held <= swap_room_) {
      swap_out(item);
      return;
    }
    give_back(item);
    item.prefilling = false;
    item.computed = 0;
    ++item.record.preemptions;
    waiting_.push_front(&item);
  }

  void swap_out(Item& item) {
    item.swapped = item.held;
    swap_room_ -= item.swapped;
    copied_ += item.swapped;
    give_back(item);
    ++item.record.preemptions;
    swapped_.push_back(&item);
    ++outcome_.swapped_out;
  }

  void swap_in(Item& item) {
    swap_room_ += item.swapped;
    copied_ += item.swapped;
    item.swapped = 0;
    swapped_.erase(std::find(swapped_.begin(), swapped_.end(), &item));
    running_.push_back(&item);
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

  static void sort_by_arrival(std::vector<Item*>& items) {
    std::sort(items.begin(), items.end(),
              [](const Item* a, const Item* b) { return a->record.id < b->record.id; });
  }

  [[nodiscard]] bool is_full() const {
    return static_cast<std::int64_t>(running_.size()) >= engine_.setup.max_num_seqs;
  }

  /// Fills `runs_` and the lists, for a step that begins now, or sets wake_.
  virtual void schedule() = 0;
  /// A sequence has emitted its last token and left.
  virtual void on_finished() {}

  const PlainEngine& engine_;
  Workload& workload_;
  std::shared_ptr<const StepPricer> pricer_;
  std::list<Item> items_;
  std::deque<std::pair<Item*, std::int64_t>> door_;  // with the steps that had begun when they came
  std::int64_t steps_ = 0;
  std::optional<TimePoint> last_end_;
  std::deque<Item*> waiting_;
  std::vector<Item*> running_;
  std::vector<Item*> swapped_;
  std::vector<Run> runs_;
  std::optional<TimePoint> wake_;
  TimePoint now_;
  std::optional<PlainCache> cache_;
  std::int64_t free_;
  std::int64_t swap_room_;
  std::int64_t copied_ = 0;  // blocks to host memory and back, ahead of the present step
  std::int64_t block_;
  std::int64_t padded_chunk_ = 0;
  std::int64_t frozen_ = 0;  // finished sequences of a padded batch
  ContextTokens frozen_context_;
  PlainOutcome outcome_;
};

}  // namespace inferometer::testing
