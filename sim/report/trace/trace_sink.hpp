#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/report/trace/track_spool.hpp"

namespace inferometer {

/// One track's way into the trace. What it refers to outlives it.
class TraceSink {
 public:
  TraceSink(TrackSpool& spool, std::size_t track, std::int64_t& events)
      : spool_(&spool), track_(track), events_(&events) {}

  /// The text() of one event, or of several in a row.
  void write(std::string_view events) {
    spool_->append(track_, events);
    *events_ += std::count(events.begin(), events.end(), '\n');
  }

 private:
  TrackSpool* spool_;
  std::size_t track_;
  std::int64_t* events_;  // of all tracks
};

}  // namespace inferometer
