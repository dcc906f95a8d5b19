#pragma once

// trace.json: what happened when, for ui.perfetto.dev or Chrome's about:tracing. Who uses it: `inferometer
// run --trace`. sim/report/README.md says what is in it.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/atomic_file.hpp"
#include "sim/network/network.hpp"
#include "sim/replica/observer.hpp"
#include "sim/report/trace/replica_track.hpp"
#include "sim/report/trace/request_slices.hpp"
#include "sim/report/trace/trace_replica.hpp"
#include "sim/report/trace/trace_window.hpp"
#include "sim/report/trace/track_spool.hpp"
#include "sim/report/trace/transfer_slices.hpp"

namespace inferometer {

/// Viewers hold all events in the browser's memory: beyond so many, loading and moving about get slow.
inline constexpr std::int64_t kManyTraceEvents = 300'000;

/// Memory is that of the requests in flight and some KiB a replica; what is longer lies in a file beside the
/// one to be made. The same bytes by either stepper. Throws ConfigError when a file cannot be written.
class TimelineWriter final : public SimulationObserver {
 public:
  TimelineWriter(const std::filesystem::path& file, std::vector<TraceReplica> replicas,
                 const TraceWindow& window);
  /// Its tracks refer to it.
  TimelineWriter(const TimelineWriter&) = delete;
  TimelineWriter& operator=(const TimelineWriter&) = delete;
  ~TimelineWriter() override = default;

  /// Whose links are shown; outlives finish().
  void watch(const Network& network) { transfers_.watch(network); }

  void on_arrival(const Request& request, std::int64_t waiting) override;
  void on_rejected(const RejectedRequest& request) override { requests_.rejected(request); }
  void on_steps(const StepRecord& steps) override;
  void on_finished(const FinishedRequest& request) override { requests_.finished(request); }
  void on_idle(const IdleRecord& idle) override;
  void on_transfer(const TransferRecord& transfer) override { transfers_.ended(transfer); }

  /// The run is over, or given up: what is under way is ended, and the file put in its place. Call once.
  void finish(TimePoint end);
  [[nodiscard]] std::int64_t events() const { return events_; }

 private:
  AtomicFile file_;
  TrackSpool spool_;
  std::int64_t events_ = 0;
  RequestSlices requests_;
  TransferSlices transfers_;
  std::vector<ReplicaTrack> replicas_;
};

}  // namespace inferometer
