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

/// A replica's GPUs, or storage.
struct TransferEnd {
  std::int32_t replica = -1;
  std::span<const GpuPlace> places{};
};

/// Transfers in flight, by what they are for; the observer is told of each at its end. Without a network they
/// end at once, and nobody is told.
class Transfers {
 public:
  Transfers(std::unique_ptr<Network> network, EngineControl& control)
      : network_(std::move(network)), control_(control) {}

  /// The number of the transfer; nothing when it has ended already.
  std::optional<std::uint32_t> start(const TransferPurpose& purpose, const TransferEnd& from,
                                     const TransferEnd& to, Bytes bytes) {
    if (!network_) {
      return std::nullopt;
    }
    std::uint32_t id = 0;
    if (vacant_.empty()) {
      id = static_cast<std::uint32_t>(under_way_.size());
      under_way_.emplace_back();
    } else {
      id = vacant_.back();
      vacant_.pop_back();
    }
    const bool is_handover = purpose.kind == TransferPurpose::Kind::handover;
    under_way_[id] = {purpose,
                      {.kind = is_handover ? TransferRecord::Kind::handover : TransferRecord::Kind::weights,
                       .request = is_handover ? purpose.key : -1,
                       .from = from.replica,
                       .to = to.replica,
                       .bytes = bytes,
                       .start = control_.now(),
                       .end = {}}};
    network_->start(control_.now(), {id, from.places, to.places, bytes});
    control_.transfers_changed();
    return id;
  }
  void cancel(std::uint32_t id) {
    network_->cancel(control_.now(), id);
    tell(id, true);
    control_.transfers_changed();
  }
  [[nodiscard]] std::optional<TimePoint> next_end() { return network_ ? network_->next_end() : std::nullopt; }
  /// Those that have ended, in order of their numbers, to be told one by one. Valid until the next call.
  std::span<const TransferPurpose> ended(TimePoint now) {
    ended_.clear();
    for (const std::uint32_t id : network_->ended(now)) {
      ended_.push_back(under_way_[id].purpose);
      tell(id, false);
    }
    return ended_;
  }
  [[nodiscard]] const Network* network() const { return network_.get(); }

 private:
  struct UnderWay {
    TransferPurpose purpose;
    TransferRecord record;
  };

  void tell(std::uint32_t id, bool is_cancelled) {
    TransferRecord& record = under_way_[id].record;
    record.end = control_.now();
    record.is_cancelled = is_cancelled;
    vacant_.push_back(id);
    control_.observer().on_transfer(record);
  }

  std::unique_ptr<Network> network_;
  EngineControl& control_;
  std::vector<UnderWay> under_way_;
  std::vector<std::uint32_t> vacant_;
  std::vector<TransferPurpose> ended_;
};

}  // namespace inferometer
