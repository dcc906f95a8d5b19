#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/cluster/engine_control.hpp"
#include "sim/network/network.hpp"

namespace inferometer {

/// What a transfer is for.
struct TransferPurpose {
  enum class Kind : std::uint8_t { handover, weights };
  Kind kind = Kind::handover;
  std::int64_t key = 0;    ///< request, or replica
  std::int64_t value = 0;  ///< attempt, or which start
};

/// Transfers in flight, by what they are for. Without a network they end at once.
class Transfers {
 public:
  Transfers(std::unique_ptr<Network> network, EngineControl& control)
      : network_(std::move(network)), control_(control) {}

  /// The number of the transfer; nothing when it has ended already.
  std::optional<std::uint32_t> start(const TransferPurpose& purpose, std::span<const GpuPlace> from,
                                     std::span<const GpuPlace> to, Bytes bytes) {
    if (!network_) {
      return std::nullopt;
    }
    std::uint32_t id = 0;
    if (vacant_.empty()) {
      id = static_cast<std::uint32_t>(purposes_.size());
      purposes_.push_back(purpose);
    } else {
      id = vacant_.back();
      vacant_.pop_back();
      purposes_[id] = purpose;
    }
    network_->start(control_.now(), {id, from, to, bytes});
    control_.transfers_changed();
    return id;
  }
  void cancel(std::uint32_t id) {
    network_->cancel(control_.now(), id);
    vacant_.push_back(id);
    control_.transfers_changed();
  }
  [[nodiscard]] std::optional<TimePoint> next_end() { return network_ ? network_->next_end() : std::nullopt; }
  /// Those that have ended, in order of their numbers, to be told one by one. Valid until the next call.
  std::span<const TransferPurpose> ended(TimePoint now) {
    ended_.clear();
    for (const std::uint32_t id : network_->ended(now)) {
      ended_.push_back(purposes_[id]);
      vacant_.push_back(id);
    }
    return ended_;
  }
  [[nodiscard]] const Network* network() const { return network_.get(); }

 private:
  std::unique_ptr<Network> network_;
  EngineControl& control_;
  std::vector<TransferPurpose> purposes_;
  std::vector<std::uint32_t> vacant_;
  std::vector<TransferPurpose> ended_;
};

}  // namespace inferometer
