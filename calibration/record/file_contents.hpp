#pragma once

// What one file of measurements holds, put together row by row. Who uses it: the importers.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calibration/record/gpu_names.hpp"
#include "calibration/record/measurement.hpp"
#include "calibration/record/read_measurements.hpp"

namespace inferometer {

class FileContents {
 public:
  /// `path` as the user gave it. Both references outlive this object.
  FileContents(std::string path, const GpuNames& gpus, const MeasurementHints& hints);

  [[nodiscard]] const std::string& path() const { return path_; }

  /// The GPU by what the file calls it (may be empty), else by the path, else by the hints. Throws
  /// ConfigError when none of them says it.
  std::string gpu(std::string_view device);

  /// A GPU that the file names as we do. Throws ConfigError when it is none that is built in.
  void accept_gpu(const std::string& name, const Position& where);

  /// The set of that header, made when it is new. Until the next call.
  Measurements& set(const MeasurementHeader& header);

  /// A row that is no point of ours on purpose; rows of a reason are counted together.
  void leave_out(std::string_view reason);
  void note(std::string text);

  /// All sets, with the notes on the first; a set without points when there are notes alone.
  std::vector<Measurements> take();

 private:
  void note_unused_hint(const std::string& gpu);

  std::string path_;
  const GpuNames& gpus_;
  const MeasurementHints& hints_;
  std::vector<Measurements> sets_;
  std::vector<std::pair<std::string, std::int64_t>> left_out_;
  std::vector<std::string> notes_;
};

}  // namespace inferometer
