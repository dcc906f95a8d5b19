#pragma once

// Requests in a trace: for each a slice from its arrival to its last token, and in it one for each phase. Who
// uses it: the trace. Keeps those that have come and not left.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/replica/observer.hpp"
#include "sim/report/trace/trace_sink.hpp"
#include "sim/report/trace/trace_window.hpp"

namespace inferometer {

/// Phases: queue, until the first step that runs it (of the last attempt, after failures); prefill, until its
/// prompt is computed; handover, until its KV is where it decodes; decode, until its last token, waiting for
/// a seat or after a preemption included. Those of no length are left out. Requests that are partly within
/// the window are shown whole.
class RequestSlices {
 public:
  /// `replicas`: their names, by number.
  RequestSlices(std::vector<std::string> replicas, const TraceWindow& window, const TraceSink& sink)
      : replicas_(std::move(replicas)), window_(window), sink_(sink) {}

  void arrived(const Request& request);
  void finished(const FinishedRequest& request);
  void rejected(const RejectedRequest& request);
  /// The run ends; those still under way end with it, marked unfinished.
  void finish(TimePoint end);

 private:
  struct UnderWay {
    TimePoint arrival;
    std::int64_t prompt = 0;
  };

  [[nodiscard]] std::string_view name(std::int32_t replica) const {
    return replicas_[static_cast<std::size_t>(replica)];
  }
  void write(std::int64_t id, TimePoint left, const std::string& events);
  void flush();

  std::vector<std::string> replicas_;
  TraceWindow window_;
  TraceSink sink_;
  std::map<std::int64_t, UnderWay> under_way_;  // by request
  // Those that left at one moment, in whatever order steppers tell of them.
  std::map<std::int64_t, std::string> leaving_;
  TimePoint left_;
};

}  // namespace inferometer
