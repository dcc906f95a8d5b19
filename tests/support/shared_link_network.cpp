#include "tests/support/shared_link_network.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace inferometer::testing {
namespace {

/// What is left of each transfer is kept in time of the whole link, rounded so that nothing ends early.
class SharedLink final : public Network {
 public:
  explicit SharedLink(Duration per_byte) : per_byte_(per_byte) {}

  void start(TimePoint now, const Transfer& transfer) override {
    advance(now);
    left_[transfer.id] = per_byte_ * transfer.bytes.count();
  }
  void cancel(TimePoint now, std::uint32_t id) override {
    advance(now);
    left_.erase(id);
  }
  std::optional<TimePoint> next_end() override {
    std::optional<TimePoint> next;
    for (const auto& [id, left] : left_) {
      const TimePoint end = time_ + std::max(left, Duration()) * sharers();
      next = next ? std::min(*next, end) : end;
    }
    return next;
  }
  std::span<const std::uint32_t> ended(TimePoint now) override {
    advance(now);
    ended_.clear();
    for (const auto& [id, left] : left_) {
      if (left <= Duration()) {
        ended_.push_back(id);
      }
    }
    for (const std::uint32_t id : ended_) {
      left_.erase(id);
    }
    return ended_;
  }
  [[nodiscard]] std::vector<LinkUse> link_use(TimePoint) const override { return {}; }

 private:
  [[nodiscard]] std::int64_t sharers() const { return static_cast<std::int64_t>(left_.size()); }
  void advance(TimePoint now) {
    for (auto& [id, left] : left_) {
      left -= (now - time_) / sharers();
    }
    time_ = now;
  }

  Duration per_byte_;
  TimePoint time_;
  std::map<std::uint32_t, Duration> left_;
  std::vector<std::uint32_t> ended_;
};

class NotedNetwork final : public Network {
 public:
  NotedNetwork(std::unique_ptr<Network> network, TransferLog& log)
      : network_(std::move(network)), log_(log) {}

  void start(TimePoint now, const Transfer& transfer) override {
    come_to(now);
    require(!places_.contains(transfer.id) && !transfer.to.empty() && transfer.bytes >= Bytes(1));
    places_[transfer.id] = log_.transfers.size();
    log_.transfers.push_back({now, {}, transfer.bytes.count(), !transfer.from.empty(), false, false});
    ++log_.in_flight;
    network_->start(now, transfer);
  }
  void cancel(TimePoint now, std::uint32_t id) override {
    come_to(now);
    if (SeenTransfer* transfer = take(now, id)) {
      transfer->is_cancelled = true;
      network_->cancel(now, id);
    }
  }
  std::optional<TimePoint> next_end() override { return network_->next_end(); }
  std::span<const std::uint32_t> ended(TimePoint now) override {
    come_to(now);
    const std::optional<TimePoint> next = network_->next_end();
    require(!next || now <= *next);
    const std::span<const std::uint32_t> ended = network_->ended(now);
    for (const std::uint32_t id : ended) {
      if (SeenTransfer* transfer = take(now, id)) {
        transfer->has_ended = true;
      }
    }
    return ended;
  }
  [[nodiscard]] std::vector<LinkUse> link_use(TimePoint end) const override {
    return network_->link_use(end);
  }

 private:
  void require(bool holds) { log_.keeps_contract = log_.keeps_contract && holds; }
  void come_to(TimePoint now) {
    require(now >= time_);
    time_ = now;
  }
  SeenTransfer* take(TimePoint now, std::uint32_t id) {
    const auto place = places_.find(id);
    require(place != places_.end());
    if (place == places_.end()) {
      return nullptr;
    }
    SeenTransfer& transfer = log_.transfers[place->second];
    transfer.end = now;
    places_.erase(place);
    --log_.in_flight;
    return &transfer;
  }

  std::unique_ptr<Network> network_;
  TransferLog& log_;
  TimePoint time_;
  std::map<std::uint32_t, std::size_t> places_;  // of those in flight in the log, by id
};

}  // namespace

std::unique_ptr<Network> make_shared_link_network(Duration per_byte) {
  return std::make_unique<SharedLink>(per_byte);
}

std::unique_ptr<Network> make_noted_network(std::unique_ptr<Network> network, TransferLog& log) {
  return std::make_unique<NotedNetwork>(std::move(network), log);
}

}  // namespace inferometer::testing
