#pragma once

// Options whose value is a file. An empty one comes of a shell's variable that is not set, and must not be
// taken for an option that was not given. Who uses it: commands, as a check of CLI11.

#include <string>

namespace inferometer {

/// What is wrong with the value; "" for nothing.
inline std::string file_fault(const std::string& file) {
  return file.empty() ? "expected a file, found \"\"" : "";
}

}  // namespace inferometer
