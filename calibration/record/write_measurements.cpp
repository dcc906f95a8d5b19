#include "calibration/record/write_measurements.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text_input/line_source.hpp"
#include "calibration/record/header_fields.hpp"
#include "calibration/record/nanoseconds.hpp"
#include "calibration/record/record_header.hpp"

namespace inferometer {
namespace {

/// The text as a JSON string; bytes that are no UTF-8 become replacement characters.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string header_line(const MeasurementHeader& header) {
  std::string line = fmt::format("{{\"schema\":\"{}\"", kRecordSchema);
  for (const HeaderText& field : header_texts()) {
    if (const std::string& value = header.*field.member; !value.empty()) {
      line += fmt::format(",\"{}\":{}", field.name, quoted(value));
    }
  }
  for (const HeaderNumber& field : header_numbers()) {
    if (const double value = header.*field.member; value != 0) {
      line += fmt::format(",\"{}\":{}", field.name, value);
    }
  }
  if (!header.inputs.empty()) {
    line += ",\"inputs\":[";
    for (std::size_t i = 0; i < header.inputs.size(); ++i) {
      line += (i == 0 ? "" : ",") + quoted(header.inputs[i]);
    }
    line += "]";
  }
  return line + "}\n";
}

using Output = std::back_insert_iterator<std::string>;

void append_call(Output out, const KernelCall& call) {
  fmt::format_to(out, "{{\"family\":\"{}\",\"variant\":\"{}\"", to_string(call.family), call.variant);
  const auto axes = info(call.family).axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    fmt::format_to(out, ",\"{}\":{}", axes[i], call.axes[i]);
  }
}

void append_time(Output out, const char* name, double seconds) {
  if (seconds > 0) {
    fmt::format_to(out, ",\"{}\":{}", name, nanoseconds_text(seconds));
  }
}

std::string point_lines(const Measurements& set) {
  std::string text;
  const Output out(text);
  for (const MeasuredKernel& point : set.points) {
    append_call(out, point.call);
    append_time(out, "time_ns_median", point.seconds);
    append_time(out, "time_ns_q1", point.statistics.q1_seconds);
    append_time(out, "time_ns_q3", point.statistics.q3_seconds);
    append_time(out, "time_ns_min", point.statistics.min_seconds);
    if (point.statistics.samples > 0) {
      fmt::format_to(out, ",\"samples\":{}", point.statistics.samples);
    }
    if (point.statistics.sm_mhz_mean > 0) {
      fmt::format_to(out, ",\"sm_mhz_mean\":{}", point.statistics.sm_mhz_mean);
    }
    if (point.statistics.verified) {
      fmt::format_to(out, ",\"verification\":\"passed\"");
    }
    if (!point.kernel.empty()) {
      fmt::format_to(out, ",\"kernel\":{}", quoted(point.kernel));
    }
    text += "}\n";
  }
  for (const SkippedPoint& point : set.skipped) {
    append_call(out, point.call);
    fmt::format_to(out, ",\"skipped\":{}}}\n", quoted(point.reason));
  }
  return text;
}

/// The inputs of those files that points of `part` were read from.
std::vector<std::string> own_inputs(const Measurements& part, const Measurements& whole) {
  std::set<std::string> files;
  for (const MeasuredKernel& point : part.points) {
    files.insert(point.where.file);
  }
  for (const SkippedPoint& point : part.skipped) {
    files.insert(point.where.file);
  }
  std::set<std::string> inputs;
  for (const std::string& file : files) {
    const auto found = whole.inputs_by_file.find(file);
    if (found != whole.inputs_by_file.end()) {
      inputs.insert(found->second.begin(), found->second.end());
    }
  }
  return {inputs.begin(), inputs.end()};
}

/// Every line behind the header as it is.
std::string lines_behind_header(LineSource& lines) {
  std::string text;
  std::string_view line;
  while (lines.next(line)) {
    text.append(line).append("\n");
  }
  return text;
}

}  // namespace

std::string record_text(const Measurements& set) {
  return header_line(set.header) + point_lines(set);
}

std::string record_file_name(const MeasurementHeader& header, KernelFamily family) {
  return fmt::format("{}.{}.{}.jsonl", header.gpu, header.library, to_string(family));
}

std::vector<Measurements> split_by_family(Measurements set) {
  std::vector<Measurements> parts(kernel_families().size());
  for (MeasuredKernel& point : set.points) {
    parts[static_cast<std::size_t>(point.call.family)].points.push_back(std::move(point));
  }
  for (SkippedPoint& point : set.skipped) {
    parts[static_cast<std::size_t>(point.call.family)].skipped.push_back(std::move(point));
  }
  std::erase_if(parts, [](const Measurements& part) { return part.points.empty() && part.skipped.empty(); });
  for (Measurements& part : parts) {
    part.header = set.header;
    part.header.inputs = own_inputs(part, set);
  }
  return parts;
}

std::string appended_record_text(const std::string& path, const Measurements& set) {
  LineSource lines(open_bytes(path), path);
  MeasurementHeader header = read_record_header(lines);
  const std::string difference = header_difference(header, set.header);
  if (!difference.empty()) {
    throw ConfigError(lines.place(), "the file and what is added describe two sets: " + difference);
  }
  for (const std::string& input : set.header.inputs) {
    if (std::find(header.inputs.begin(), header.inputs.end(), input) != header.inputs.end()) {
      throw ConfigError(lines.place(), "imported into this file before: " + input);
    }
  }
  merge_headers(header, set.header);
  return header_line(header) + lines_behind_header(lines) + point_lines(set);
}

}  // namespace inferometer
