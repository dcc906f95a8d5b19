#include "tests/support/plain_scheduler.hpp"

#include "tests/support/plain_replica.hpp"
#include "tests/support/plain_sglang.hpp"

namespace inferometer::testing {

namespace {

class PlainEngines : public PlainReplica {
 public:
  using PlainReplica::PlainReplica;

 private:
  void schedule() override {
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
    while (swapped_.empty() && !waiting_.empty()) {
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
    sort_by_arrival(running_);
    const std::size_t running_before = running_.size();
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (!append_slot_preempting(i, running_)) {
        break;
      }
      runs_.push_back({running_[i], 1});
    }
    sort_by_arrival(swapped_);
    const bool preempted_any = running_.size() < running_before;
    while (!preempted_any && !swapped_.empty() && !is_full()) {
      Item* item = swapped_.front();
      if (free_ - blocks_of(item->computed + 1) < engine_.watermark_blocks) {
        break;
      }
      allocate(*item, 1);
      swap_in(*item);
      runs_.push_back({item, 1});
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
    sort_by_arrival(running_);
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
};

}  // namespace

PlainOutcome run_plainly(const PlainEngine& engine, Workload& workload) {
  return engine.setup.policy == "sglang" ? run_sglang_plainly(engine, workload)
                                         : PlainEngines(engine, workload).run();
}

}  // namespace inferometer::testing
