#pragma once

// A number over time as the viewer draws it: an event for each change. Who uses it: the track of a replica.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/units.hpp"
#include "sim/report/trace/trace_event.hpp"
#include "sim/report/trace/trace_sink.hpp"
#include "sim/report/trace/trace_window.hpp"

namespace inferometer {

/// Within the window it shows all changes, and at its beginning what holds there.
class TraceCounter {
 public:
  TraceCounter(std::string name, const TraceThread& thread, const TraceWindow& window)
      : name_(std::move(name)), thread_(thread), window_(window) {}

  /// It has the value from `time` on. Of values for one moment the last counts. Micro-batches of a pipeline
  /// may tell of an earlier time than was told before: then it is drawn as told.
  void set(TimePoint time, std::int64_t value, TraceSink& sink) {
    if (pending_ && pending_->time != time) {
      settle(*pending_, sink);
    }
    pending_ = Sample{time, value};
  }

  /// The run ends then: no more changes are to come.
  void finish(TimePoint end, TraceSink& sink) {
    if (pending_) {
      settle(*pending_, sink);
      pending_.reset();
    }
    if (before_ && end > window_.begin) {
      write({window_.begin, *before_}, sink);
    }
  }

 private:
  struct Sample {
    TimePoint time;
    std::int64_t value = 0;
  };

  void settle(const Sample& sample, TraceSink& sink) {
    if (sample.time < window_.begin) {
      before_ = sample.value;
      return;
    }
    if (before_ && sample.time > window_.begin) {
      write({window_.begin, *before_}, sink);
    }
    before_.reset();
    const bool is_change = !shown_ || sample.time < shown_->time || sample.value != shown_->value;
    if (is_change && !window_.is_past(sample.time)) {
      write(sample, sink);
    }
  }

  void write(const Sample& sample, TraceSink& sink) {
    sink.write(TraceEvent('C', thread_, name_).at(sample.time).argument("value", sample.value).text());
    if (!shown_ || sample.time >= shown_->time) {
      shown_ = sample;
    }
  }

  std::string name_;
  TraceThread thread_;
  TraceWindow window_;
  std::optional<Sample> pending_, shown_;
  std::optional<std::int64_t> before_;  // the latest before the window begins
};

}  // namespace inferometer
