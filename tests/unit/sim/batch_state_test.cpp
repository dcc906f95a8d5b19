// BatchState against a model that keeps a plain record of every sequence, over random steps of the kind a
// replica takes: preempt, admit, give out blocks, run, finish.

#include "sim/batch/batch_state.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kBlocks = 40;
constexpr std::int64_t kBlockSize = 4;
constexpr std::int64_t kOutputLimit = 12;

class Model {
 public:
  Model(RunningOrder order, std::uint64_t seed)
      : order_(order),
        state_(BlockCount(kBlocks), kBlockSize, std::nullopt, order),
        random_(seed, "tests/batch_state") {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      while (below(3) > 0 && waiting_.size() < 6) {
        enqueue();
      }
      if (below(4) == 0 && !waiting_.empty()) {
        reject(waiting_[static_cast<std::size_t>(below(static_cast<std::int64_t>(waiting_.size())))]);
      }
      if (below(4) == 0 && !running_.empty()) {
        preempt(running_[static_cast<std::size_t>(below(static_cast<std::int64_t>(running_.size())))]);
      }
      make_room();
      step();
      check();
    }
    REQUIRE(finished_ > steps / 10);
  }

 private:
  struct Item {
    Request request;
    std::int64_t output = 0, emitted = 0, computed = 0, held = 0;
    bool prefilling = false, reserved = false, was_admitted = false;
    TimePoint admitted, first, last;
    std::int32_t preemptions = 0;
    [[nodiscard]] std::int64_t tokens() const { return request.prompt.count() + emitted; }
  };

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }

  [[nodiscard]] std::int64_t free() const {
    std::int64_t held = 0;
    for (const auto& [id, item] : items_) {
      held += item.held;
    }
    return kBlocks - held;
  }

  void enqueue() {
    Item item;
    item.request.id = next_id_++;
    item.request.arrival = now_;
    item.request.prompt = TokenCount(1 + below(20));
    item.request.output = TokenCount(1 + below(16));
    item.request.max_new = TokenCount(item.request.output.count() + below(3));
    item.output = std::min(item.request.output.count(), kOutputLimit);
    const SequenceId id = state_.enqueue(item.request, kOutputLimit);
    REQUIRE(items_.count(id) == 0);
    items_[id] = item;
    waiting_.push_back(id);
  }

  void reject(SequenceId id) {
    state_.reject(id);
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), id));
    items_.erase(id);
  }

  void preempt(SequenceId id) {
    state_.drop_blocks(id);
    state_.preempt(id);
    running_.erase(std::find(running_.begin(), running_.end(), id));
    waiting_.push_front(id);
    Item& item = items_[id];
    item.held = item.computed = 0;
    item.prefilling = item.reserved = false;
    ++item.preemptions;
  }

  /// Blocks that one more token of every decode takes.
  [[nodiscard]] std::int64_t decode_need() const {
    std::int64_t need = 0;
    for (const SequenceId id : running_) {
      const Item& item = items_.at(id);
      need += !item.prefilling && ceil_div(item.computed + 1, kBlockSize) > item.held ? 1 : 0;
    }
    return need;
  }

  void make_room() {
    while (decode_need() > free()) {
      preempt(running_.back());
    }
  }

  void admit_some(std::int64_t spared) {
    while (!waiting_.empty() && below(3) > 0) {
      const SequenceId id = waiting_.front();
      Item& item = items_[id];
      const bool whole = below(2) == 0;
      const std::int64_t reserve =
          whole ? item.request.prompt.count() + item.output : (below(2) == 0 ? item.tokens() : 0);
      const std::int64_t held = ceil_div(reserve, kBlockSize);
      if (held + ceil_div(item.tokens(), kBlockSize) + spared > free()) {
        return;
      }
      state_.reserve_blocks({id, reserve});
      state_.admit(id, now_);
      waiting_.pop_front();
      item.held = held;
      item.prefilling = true;
      item.reserved = whole;
      if (!item.was_admitted) {
        item.was_admitted = true;
        item.admitted = now_;
      }
      running_.push_back(id);
      if (order_ == RunningOrder::arrival) {
        std::sort(running_.begin(), running_.end(),
                  [&](SequenceId a, SequenceId b) { return items_[a].request.id < items_[b].request.id; });
      }
    }
  }

  void step() {
    const bool decode = below(5) > 0;
    const std::int64_t need = decode ? decode_need() : 0;
    admit_some(need);
    std::map<SequenceId, std::int64_t> chunks;
    for (const SequenceId id : running_) {
      Item& item = items_[id];
      if (!item.prefilling || below(5) == 0) {
        continue;
      }
      const std::int64_t tokens = 1 + below(item.tokens() - item.computed);
      const std::int64_t held = std::max(item.held, ceil_div(item.computed + tokens, kBlockSize));
      if (held - item.held + need <= free()) {
        chunks[id] = tokens;
        state_.take_chunk_blocks(id, tokens);
        item.held = held;
      }
    }
    std::vector<SequenceId> suspended;
    for (const SequenceId id : running_) {
      if (decode && !items_[id].prefilling && below(4) == 0) {
        suspended.push_back(id);
        state_.suspend_decode(id);
      }
    }
    if (decode) {
      state_.take_blocks(BlockCount(state_.decodes().blocks_needed()));
    }
    now_ = now_ + picoseconds(1 + below(5));
    end_step(decode, chunks, suspended);
  }

  void end_step(bool decode, const std::map<SequenceId, std::int64_t>& chunks,
                const std::vector<SequenceId>& suspended) {
    const std::int64_t running = static_cast<std::int64_t>(running_.size());
    REQUIRE(state_.running_count() == running);  // those that sit the step out included
    if (decode) {
      state_.advance_decodes(now_, now_, 1);
    }
    for (const SequenceId id : suspended) {
      state_.resume_decode(id);
    }
    std::vector<SequenceId> done;
    for (const SequenceId id : running_) {
      Item& item = items_[id];
      const bool out = std::count(suspended.begin(), suspended.end(), id) > 0;
      if (decode && !item.prefilling && !out) {
        ++item.computed;
        item.held = std::max(item.held, ceil_div(item.computed, kBlockSize));
        item.last = now_;
        ++item.emitted;
        if (item.emitted == item.output) {
          done.push_back(id);
        }
      }
    }
    for (const auto& [id, tokens] : chunks) {
      end_chunk(id, tokens);
    }
    for (SequenceId id = state_.next_finished(); id != kNoSequence; id = state_.next_finished()) {
      REQUIRE(std::count(done.begin(), done.end(), id) == 1);
      finish(id);
      done.erase(std::find(done.begin(), done.end(), id));
    }
    REQUIRE(done.empty());
  }

  void end_chunk(SequenceId id, std::int64_t tokens) {
    Item& item = items_[id];
    item.computed += tokens;
    const BatchState::ChunkEnd end = state_.end_chunk(id, tokens, now_);
    REQUIRE(end.emitted == (item.computed == item.tokens()));
    if (!end.emitted) {
      return;
    }
    REQUIRE(end.gap.has_value() == (item.emitted > 0));
    if (end.gap) {
      REQUIRE((*end.gap == now_ - item.last));
    } else {
      item.first = now_;
    }
    ++item.emitted;
    item.last = now_;
    REQUIRE(end.finished == (item.emitted == item.output));
    if (end.finished) {
      finish(id);
    } else {
      item.prefilling = false;
    }
  }

  void finish(SequenceId id) {
    const FinishedRequest got = state_.finish(id, now_);
    const Item& item = items_[id];
    REQUIRE(got.id == item.request.id);
    REQUIRE((got.arrival == item.request.arrival));
    REQUIRE((got.admitted == item.admitted));
    REQUIRE((got.finished == now_));
    REQUIRE(got.output == item.output);
    REQUIRE(got.preemptions == item.preemptions);
    REQUIRE((got.first_token <= got.finished));
    running_.erase(std::find(running_.begin(), running_.end(), id));
    items_.erase(id);
    ++finished_;
  }

  void check() {
    std::vector<SequenceId> order;
    for (SequenceId id = state_.head(); id != kNoSequence; id = state_.sequence(id).next) {
      order.push_back(id);
    }
    REQUIRE(order == running_);
    REQUIRE(state_.tail() == (running_.empty() ? kNoSequence : running_.back()));
    REQUIRE(std::equal(waiting_.begin(), waiting_.end(), state_.waiting().begin(), state_.waiting().end()));
    REQUIRE(state_.blocks().free().count() == free());
    std::vector<SequenceId> prefilling;
    for (const SequenceId id : running_) {
      if (items_[id].prefilling) {
        prefilling.push_back(id);
      }
    }
    REQUIRE(std::equal(prefilling.begin(), prefilling.end(), state_.prefilling().begin(),
                       state_.prefilling().end()));
    for (const auto& [id, item] : items_) {
      REQUIRE(state_.computed(id) == item.computed);
      REQUIRE(state_.emitted(id) == item.emitted);
      REQUIRE(state_.held_blocks(id) == item.held);
      REQUIRE(state_.sequence(id).preemptions == item.preemptions);
    }
    REQUIRE(state_.decodes().blocks_needed() == decode_need());
  }

  RunningOrder order_;
  BatchState state_;
  RandomStream random_;
  std::map<SequenceId, Item> items_;
  std::deque<SequenceId> waiting_;
  std::vector<SequenceId> running_;
  std::int64_t next_id_ = 0;
  TimePoint now_;
  int finished_ = 0;
};

TEST_CASE("a batch state agrees with a plain record of every sequence") {
  constexpr int kSteps = 3000;
  for (const RunningOrder order : {RunningOrder::admission, RunningOrder::arrival}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(static_cast<int>(order), seed);
      Model(order, seed).run(kSteps);
    }
  }
}

TEST_CASE("a preempted sequence goes before all that wait, the last one first") {
  BatchState state(BlockCount(10), kBlockSize, std::nullopt, RunningOrder::admission);
  Request request;
  request.prompt = request.output = request.max_new = TokenCount(3);
  std::vector<SequenceId> ids;
  for (request.id = 0; request.id < 3; ++request.id) {
    ids.push_back(state.enqueue(request, kOutputLimit));
  }
  state.reserve_blocks({ids[0], 3});
  state.admit(ids[0], TimePoint());
  state.reserve_blocks({ids[1], 3});
  state.admit(ids[1], TimePoint());
  state.drop_blocks(ids[1]);
  state.preempt(ids[1]);
  state.drop_blocks(ids[0]);
  state.preempt(ids[0]);
  CHECK(state.waiting() == std::deque<SequenceId>{ids[0], ids[1], ids[2]});
  CHECK(state.blocks().free().count() == 10);
}

TEST_CASE("a plan that takes more blocks than are free is refused, one that takes all of them is not") {
  BatchState state(BlockCount(2), kBlockSize, std::nullopt, RunningOrder::admission);
  Request request;
  request.prompt = TokenCount(9);
  request.output = request.max_new = TokenCount(1);
  const SequenceId id = state.enqueue(request, kOutputLimit);
  state.admit(id, TimePoint());
  state.take_chunk_blocks(id, 8);
  CHECK(state.blocks().free().count() == 0);
  CHECK_THROWS_AS(state.take_chunk_blocks(id, 9), std::logic_error);
}

}  // namespace
}  // namespace inferometer
