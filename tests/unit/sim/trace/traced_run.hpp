#pragma once

// Traces of small simulations, as lines.

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "sim/report/trace/timeline_writer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer::testing {

inline std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line.ends_with(',') ? line.substr(0, line.size() - 1) : line);
  }
  return lines;
}

/// What `show` has the trace see, until `end`.
inline std::vector<std::string> trace_lines(const std::vector<TraceReplica>& replicas,
                                            const std::function<void(TimelineWriter&)>& show, TimePoint end,
                                            const TraceWindow& window = {}) {
  const test::TemporaryDirectory folder;
  TimelineWriter trace(folder.file("trace.json"), replicas, window);
  show(trace);
  trace.finish(end);
  return lines_of(folder.file("trace.json"));
}

/// Those that begin so.
inline std::vector<std::string> beginning_with(const std::vector<std::string>& lines,
                                               const std::string& beginning) {
  std::vector<std::string> some;
  for (const std::string& line : lines) {
    if (line.starts_with(beginning)) {
      some.push_back(line);
    }
  }
  return some;
}

}  // namespace inferometer::testing
