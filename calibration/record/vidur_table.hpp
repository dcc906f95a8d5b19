#pragma once

// What the importers of Vidur's tables share.

#include <string>
#include <string_view>
#include <utility>

#include "calibration/record/file_contents.hpp"
#include "calibration/record/measurement_csv.hpp"

namespace inferometer {

/// The set of a file of Vidur's: the GPU by the path, the library "vidur".
inline Measurements& vidur_set(FileContents& contents) {
  MeasurementHeader header;
  header.gpu = contents.gpu("");
  header.library = "vidur";
  header.source = "microsoft/vidur";
  return contents.set(header);
}

/// Adds a point at the current row. A time of 0 stands for less than half a microsecond, and is left out.
inline void add_rounded_point(KernelCall call, std::string_view kernel, MeasurementCsv& csv,
                              const MeasurementCsv::Column& time, FileContents& contents, Measurements& set) {
  const std::optional<double> seconds = csv.rounded_seconds_from_ms(time);
  if (!seconds) {
    contents.leave_out("a time of 0, which is less than half a microsecond");
  } else if (csv.row_is_good()) {
    MeasuredKernel point;
    point.call = std::move(call);
    point.seconds = *seconds;
    point.kernel = kernel;
    point.where = csv.place();
    set.points.push_back(std::move(point));
  }
}

/// The share of `whole` that one of `parts` has; an error at the column when it does not divide.
inline double share(MeasurementCsv& csv, const MeasurementCsv::Column& column, double parts) {
  const double whole = csv.count(column);
  const double part = whole / parts;
  if (part != static_cast<double>(static_cast<std::int64_t>(part))) {
    csv.refuse(column, column.name + " " + std::string(csv.text(column)) +
                           " does not divide by the tensor parallel workers");
    return 1;
  }
  return part;
}

}  // namespace inferometer
