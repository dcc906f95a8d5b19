#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "calibration/record/header_fields.hpp"
#include "calibration/record/importers.hpp"
#include "calibration/record/json_members.hpp"
#include "calibration/record/measurement_csv.hpp"
#include "calibration/record/nanoseconds.hpp"
#include "calibration/record/record_header.hpp"
#include "calibration/record/write_measurements.hpp"

namespace inferometer {
namespace {

constexpr double kMostSkew = 10;

/// Names become names of files.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

void read_header(JsonMembers& members, MeasurementHeader& header) {
  std::vector<std::string> known = {"schema", "inputs"};
  if (const std::optional<std::string> schema = members.text("schema"); schema != kRecordSchema) {
    members.refuse("schema", fmt::format("expected \"schema\" to be \"{}\"{}", kRecordSchema,
                                         schema ? ", found " + quoted_excerpt(*schema) : ""));
    return;
  }
  for (const HeaderText& field : header_texts()) {
    header.*field.member = members.text(field.name).value_or("");
    known.emplace_back(field.name);
  }
  for (const HeaderNumber& field : header_numbers()) {
    header.*field.member = members.number(field.name).value_or(0);
    known.emplace_back(field.name);
  }
  header.inputs = members.texts("inputs").value_or(std::vector<std::string>{});
  for (const auto& [name, value] : {std::pair{"gpu", header.gpu}, std::pair{"library", header.library}}) {
    members.refuse_missing(name);
    if (members.is_good() && !is_plain_name(value)) {
      members.refuse(name, fmt::format("expected \"{}\" to be of letters, digits, '-', '_' and '.', found {}",
                                       name, quoted_excerpt(value)));
    }
  }
  members.refuse_the_rest(known);
}

double read_axis(JsonMembers& members, std::string_view name) {
  const bool may_be_zero = name == "past" || name == "window" || name == "skew";
  const bool is_skew = name == "skew";
  const double least = may_be_zero ? 0 : 1;
  const double most = is_skew ? kMostSkew : kLargestAxis;
  members.refuse_missing(name);
  const std::optional<double> value = members.number(name);
  if (!value) {
    return least;
  }
  if (*value < least || *value > most || (!is_skew && *value != std::floor(*value))) {
    members.refuse(name, fmt::format("expected \"{}\" to be a {} from {} to {}, found {}", name,
                                     is_skew ? "number" : "whole number", least, most, *value));
    return least;
  }
  return *value;
}

/// Axes that are each in their range, but not together.
void refuse_impossible(JsonMembers& members, const KernelCall& call) {
  const auto axis = [&call](std::string_view name) { return call.axes[axis_index(call.family, name)]; };
  const bool is_attention =
      call.family == KernelFamily::prefill_attention || call.family == KernelFamily::decode_attention;
  if (call.family == KernelFamily::moe && axis("top_k") > axis("experts")) {
    members.refuse("top_k", "expected \"top_k\" to be at most \"experts\"");
  }
  if (is_attention && axis("kv_heads") > axis("heads")) {
    members.refuse("kv_heads", "expected \"kv_heads\" to be at most \"heads\"");
  }
  if (call.family == KernelFamily::collective && axis("gpus") < 2) {
    members.refuse("gpus", "expected \"gpus\" to be 2 or more in a collective");
  }
}

/// False when the family is unknown, so that nothing else can be said about the line.
bool read_call(JsonMembers& members, KernelCall& call, std::vector<std::string>& known) {
  std::vector<std::string> families;
  for (const KernelFamilyInfo& family : kernel_families()) {
    families.emplace_back(family.name);
  }
  members.refuse_missing("family");
  const std::optional<std::string> name = members.text("family");
  const std::optional<KernelFamily> family = name ? kernel_family_from(*name) : std::nullopt;
  if (!family) {
    if (name) {
      members.refuse("family",
                     fmt::format("unknown family {}{} (known: {})", quoted_excerpt(*name),
                                 did_you_mean(*name, families), join_alternatives(families, "and")));
    }
    return false;
  }
  call.family = *family;
  const std::vector<std::string> variants(info(*family).variants.begin(), info(*family).variants.end());
  members.refuse_missing("variant");
  if (const std::optional<std::string> variant = members.text("variant")) {
    call.variant = *variant;
    if (std::find(variants.begin(), variants.end(), *variant) == variants.end()) {
      members.refuse("variant",
                     fmt::format("unknown variant {} of {}{} (known: {})", quoted_excerpt(*variant), *name,
                                 did_you_mean(*variant, variants), join_alternatives(variants, "and")));
    }
  }
  const auto axes = info(*family).axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    call.axes[i] = read_axis(members, axes[i]);
    known.emplace_back(axes[i]);
  }
  refuse_impossible(members, call);
  return true;
}

double read_time(JsonMembers& members, std::string_view name) {
  const std::optional<std::string_view> text = members.number_text(name);
  if (!text) {
    return 0;
  }
  const std::optional<double> seconds = seconds_from_nanoseconds(*text);
  if (!seconds) {
    members.refuse(name, fmt::format("expected \"{}\" to be a number from 0.001 to 1e15, found {}", name,
                                     quoted_excerpt(*text)));
  }
  return seconds.value_or(0);
}

SampleStatistics read_statistics(JsonMembers& members) {
  SampleStatistics statistics;
  statistics.q1_seconds = read_time(members, "time_ns_q1");
  statistics.q3_seconds = read_time(members, "time_ns_q3");
  statistics.min_seconds = read_time(members, "time_ns_min");
  statistics.sm_mhz_mean = members.number("sm_mhz_mean").value_or(0);
  const double samples = members.number("samples").value_or(0);
  if (samples < 0 || samples > kLargestAxis || samples != std::floor(samples)) {
    members.refuse("samples", fmt::format("expected \"samples\" to be a whole number, found {}", samples));
  } else {
    statistics.samples = static_cast<std::int64_t>(samples);
  }
  return statistics;
}

void read_point(JsonMembers& members, const Position& where, Measurements& set) {
  std::vector<std::string> known = {"family",     "variant",      "time_ns_median", "time_ns_q1",
                                    "time_ns_q3", "time_ns_min",  "samples",        "sm_mhz_mean",
                                    "kernel",     "verification", "skipped"};
  MeasuredKernel point;
  point.where = where;
  if (!read_call(members, point.call, known)) {
    return;
  }
  const std::optional<std::string> skipped = members.text("skipped");
  const std::string verification = members.text("verification").value_or("none");
  if (verification != "passed" && verification != "failed" && verification != "none") {
    members.refuse("verification",
                   fmt::format("expected \"verification\" to be passed, failed or none, found {}",
                               quoted_excerpt(verification)));
  }
  point.kernel = members.text("kernel").value_or("");
  if (!skipped) {
    members.refuse_missing("time_ns_median");
  }
  point.seconds = read_time(members, "time_ns_median");
  point.statistics = read_statistics(members);
  point.statistics.verified = verification == "passed";
  members.refuse_the_rest(known);
  if (!members.is_good()) {
    return;
  }
  if (skipped) {
    set.skipped.push_back({std::move(point.call), *skipped, where});
  } else if (verification == "failed") {
    set.suspects.push_back({where, to_string(point.call) + ": its result was wrong"});
  } else {
    set.points.push_back(std::move(point));
  }
}

void read_first_line(LineSource& lines, RowErrors& errors, JsonMembers& members, MeasurementHeader& header) {
  std::string_view line;
  if (!lines.next(line)) {
    errors.add(Position{lines.name(), 0, 0}, "expected a header, found the end of the file");
  } else if (members.read(line)) {
    read_header(members, header);
  }
}

}  // namespace

MeasurementHeader read_record_header(LineSource& lines) {
  RowErrors errors;
  JsonMembers members(lines, errors);
  MeasurementHeader header;
  read_first_line(lines, errors, members, header);
  errors.throw_if_any(lines.name());
  return header;
}

void import_record(LineSource& lines, FileContents& contents, RowErrors& errors) {
  JsonMembers members(lines, errors);
  MeasurementHeader header;
  read_first_line(lines, errors, members, header);
  if (errors.count() > 0) {
    return;
  }
  contents.accept_gpu(header.gpu, lines.place());
  Measurements& set = contents.set(header);
  std::string_view line;
  while (lines.next(line)) {
    if (members.read(line)) {
      read_point(members, lines.place(), set);
    }
  }
}

}  // namespace inferometer
