#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "calibration/record/aiconfigurator_rows.hpp"
#include "calibration/record/importers.hpp"
#include "calibration/record/measurement_csv.hpp"

namespace inferometer {
namespace {

using Column = MeasurementCsv::Column;

constexpr std::pair<std::string_view, std::string_view> kFrameworks[] = {
    {"vllm", "vllm"}, {"trtllm", "tensorrt-llm"}, {"sglang", "sglang"}};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// "# framework=VLLM;version=0.24.0" -> the pairs. Leaves `lines` at the header.
MeasurementCsv::Constants read_constants(LineSource& lines, RowErrors& errors) {
  MeasurementCsv::Constants constants;
  std::string_view line;
  lines.mark();
  if (!lines.next(line) || !line.starts_with('#')) {
    lines.rewind_to_mark();
    return constants;
  }
  line.remove_prefix(1);
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(';'), line.size());
    const std::string_view part = trimmed(line.substr(0, end));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      errors.add(lines.place(),
                 fmt::format("expected name=value in the first line, found {}", quoted_excerpt(part)));
    } else {
      constants.emplace_back(lower(trimmed(part.substr(0, equals))),
                             std::string(trimmed(part.substr(equals + 1))));
    }
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return constants;
}

/// The set of the rows that go on with the same framework, version and device.
class SetOfRow {
 public:
  SetOfRow(MeasurementCsv& csv, FileContents& contents)
      : csv_(csv),
        contents_(contents),
        framework_(csv.require("framework")),
        version_(csv.require("version")),
        device_(csv.find("device")),
        kernel_(csv.find("kernel_source")) {}

  /// nullptr when the row names no framework that is known.
  Measurements* find() {
    const std::string_view framework = csv_.text(framework_);
    const std::string_view version = csv_.text(version_);
    const std::string_view device = device_ ? csv_.text(*device_) : std::string_view();
    const bool is_nccl = kernel_ && csv_.text(*kernel_) == "NCCL";
    if (set_ == nullptr || framework != last_framework_ || version != header_.library_version ||
        device != header_.device || is_nccl != last_is_nccl_) {
      last_framework_ = framework;
      last_is_nccl_ = is_nccl;
      set_ = make(framework, version, device);
    }
    return set_;
  }

 private:
  Measurements* make(std::string_view framework, std::string_view version, std::string_view device) {
    std::string library;
    for (const auto& [name, ours] : kFrameworks) {
      library = lower(framework) == name ? ours : library;
    }
    if (library.empty()) {
      csv_.refuse(framework_, fmt::format("unknown framework {} (known: VLLM, TRTLLM and SGLang)",
                                          quoted_excerpt(framework)));
      return nullptr;
    }
    header_ = MeasurementHeader{};
    header_.gpu = contents_.gpu(device);
    header_.device = device;
    header_.library = last_is_nccl_ ? "nccl" : library;
    header_.library_version = version;
    header_.source = "ai-dynamo/aiconfigurator";
    return &contents_.set(header_);
  }

  MeasurementCsv& csv_;
  FileContents& contents_;
  Column framework_, version_;
  std::optional<Column> device_, kernel_;
  MeasurementHeader header_;
  std::string last_framework_;
  bool last_is_nccl_ = false;
  Measurements* set_ = nullptr;
};

void note_unused_columns(const MeasurementCsv& csv, FileContents& contents) {
  const std::vector<std::string> unused = csv.unused_columns();
  if (!unused.empty()) {
    contents.note("columns not used: " + join_alternatives(unused, "and"));
  }
}

}  // namespace

void import_aiconfigurator(LineSource& lines, FileContents& contents, RowErrors& errors) {
  MeasurementCsv::Constants constants = read_constants(lines, errors);
  MeasurementCsv csv(lines, std::move(constants), errors);
  const Column operation = csv.require("op_name");
  const Column latency = csv.require("latency");
  const std::optional<Column> kernel = csv.find("kernel_source");
  SetOfRow set_of_row(csv, contents);
  if (errors.count() > 0) {
    return;
  }
  AiconfiguratorRowReader read_row;
  std::string read_operation;
  bool has_points = false;
  while (csv.next()) {
    Measurements* set = set_of_row.find();
    if (set == nullptr) {
      continue;
    }
    if (!read_row || csv.text(operation) != read_operation) {
      read_operation = csv.text(operation);
      const std::int64_t errors_before = errors.count();
      read_row = aiconfigurator_row_reader(read_operation, csv, contents);
      if (errors.count() > errors_before) {
        return;
      }
    }
    MeasuredKernel point;
    if (!read_row(point.call)) {
      continue;
    }
    point.seconds = csv.seconds_from_ms(latency);
    if (csv.row_is_good()) {
      point.kernel = kernel ? csv.text(*kernel) : std::string_view();
      point.where = csv.place();
      set->points.push_back(std::move(point));
      has_points = true;
    }
  }
  if (has_points) {
    note_unused_columns(csv, contents);
  }
}

}  // namespace inferometer
