// SGLang: prompts first, in a batch of their own while decodes stand still; what a running request may still
// emit counts at a ratio that falls while all goes well. Once a request has not fitted, none is tried until
// the batch gets smaller. When memory runs out, the requests that have emitted least are retracted and queued
// anew behind all. Scheduling semantics: python/sglang/srt/managers/{schedule_policy,schedule_batch,
// scheduler}.py (2025). A page of SGLang is a KV block here, one token in SGLang's own default.
//
// Differences that are meant: a request that finds nothing running is admitted if its prompt fits, whatever
// it may emit, where SGLang cuts what it may emit; a chunk for which no memory is left waits, and the last
// sequence is retracted as well when it cannot go on, where SGLang stops with an error; a prompt that could
// share what another one of its batch is about to compute is tried behind all others, as in SGLang, but
// shares it if it is admitted all the same.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sim/scheduler/builtin.hpp"
#include "sim/scheduler/new_token_ratio.hpp"
#include "sim/scheduler/tail_preemption.hpp"

namespace inferometer {
namespace {

struct Parameters {
  std::int64_t max_num_seqs = 0;
  std::int64_t chunk_size = 0;
  std::int64_t max_prefill_tokens = 0;
  bool longest_prefix_first = false;
  bool mixed_chunk = false;
  bool spare_page = true;
};

// SGLang's CLIP_MAX_NEW_TOKENS: more than that is not set aside for one request.
constexpr std::int64_t kMostTokensAhead = 4096;
// Queues longer than that are not sorted (SGLang's schedule_policy.py).
constexpr std::size_t kLongestSortedQueue = 128;
// In-batch prefix caching: a prompt that finds no more than that in the cache, but that much in what its
// batch computes, had better wait for it (IN_BATCH_PREFIX_CACHING_{CHECK,DEPRIORITIZE}_THRESHOLD).
constexpr std::int64_t kInBatchPrefix = 32;

class SgLang : public BatchPolicy {
 public:
  SgLang(const Parameters& parameters, const NewTokenRatio& ratio) : parameters_(parameters), ratio_(ratio) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    if (view.running_count() == 0) {
      is_full_ = false;
      has_shrunk_ = false;
      if (view.waiting().empty()) {
        ratio_.begin_anew(view.decode_steps());
        return;
      }
    }
    decodes_starve_ = view.decode_blocks_needed() > view.free_blocks();
    plan.decode = parameters_.mixed_chunk && view.decode_count() > 0;
    plan_prefills(view, plan);
    prefilled_last_ = !plan.chunks.empty();
    if (prefilled_last_) {
      if (plan.decode) {
        ratio_.skip_step(view.decode_steps());
      }
      return;
    }
    if (plan.preempted.empty() && view.decode_count() > 0) {
      plan_decodes(view, plan);
    }
  }

  // Nobody is tried while the batch counts as full, and nobody is there to be tried while the queue is empty;
  // the ratio is read off the decode steps. A step later a request that was refused for the room of one
  // prefill batch may be refused for memory, which closes the batch, and chunks of different steps leave
  // different room.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    if (!plan.chunks.empty() || !(is_full_ || view.waiting().empty())) {
      return Stability::ask_every_step();
    }
    return Stability::until_change(!is_full_);
  }

  // A batch that decodes is looked over after the queue, one that prefilled before.
  void on_finished(const ReplicaView& view, SequenceId id) override {
    (void)view, (void)id;
    if (prefilled_last_) {
      is_full_ = false;
    } else {
      has_shrunk_ = true;
    }
  }

  void on_cleared() override {
    is_full_ = false;
    has_shrunk_ = false;
    ratio_.begin_anew(0);
  }

  [[nodiscard]] Requeue requeue() const override { return Requeue::last; }

 private:
  enum class Verdict { go_on, no_memory, stop };
  /// What a prefill batch may still take, in tokens.
  struct Room {
    std::int64_t memory = 0;  // beside what running sequences are expected to need
    std::int64_t input = 0;
    std::int64_t chunk = 0;
  };

  void plan_prefills(const ReplicaView& view, StepPlan& plan) {
    const bool continues = !view.prefilling().empty();
    if (!continues && (is_full_ || view.waiting().empty())) {
      return;
    }
    const std::int64_t seats = parameters_.max_num_seqs - view.decode_count();
    const bool decodes_first = parameters_.mixed_chunk && decodes_starve_;
    if (decodes_first || (!continues && seats <= 0)) {
      is_full_ = is_full_ || !continues;
      return;
    }
    free_beside_decodes_ = view.free_blocks() - (parameters_.mixed_chunk ? view.decode_blocks_needed() : 0);
    Room room = room_in(view);
    const bool sorts = parameters_.longest_prefix_first && view.waiting().size() <= kLongestSortedQueue;
    if (sorts) {
      put_in_order(view, plan);
    }
    if (continues && !continue_chunk(view, plan, view.prefilling().front(), room)) {
      return;
    }
    if (sorts) {
      for (std::size_t i = 0; i < order_.size() && try_next(view, plan, order_[i], seats, room); ++i) {
      }
      return;
    }
    for (const SequenceId id : view.waiting()) {
      if (!try_next(view, plan, {id, 0, false}, seats, room)) {
        return;
      }
    }
  }

  struct Candidate {
    SequenceId id;
    std::int64_t cached;  // before this batch
    bool may_step_back;
  };

  // False: nobody else is tried in this step.
  bool try_next(const ReplicaView& view, StepPlan& plan, Candidate candidate, std::int64_t seats,
                Room& room) {
    is_full_ = is_full_ || static_cast<std::int64_t>(plan.chunks.size()) >= seats;
    if (is_full_) {
      return false;
    }
    const CachedPrefix cached = view.cached_prefix(plan, candidate.id);
    const bool finds_more = cached.tokens > candidate.cached && cached.tokens >= kInBatchPrefix;
    if (finds_more && candidate.may_step_back && candidate.cached <= kInBatchPrefix) {
      order_.push_back({candidate.id, candidate.cached, false});
      return true;
    }
    const Verdict verdict = try_admit(view, plan, candidate.id, cached, room);
    is_full_ = is_full_ || verdict == Verdict::no_memory;
    return verdict == Verdict::go_on;
  }

  // Longest cached prefix first.
  void put_in_order(const ReplicaView& view, const StepPlan& plan) {
    order_.clear();
    for (const SequenceId id : view.waiting()) {
      order_.push_back({id, view.cached_prefix(plan, id).tokens, true});
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cached > b.cached; });
  }

  [[nodiscard]] std::int64_t paged(const ReplicaView& view, std::int64_t tokens) const {
    return view.blocks_for(tokens) * view.block_size();
  }

  [[nodiscard]] static std::int64_t tokens_ahead(const ReplicaView& view, SequenceId id) {
    return std::min(view.sequence(id).max_new - view.emitted(id), kMostTokensAhead);
  }

  // Walks all that runs; a batch that is full is not looked at, so that this is seldom.
  [[nodiscard]] Room room_in(const ReplicaView& view) const {
    std::int64_t ahead = 0;
    for (SequenceId id = view.running_head(); id != kNoSequence; id = view.sequence(id).next) {
      ahead += view.is_decoding(id) ? tokens_ahead(view, id) : 0;
    }
    const std::int64_t mixed = parameters_.mixed_chunk ? view.decode_count() : 0;
    return {free_beside_decodes_ * view.block_size() - ratio_.of(ahead, view.decode_steps()),
            parameters_.max_prefill_tokens - mixed, parameters_.chunk_size - mixed};
  }

  // False: it finds no memory, and no prefill batch comes about. When nothing else can go on it gives up what
  // it has, which only happens where others share the memory.
  bool continue_chunk(const ReplicaView& view, StepPlan& plan, SequenceId id, Room& room) const {
    const std::int64_t left = view.prefill_left(id);
    const std::int64_t wanted =
        std::min(left, room.memory > 0 ? std::min(room.chunk, room.memory) : room.chunk);
    const std::int64_t fitting =
        (view.held_blocks(id) + free_beside_decodes_) * view.block_size() - view.computed(id);
    const std::int64_t tokens = std::min(wanted, fitting);
    if (tokens <= 0) {
      if (view.decode_count() == 0) {
        plan.preempted.push_back(id);
      }
      return false;
    }
    plan.chunks.push_back({id, tokens});
    const std::int64_t taken = paged(view, tokens);
    room.memory -= taken + (tokens == left ? tokens_ahead(view, id) : 0);
    room.input -= taken;
    room.chunk -= taken;
    return true;
  }

  Verdict try_admit(const ReplicaView& view, StepPlan& plan, SequenceId id, const CachedPrefix& cached,
                    Room& room) const {
    const std::int64_t page = view.block_size();
    const std::int64_t length = view.prefill_left(id) - cached.tokens;
    const std::int64_t ahead = tokens_ahead(view, id);
    const std::int64_t needed = length + ahead + (parameters_.spare_page ? page : 0);
    const std::int64_t revived = cached.idle_blocks * page;  // counted as free until now
    const bool is_alone = view.running_count() == 0 && plan.admitted.empty();
    const bool fits = is_alone ? paged(view, length) + revived <= view.free_blocks() * page
                               : needed < room.memory - revived;
    if (!fits) {
      return Verdict::no_memory;
    }
    const std::int64_t whole = paged(view, length);
    if (whole >= room.input && !plan.chunks.empty()) {
      return Verdict::stop;
    }
    const bool is_cut = whole > room.chunk;
    const std::int64_t tokens = is_cut ? room.chunk / page * page : length;
    if (tokens <= 0) {
      return Verdict::stop;
    }
    plan.admitted.push_back({id, 0, cached.tokens});
    plan.chunks.push_back({id, tokens});
    const std::int64_t taken = paged(view, tokens);
    room.memory -= revived + taken + (is_cut ? 0 : ahead);
    room.input -= taken;
    room.chunk -= taken;
    if (room.memory <= 0) {
      return Verdict::no_memory;
    }
    return room.input <= 0 || room.chunk <= 0 ? Verdict::stop : Verdict::go_on;
  }

  void plan_decodes(const ReplicaView& view, StepPlan& plan) {
    plan.decode = true;
    is_full_ = is_full_ && !has_shrunk_;
    has_shrunk_ = false;
    if (decodes_starve_) {
      retract(view, plan);
      is_full_ = false;
    }
  }

  // Those that have emitted least go first, of those the longest prompts, of those who came last.
  void retract(const ReplicaView& view, StepPlan& plan) {
    victims_.clear();
    std::int64_t emitted = 0;
    std::int64_t allowed = 0;
    for (SequenceId id = view.running_tail(); id != kNoSequence; id = view.sequence(id).previous) {
      if (view.is_decoding(id)) {
        victims_.push_back(id);
        emitted += view.emitted(id);
        allowed += view.sequence(id).max_new;
      }
    }
    std::stable_sort(victims_.begin(), victims_.end(), [&](SequenceId a, SequenceId b) {
      const std::int64_t first = view.emitted(a);
      const std::int64_t second = view.emitted(b);
      return first != second ? first < second : view.sequence(a).prompt > view.sequence(b).prompt;
    });
    std::int64_t needed = view.decode_blocks_needed();
    std::int64_t free = view.free_blocks();
    for (auto victim = victims_.begin(); needed > free; ++victim) {
      needed -= view.blocks_needed(*victim);
      free += view.blocks_freed_by(plan, *victim);
      emitted -= view.emitted(*victim);
      allowed -= view.sequence(*victim).max_new;
      plan.preempted.push_back(*victim);
    }
    const auto staying = static_cast<std::int64_t>(victims_.size() - plan.preempted.size());
    plan.decode = staying > 0;
    if (staying > 0) {
      ratio_.estimate(emitted, staying, allowed, view.decode_steps());
    }
  }

  Parameters parameters_;
  NewTokenRatio ratio_;
  bool is_full_ = false;         // SGLang's batch_is_full: set when a request does not fit
  bool has_shrunk_ = false;      // somebody who decoded has left
  bool prefilled_last_ = false;  // in the step before
  // Of the step that is planned; kept for their storage.
  bool decodes_starve_ = false;           // before anything is planned: their blocks are not free
  std::int64_t free_beside_decodes_ = 0;  // blocks, before anybody is admitted
  std::vector<Candidate> order_;
  std::vector<SequenceId> victims_;
};

std::vector<Key> keys() {
  Table table("engine", "");
  table
      .add("chunked_prefill_size", ValueType::count,
           "Prompt tokens of one step; SGLang takes 8192 on GPUs of 80 GB, 4096 and 2048 on smaller ones")
      .by_default("8192")
      .range("1", "1048576");
  table
      .add("max_prefill_tokens", ValueType::count, "Prompt tokens after which no further prompt joins a step")
      .by_default("16384")
      .range("1", "16777216");
  table
      .add_choice("schedule_policy", {"fcfs", "lpm"},
                  "Order in which prompts are tried: as they came, or longest cached prefix first while at "
                  "most 128 wait")
      .by_default("fcfs");
  table
      .add("schedule_conservativeness", ValueType::number,
           "How much of what running requests may still emit is set aside at first: 0.7 times this, at most "
           "all")
      .by_default("1")
      .above("0")
      .range("", "10");
  table.add("enable_mixed_chunk", ValueType::flag, "Decodes run beside prompts instead of standing still")
      .by_default("false");
  table
      .add("spare_page", ValueType::flag,
           "Whether a prompt is admitted only with a KV block to spare, as newer versions have it")
      .by_default("true");
  table
      .add("disable_radix_cache", ValueType::flag,
           "Do not keep the KV of what has been computed for later prompts that begin alike")
      .by_default("false");
  return table.keys();
}

std::int64_t step_tokens(const Values& engine, std::int64_t max_model_len) {
  (void)max_model_len;
  const std::int64_t chunk = engine.count("chunked_prefill_size");
  const std::int64_t seqs = engine.count("max_num_seqs");
  if (chunk < engine.count("block_size")) {
    throw ConfigError(engine.where("chunked_prefill_size"),
                      "engine.chunked_prefill_size must be at least engine.block_size (" +
                          std::to_string(engine.count("block_size")) + "), since prompts are cut at blocks");
  }
  if (engine.flag("enable_mixed_chunk") && chunk < seqs + engine.count("block_size")) {
    throw ConfigError(
        engine.where("chunked_prefill_size"),
        "engine.chunked_prefill_size must be at least engine.max_num_seqs and a block together (" +
            std::to_string(seqs + engine.count("block_size")) +
            ") when enable_mixed_chunk is true, so that a prompt goes on beside all decodes");
  }
  return std::max(chunk, seqs);
}

}  // namespace

PolicyEntry sglang_policy() {
  return {
      .name = "sglang",
      .summary =
          "SGLang: prompts first, memory for outputs estimated, retracts who has emitted least; its own "
          "block_size is 1",
      .keys = keys(),
      .step_tokens = step_tokens,
      .caches_prefixes = [](const Values& engine) { return !engine.flag("disable_radix_cache"); },
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<SgLang>(
            Parameters{.max_num_seqs = limits.max_num_seqs,
                       .chunk_size = engine.count("chunked_prefill_size"),
                       .max_prefill_tokens = engine.count("max_prefill_tokens"),
                       .longest_prefix_first = engine.text("schedule_policy") == "lpm",
                       .mixed_chunk = engine.flag("enable_mixed_chunk"),
                       .spare_page = engine.flag("spare_page")},
            NewTokenRatio(engine.number("schedule_conservativeness")));
      },
  };
}

}  // namespace inferometer
