#pragma once

#include <string>
#include <utility>
#include <vector>

#include "calibration/record/read_measurements.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer::test {

/// What is read from a file of that name and text.
inline std::vector<Measurements> sets_of(const std::string& text, const std::string& name = "t.csv",
                                         const std::string& gpu = "") {
  const TemporaryDirectory directory;
  return read_measurements({directory.write(name, text)}, {gpu});
}

/// The one set of a file.
inline Measurements set_of(const std::string& text, const std::string& name = "t.csv",
                           const std::string& gpu = "") {
  std::vector<Measurements> sets = sets_of(text, name, gpu);
  REQUIRE(sets.size() == 1);
  return std::move(sets.front());
}

/// What is said about a file, without the folder it lies in; "" when nothing is wrong.
inline std::string complaint_about(const std::string& text, const std::string& name = "t.csv",
                                   const std::string& gpu = "") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(name, text);
  try {
    read_measurements({path}, {gpu});
  } catch (const InputError& error) {
    std::string what = error.what();
    const std::string folder = directory.file("");
    for (std::size_t at = what.find(folder); at != std::string::npos; at = what.find(folder)) {
      what.erase(at, folder.size());
    }
    return what;
  }
  return "";
}

using Lines = std::vector<std::string>;

/// "gemm bf16 m=16 n=4096 k=4096" of each point.
inline Lines calls_of(const Measurements& set) {
  Lines calls;
  for (const MeasuredKernel& point : set.points) {
    calls.push_back(to_string(point.call));
  }
  return calls;
}

}  // namespace inferometer::test
