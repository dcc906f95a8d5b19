#pragma once

// Measurements as files: JSON lines, a header and then one point a line. Who uses it: `inferometer calibrate
// import`, and the measuring of a GPU. calibration/README.md describes the form.

#include <string>
#include <string_view>
#include <vector>

#include "calibration/record/measurement.hpp"

namespace inferometer {

inline constexpr std::string_view kRecordSchema = "inferometer-measurements/1";

/// The set as a file's text. Suspects and notes are about the file that was read, and left out.
std::string record_text(const Measurements& set);

/// "h100-sxm.vllm.gemm.jsonl"
std::string record_file_name(const MeasurementHeader& header, KernelFamily family);

/// The set by family, in order of families; those without points and skipped points are left out. Each
/// part has the inputs that its points came from; suspects and notes go with none.
std::vector<Measurements> split_by_family(Measurements set);

/// What the record file at `path` becomes when the points of `set` are added behind its own. Throws
/// ConfigError when its header describes another set (naming the first field that differs), when an input was
/// imported into it before, and what reading throws.
std::string appended_record_text(const std::string& path, const Measurements& set);

}  // namespace inferometer
