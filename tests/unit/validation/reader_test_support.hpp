#pragma once

// Runs read from text that a test writes down.

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/validation/read_runs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer::test {

inline std::vector<MeasuredRun> runs_in(const std::string& text, const std::string& name = "some.thing") {
  const TemporaryDirectory folder;
  return read_measured_runs(folder.write(name, text));
}

/// What reading says, with the file called "FILE".
inline std::string refusal(const std::string& text, const std::string& name = "some.thing") {
  const TemporaryDirectory folder;
  const std::string path = folder.write(name, text);
  try {
    read_measured_runs(path);
  } catch (const InputError& error) {
    std::string what = error.what();
    for (std::size_t at = what.find(path); at != std::string::npos; at = what.find(path)) {
      what.replace(at, path.size(), "FILE");
    }
    return what;
  }
  return "";
}

/// The value of a setting; "(none)" without it.
inline std::string setting(const MeasuredRun& run, const std::string& path) {
  for (const std::string& one : run.settings) {
    if (one.compare(0, path.size() + 1, path + "=") == 0) {
      return one.substr(path.size() + 1);
    }
  }
  return "(none)";
}

/// A figure; -1 without it.
inline double figure(const MeasuredRun& run, const std::string& metric) {
  for (const MeasuredValue& value : run.values) {
    if (value.metric == metric) {
      return value.value;
    }
  }
  return -1;
}

}  // namespace inferometer::test
