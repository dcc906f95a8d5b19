#pragma once

// The record files of a run while they are written: one a family in a directory, a line a point. A run that
// was interrupted, killed even, goes on where it was; every point has one line in the end. Who uses it:
// measure_sweep.hpp.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/measure/directory_lock.hpp"
#include "calibration/measure/durable_file.hpp"
#include "calibration/measure/point_outcome.hpp"
#include "calibration/record/gpu_names.hpp"
#include "calibration/record/measurement.hpp"

namespace inferometer {

class RecordJournal {
 public:
  /// Makes the directory or goes on in it. A last line that was left unfinished is taken off and kept in
  /// FILE.torn, with a note. Throws ConfigError: another run writes there; a file there was measured on, with
  /// or by something else (the first field of the header that differs is named), is damaged or
  /// compressed, is no regular file, or has a point twice or of another family; a GPU that is
  /// not built in; what the system says. O(bytes in the directory's files of this GPU and library).
  RecordJournal(const std::string& directory, const MeasurementHeader& header);

  /// What is known of a point; nothing when it has no line.
  [[nodiscard]] std::optional<PointOutcome> outcome(const KernelCall& call) const;
  /// Whether it needs no further measuring: it has a line that is not one of those to be tried again.
  [[nodiscard]] bool is_done(const KernelCall& call) const;

  // Both are written on return, and on the disk a second later (durable_file.hpp). The first line of a file
  // is its header. A line of the same point that was to be tried again is replaced. Precondition: not
  // is_done(). Throw ConfigError, after which the journal is opened anew or not used any more.

  void append(const MeasuredKernel& point);
  /// Precondition: skipped_point() made it.
  void append(const SkippedPoint& point);

  /// What opening it came upon, a sentence each.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  [[nodiscard]] std::string path(KernelFamily family) const;
  void open_family(KernelFamily family);
  void know(KernelFamily family, const KernelCall& call, PointOutcome outcome, const Position& where);
  void require_same_set(const std::string& path) const;
  void take_off(const std::string& path, std::string_view text, std::size_t finished);
  [[nodiscard]] Measurements read_record(const std::string& path) const;
  void append(const KernelCall& call, PointOutcome outcome, const Measurements& point);
  [[nodiscard]] std::string text_without(const KernelCall& call) const;

  std::string directory_;
  std::unique_ptr<DirectoryLock> lock_;
  GpuNames gpus_;
  MeasurementHeader header_;
  std::string header_line_;
  std::map<std::string, PointOutcome> known_;                    // by to_string(call)
  std::map<KernelFamily, std::unique_ptr<AppendedFile>> files_;  // those appended to
  std::vector<std::string> notes_;
};

}  // namespace inferometer
