#include "tests/support/plain_sglang.hpp"

#include "tests/support/plain_replica.hpp"

namespace inferometer::testing {
namespace {

// Constants of SGLang (environ.py, schedule_policy.py). The ratio is kept in billionths, so that it is the
// same on every machine.
constexpr std::int64_t kWhole = 1'000'000'000;
constexpr std::int64_t kFallsOver = 600;       // decode steps from the first ratio to the least
constexpr std::int64_t kLeastPercent = 14;     // of the first
constexpr std::int64_t kAfterRetraction = 20;  // steps that those who stay are expected to go on
constexpr std::int64_t kMostAhead = 4096;      // tokens set aside for one request

class PlainSgLang final : public PlainReplica {
 public:
  PlainSgLang(const PlainEngine& engine, Workload& workload)
      : PlainReplica(engine, workload), sglang_(engine.sglang), from_(sglang_.first_ratio) {}

 private:
  void schedule() override {
    while (!schedule_once()) {
    }
  }

  /// False: sequences lost their place and nothing runs, so that it is to be asked again.
  bool schedule_once() {
    if (running_.empty()) {
      is_full_ = false;
      has_shrunk_ = false;
      if (waiting_.empty()) {
        start_ratio(sglang_.first_ratio);
        return true;
      }
    }
    const std::size_t waited = waiting_.size();
    add_prefill_batch();
    prefilled_last_ = !runs_.empty();
    if (prefilled_last_) {
      if (sglang_.mixed_chunk && count_decodes() > 0) {
        start_ratio(ratio());  // a mixed step leaves it as it is
        run_decodes();
      }
      return true;
    }
    if (waiting_.size() > waited) {
      return false;
    }
    if (count_decodes() == 0) {
      return true;
    }
    is_full_ = is_full_ && !has_shrunk_;
    has_shrunk_ = false;
    if (blocks_to_decode() > free_) {
      retract();
    } else {
      ++decode_steps_;
    }
    run_decodes();
    return !runs_.empty();
  }

  void on_finished() override {
    if (prefilled_last_) {
      is_full_ = false;
    } else {
      has_shrunk_ = true;
    }
  }

  // --- the ratio
  // -------------------------------------------------------------------------------------------------

  void start_ratio(std::int64_t from) {
    from_ = from;
    decode_steps_ = 0;
  }

  [[nodiscard]] std::int64_t ratio() const {
    const std::int64_t least = sglang_.first_ratio * kLeastPercent / 100;
    return std::max(least, from_ - (sglang_.first_ratio - least) * decode_steps_ / kFallsOver);
  }

  [[nodiscard]] static std::int64_t ahead(const Item& item) {
    return std::min(item.max_new - item.emitted, kMostAhead);
  }

  // --- decodes
  // ---------------------------------------------------------------------------------------------------

  [[nodiscard]] std::int64_t count_decodes() const {
    return std::count_if(running_.begin(), running_.end(),
                         [](const Item* item) { return !item->prefilling; });
  }

  [[nodiscard]] std::int64_t blocks_to_decode() const {
    std::int64_t blocks = 0;
    for (const Item* item : running_) {
      blocks += item->prefilling ? 0 : lacking(*item, 1);
    }
    return blocks;
  }

  void run_decodes() {
    for (Item* item : running_) {
      if (!item->prefilling) {
        allocate(*item, 1);
        runs_.push_back({item, 1});
      }
    }
  }

  void drop(Item* item) {
    running_.erase(std::find(running_.begin(), running_.end(), item));
    give_back(*item);
    item->prefilling = false;
    item->computed = 0;
    ++item->record.preemptions;
    waiting_.push_back(item);
  }

  // Most emitted first, then shortest prompt; the last of them go until the others can decode.
  void retract() {
    std::vector<Item*> order;
    std::copy_if(running_.begin(), running_.end(), std::back_inserter(order),
                 [](const Item* item) { return !item->prefilling; });
    std::stable_sort(order.begin(), order.end(), [](const Item* a, const Item* b) {
      return a->emitted != b->emitted ? a->emitted > b->emitted : a->record.prompt < b->record.prompt;
    });
    while (blocks_to_decode() > free_) {
      drop(order.back());
      order.pop_back();
    }
    is_full_ = false;
    if (order.empty()) {
      return;
    }
    std::int64_t emitted = 0, allowed = 0;
    for (const Item* item : order) {
      emitted += item->emitted + kAfterRetraction;
      allowed += item->max_new;
    }
    start_ratio(std::min(kWhole, emitted * kWhole / (allowed + 1)));
  }

  // --- prompts
  // ---------------------------------------------------------------------------------------------------

  /// Tokens that a prefill batch may still take.
  struct Room {
    std::int64_t memory, input, chunk;
    void take(std::int64_t tokens, std::int64_t later) {
      memory -= tokens + later;
      input -= tokens;
      chunk -= tokens;
    }
  };

  [[nodiscard]] std::int64_t paged(std::int64_t tokens) const { return blocks_of(tokens) * block_; }

  void add_prefill_batch() {
    const auto cut =
        std::find_if(running_.begin(), running_.end(), [](const Item* item) { return item->prefilling; });
    Item* const unfinished = cut == running_.end() ? nullptr : *cut;
    if (unfinished == nullptr && (is_full_ || waiting_.empty())) {
      return;
    }
    const std::int64_t decodes = count_decodes();
    const std::int64_t mixed = sglang_.mixed_chunk ? decodes : 0;
    const std::int64_t for_decodes = sglang_.mixed_chunk ? blocks_to_decode() : 0;
    if (unfinished == nullptr && decodes >= engine_.setup.max_num_seqs) {
      is_full_ = true;
      return;
    }
    if (for_decodes > free_) {
      is_full_ = is_full_ || unfinished == nullptr;
      return;
    }
    std::int64_t expected = 0;
    for (const Item* item : running_) {
      expected += item->prefilling ? 0 : ahead(*item);
    }
    const bool nothing_runs = running_.empty();
    const std::int64_t beside = free_ - for_decodes;
    Room room{beside * block_ - expected * ratio() / kWhole, sglang_.max_prefill_tokens - mixed,
              sglang_.chunk_size - mixed};
    if (unfinished != nullptr && !go_on(unfinished, beside, room)) {
      return;
    }
    while (!waiting_.empty() && !is_full_) {
      if (static_cast<std::int64_t>(runs_.size()) >= engine_.setup.max_num_seqs - decodes) {
        is_full_ = true;
        return;
      }
      if (!add_head(nothing_runs && runs_.empty(), room)) {
        return;
      }
    }
  }

  bool go_on(Item* item, std::int64_t beside, Room& room) {
    const std::int64_t left = item->tokens() - item->computed;
    std::int64_t tokens = std::min(left, room.chunk);
    if (room.memory > 0) {
      tokens = std::min(tokens, room.memory);
    }
    tokens = std::min(tokens, (item->held + beside) * block_ - item->computed);
    if (tokens <= 0) {
      if (count_decodes() == 0) {
        drop(item);
      }
      return false;
    }
    allocate(*item, tokens);
    runs_.push_back({item, tokens});
    room.take(paged(tokens), tokens == left ? ahead(*item) : 0);
    return true;
  }

  /// False: no further prompt joins this batch.
  bool add_head(bool is_alone, Room& room) {
    Item* item = waiting_.front();
    const std::int64_t length = item->tokens();
    const std::int64_t spare = sglang_.spare_page ? block_ : 0;
    const bool fits = is_alone ? blocks_of(length) <= free_ : length + ahead(*item) + spare < room.memory;
    if (!fits) {
      is_full_ = true;
      return false;
    }
    if (paged(length) >= room.input && !runs_.empty()) {
      return false;
    }
    const bool is_cut = paged(length) > room.chunk;
    const std::int64_t tokens = is_cut ? room.chunk / block_ * block_ : length;
    if (tokens <= 0) {
      return false;
    }
    admit_head();
    allocate(*item, tokens);
    runs_.push_back({item, tokens});
    room.take(paged(tokens), is_cut ? 0 : ahead(*item));
    is_full_ = room.memory <= 0;
    return room.memory > 0 && room.input > 0 && room.chunk > 0;
  }

  const PlainSgLangKeys& sglang_;
  bool is_full_ = false;
  bool has_shrunk_ = false;
  bool prefilled_last_ = false;
  std::int64_t from_;              // the ratio was that ...
  std::int64_t decode_steps_ = 0;  // ... so many decode steps ago
};

}  // namespace

PlainOutcome run_sglang_plainly(const PlainEngine& engine, Workload& workload) {
  return PlainSgLang(engine, workload).run();
}

}  // namespace inferometer::testing
