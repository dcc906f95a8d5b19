#pragma once

// Transfers in a trace: a slice for each, from replica to replica or from storage, and what links carried.
// Who uses it: the trace.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/network.hpp"
#include "sim/replica/observer.hpp"
#include "sim/report/trace/trace_sink.hpp"
#include "sim/report/trace/trace_window.hpp"

namespace inferometer {

/// How full links were, on average from one look to the next: the network is looked at when a transfer ends,
/// at most every kLinkPeriod. Only links that carried something have a counter.
inline constexpr Duration kLinkPeriod = milliseconds(100);  // as often as the activity of GPUs is logged

/// Transfers that are partly within the window are shown whole.
class TransferSlices {
 public:
  /// `replicas`: their names, by number.
  TransferSlices(std::vector<std::string> replicas, const TraceWindow& window, const TraceSink& sink)
      : replicas_(std::move(replicas)), window_(window), sink_(sink) {}

  /// Whose links to look at; outlives the calls to ended() and finish().
  void watch(const Network& network) { network_ = &network; }
  void ended(const TransferRecord& transfer);
  /// The run ends: links carry nothing any more.
  void finish(TimePoint end);

 private:
  struct Carried {
    std::int64_t bytes = 0;  // until the last look
    bool is_shown = false;   // as carrying something
    std::string name{};
  };

  void flush();
  void show(const TransferRecord& transfer);
  void name_process();
  void look_at_links(TimePoint now);
  void show_link(TimePoint time, const std::string& name, double share);

  std::vector<std::string> replicas_;
  TraceWindow window_;
  TraceSink sink_;
  const Network* network_ = nullptr;
  std::int64_t transfers_ = 0;
  bool is_named_ = false;
  // Those that ended at one moment, in whatever order steppers tell of them.
  std::vector<TransferRecord> ended_;
  TimePoint looked_;
  std::vector<Carried> links_;
};

}  // namespace inferometer
