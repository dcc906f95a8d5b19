#pragma once

// A run over time, for charts: blocks held, requests running, decoding and in the system, in at most some
// hundred bins of simulated time. When the run outgrows them, neighbours are put together and bins are twice
// as wide. Who uses it: `inferometer run --report`.
//
// Everything is summed in integers over the exact times of the steps, so that bins add up to what the
// recorder of metrics has, and are the same by either stepper.

#include <cstdint>
#include <string>
#include <vector>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "sim/metrics/recorder.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

/// Steps of one pool within a bin: of all its replicas and micro-batches together, in picoseconds and values
/// times picoseconds. A pipeline's micro-batches each see the blocks of their whole replica. What is highest
/// is so on one replica (one micro-batch of a pipeline).
struct PoolBin {
  Int128 in_steps = 0;
  Int128 held_blocks = 0, running = 0, decoding = 0;
  std::int64_t most_held = 0, most_running = 0, most_decoding = 0;

  friend bool operator==(const PoolBin&, const PoolBin&) = default;
};

/// Requests of all pools within a bin.
struct RequestsBin {
  static constexpr std::int64_t kNobodyCame = -1;

  Int128 in_system = 0;                     ///< requests times picoseconds, up to the run's end
  std::int64_t most_waiting = kNobodyCame;  ///< the most that one which came found waiting

  friend bool operator==(const RequestsBin&, const RequestsBin&) = default;
};

struct PoolTimeline {
  std::string name;
  std::int64_t replicas = 1, lanes = 1;  ///< as in RecordedPool
  std::vector<PoolBin> bins;

  friend bool operator==(const PoolTimeline&, const PoolTimeline&) = default;
};

/// Bins begin at the start of the simulation; the last one ends at its last event.
struct Timeline {
  Duration width;
  TimePoint end;                      ///< the last arrival, step end or departure
  std::vector<PoolTimeline> pools;    ///< in the recorder's order
  std::vector<RequestsBin> requests;  ///< as many bins as each pool has

  [[nodiscard]] TimePoint start_of(std::size_t bin) const {
    return TimePoint(width * static_cast<std::int64_t>(bin));
  }
  [[nodiscard]] Duration length_of(std::size_t bin) const;
  /// Those in the system less those in steps, times picoseconds: requests that wait for a step, or for their
  /// KV to get to another replica.
  [[nodiscard]] Int128 waiting(std::size_t bin) const;

  friend bool operator==(const Timeline&, const Timeline&) = default;
};

struct TimelineOptions {
  std::size_t most_bins = 600;       ///< as many as a chart has pixels for; even, >= 2
  Duration width = milliseconds(1);  ///< of the first bins, about a short step: > 0
};

/// Keeps 130 bytes a pool and bin, whatever the length of the run. O(1) a record on average: one that spans
/// several bins costs O(bins), of which there are some hundred for each doubling of the run's length.
class TimelineRecorder final : public SimulationObserver {
 public:
  /// Replicas are numbered through, pool by pool. Precondition: a pool at least.
  explicit TimelineRecorder(const std::vector<RecordedPool>& pools, const TimelineOptions& options = {});

  void on_arrival(const Request& request, std::int64_t waiting) override;
  void on_rejected(const RejectedRequest& request) override;
  void on_steps(const StepRecord& steps) override;
  void on_finished(const FinishedRequest& request) override;

  /// O(bins).
  [[nodiscard]] Timeline timeline() const;

 private:
  /// Who came and went in a bin: `change` in all, and what that makes until the bin's end.
  struct Traffic {
    Int128 until_end = 0;
    std::int64_t change = 0;
    std::int64_t most_waiting = RequestsBin::kNobodyCame;
  };
  struct Pool {
    std::string name;
    std::int64_t replicas, lanes;
    std::vector<PoolBin> bins;
  };

  /// The bin that holds a moment, which begins or ends what is added: made wide enough.
  std::size_t place_of(TimePoint time);
  void make_room(std::size_t bins);
  void widen();
  Traffic& count(TimePoint time, std::int64_t change);
  void spread(const StepRecord& steps, std::vector<PoolBin>& bins);
  [[nodiscard]] TimePoint end_of(std::size_t place) const {
    return TimePoint(width_ * static_cast<std::int64_t>(place + 1));
  }

  std::size_t most_bins_;
  Duration width_;
  std::vector<std::int32_t> pool_of_replica_;
  std::vector<Pool> pools_;
  std::vector<Traffic> traffic_;  // as many bins as each pool has
  TimePoint last_event_;
  std::size_t recent_ = 0;  // the bin last looked up, and its time: most records lie in the same one
  TimePoint recent_start_, recent_end_;
};

}  // namespace inferometer
