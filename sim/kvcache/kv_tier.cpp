#include "sim/kvcache/kv_tier.hpp"

#include <algorithm>

namespace inferometer {

/// Whatever makes blocks come, those that go take the same way.
class KvTier::Flow : public TierFlow {
 public:
  Flow(KvTier& tier, TimePoint now) : tier_(tier), now_(now) {}

  void drop(std::uint64_t run, std::int64_t from, std::int64_t to, TimePoint ready) override {
    if (tier_.below_ != nullptr) {
      tier_.below_->store(now_, run, from, to, ready);
    }
  }

 protected:
  KvTier& tier_;
  TimePoint now_;
};

/// Over the link from above.
class KvTier::Writing final : public Flow {
 public:
  Writing(KvTier& tier, TimePoint now, TimePoint there) : Flow(tier, now), there_(std::max(now, there)) {}

  /// The buffer is full when it takes as long to empty as if it were.
  std::int64_t let_in(std::int64_t blocks) override {
    if (tier_.config_.write_buffer == KvTierConfig::kUnbounded) {
      return blocks;
    }
    const Duration block = tier_.config_.block_write;
    const Duration until_empty = std::max(tier_.written_by_, now_) - now_;
    const std::int64_t waiting = (until_empty.count() + block.count() - 1) / block.count();
    const std::int64_t room = std::max<std::int64_t>(0, tier_.config_.write_buffer - waiting);
    if (room == 0) {
      tier_.counts_.lost_blocks += blocks;
    }
    return std::min(blocks, room);
  }
  TimePoint copy_in(std::int64_t blocks) override {
    const Duration time = tier_.config_.block_write * blocks;
    tier_.written_by_ = start() + time;
    tier_.counts_.stored_blocks += blocks;
    tier_.counts_.storing += time;
    return tier_.written_by_;
  }

 private:
  [[nodiscard]] TimePoint start() const { return std::max(tier_.written_by_, there_); }

  TimePoint there_;
};

/// Over the link from below, whose tier counts that.
class KvTier::Keeping final : public Flow {
 public:
  Keeping(KvTier& tier, TimePoint now, TimePoint there) : Flow(tier, now), there_(there) {}

  std::int64_t let_in(std::int64_t blocks) override { return blocks; }
  TimePoint copy_in(std::int64_t /*blocks*/) override { return there_; }

 private:
  TimePoint there_;
};

void KvTier::store(TimePoint now, std::uint64_t run, std::int64_t from, std::int64_t to, TimePoint there) {
  Writing flow(*this, now, there);
  blocks_.put(run, from, to, flow);
}

void KvTier::keep(TimePoint now, std::uint64_t run, std::int64_t from, std::int64_t to, TimePoint there) {
  Keeping flow(*this, now, there);
  blocks_.put(run, from, to, flow);
}

TimePoint KvTier::load(TimePoint now, TimePoint asked, TimePoint there, std::int64_t blocks) {
  const Duration time = config_.block_read * blocks;
  const TimePoint start = reads_.start(there, time);
  reads_.book(start, time, now);
  ++counts_.loads;
  counts_.loaded_blocks += blocks;
  counts_.loading += time;
  counts_.load_waiting += start - asked;
  return start + time;
}

void KvTier::clear() {
  blocks_.clear();
  written_by_ = {};
  reads_.clear();
}

}  // namespace inferometer
