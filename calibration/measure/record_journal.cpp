#include "calibration/measure/record_journal.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/check.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "base/text_input/line_source.hpp"
#include "calibration/record/header_fields.hpp"
#include "calibration/record/importers.hpp"
#include "calibration/record/record_header.hpp"
#include "calibration/record/write_measurements.hpp"

namespace inferometer {
namespace {

bool exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

constexpr std::string_view kByHand = "no run wrote it so: take the line out, or write to another folder";

/// The bytes of a file that lines can be taken off and put behind. A pipe would be waited for.
std::string journal_text(const std::string& path) {
  constexpr std::string_view kGzip = "\x1f\x8b";
  std::error_code unknown;
  if (std::filesystem::is_other(std::filesystem::status(path, unknown))) {
    throw ConfigError(Position{path, 0, 0}, "is not a regular file (a pipe or a device)");
  }
  std::string text = file_bytes(path);
  if (text.starts_with(kGzip)) {
    throw ConfigError(Position{path, 0, 0},
                      "is compressed, so that no run can go on in it; unpack it, or write to another folder");
  }
  return text;
}

/// Bytes of the lines that were written to their end. A line without a newline was not, and neither was a
/// last line that is no JSON: where the machine went down, blocks of zeros may stand in for what was not on
/// disk.
std::size_t finished_bytes(std::string_view text) {
  const std::size_t finished = text.rfind('\n') + 1;  // 0 when there is none
  if (finished == 0 || finished < text.size()) {
    return finished;
  }
  const std::size_t before = finished == 1 ? 0 : text.rfind('\n', finished - 2) + 1;
  return nlohmann::json::accept(text.substr(before)) ? finished : before;
}

/// The text without its line of that number, from 1.
std::string without_line(std::string_view text, int number) {
  std::size_t begin = 0;
  for (int line = 1; line < number; ++line) {
    begin = text.find('\n', begin) + 1;
  }
  const std::size_t end = text.find('\n', begin) + 1;
  return std::string(text.substr(0, begin)).append(text.substr(end));
}

}  // namespace

RecordJournal::RecordJournal(const std::string& directory, const MeasurementHeader& header)
    : directory_(directory), header_(header) {
  if (gpus_.find(header.gpu) == nullptr) {
    throw ConfigError(Position{directory, 0, 0},
                      fmt::format("cannot record measurements of {}; GPUs built in: {}",
                                  header.gpu.empty() ? "a GPU without a name" : quoted_excerpt(header.gpu),
                                  join_alternatives(gpus_.names())));
  }
  make_directory(directory);
  lock_ = std::make_unique<DirectoryLock>(directory);
  Measurements empty;
  empty.header = header;
  header_line_ = record_text(empty);
  for (const KernelFamilyInfo& family : kernel_families()) {
    open_family(family.family);
  }
}

std::optional<PointOutcome> RecordJournal::outcome(const KernelCall& call) const {
  const auto found = known_.find(to_string(call));
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

bool RecordJournal::is_done(const KernelCall& call) const {
  const std::optional<PointOutcome> known = outcome(call);
  return known && !is_tried_again(*known);
}

void RecordJournal::append(const MeasuredKernel& point) {
  Measurements set;
  set.points = {point};
  append(point.call, PointOutcome::measured, set);
}

void RecordJournal::append(const SkippedPoint& point) {
  const std::optional<PointOutcome> outcome = outcome_of(point.reason);
  INFEROMETER_CHECK(outcome, "a skipped point of the journal says its outcome");
  Measurements set;
  set.skipped = {point};
  append(point.call, *outcome, set);
}

std::string RecordJournal::path(KernelFamily family) const {
  return (std::filesystem::path(directory_) / record_file_name(header_, family)).string();
}

void RecordJournal::open_family(KernelFamily family) {
  const std::string file = path(family);
  discard_replacement(file);
  if (!exists(file)) {
    return;
  }
  const std::string text = journal_text(file);
  const std::size_t finished = finished_bytes(text);
  if (finished > 0) {
    require_same_set(file);
  }
  if (finished < text.size()) {
    take_off(file, text, finished);
  }
  if (finished == 0) {
    return;
  }
  const Measurements set = read_record(file);
  for (const MeasuredKernel& point : set.points) {
    know(family, point.call, PointOutcome::measured, point.where);
  }
  for (const SkippedPoint& point : set.skipped) {
    // A reason of another writer is one that measuring again would not change.
    know(family, point.call, outcome_of(point.reason).value_or(PointOutcome::unsupported), point.where);
  }
}

void RecordJournal::know(KernelFamily family, const KernelCall& call, PointOutcome outcome,
                         const Position& where) {
  if (call.family != family) {
    throw ConfigError(where, fmt::format("is a point of {} in the file of {}; {}", to_string(call.family),
                                         to_string(family), kByHand));
  }
  if (!known_.emplace(to_string(call), outcome).second) {
    throw ConfigError(where, fmt::format("{} has a line already; {}", to_string(call), kByHand));
  }
}

void RecordJournal::take_off(const std::string& path, std::string_view text, std::size_t finished) {
  // The heading keeps readers of measurements from taking the rest of a line for a record.
  AppendedFile(path + ".torn")
      .append(fmt::format("Taken off the end of {}, where a run was cut short:\n{}\n",
                          std::filesystem::path(path).filename().string(), text.substr(finished)));
  cut_file(path, finished);
  notes_.push_back(
      fmt::format("{}: the last line was not finished; it was moved to {}.torn, and its point, if it "
                  "had one, is measured again",
                  path, path));
}

void RecordJournal::require_same_set(const std::string& path) const {
  LineSource lines(open_bytes(path), path);
  const std::string difference = header_difference(read_record_header(lines), header_);
  if (!difference.empty()) {
    throw ConfigError(lines.place(),
                      fmt::format("measured otherwise than this run would: {} (the file's, and this run's); "
                                  "write to another folder",
                                  difference));
  }
}

Measurements RecordJournal::read_record(const std::string& path) const {
  LineSource lines(open_bytes(path), path);
  const MeasurementHints no_hints;
  FileContents contents(path, gpus_, no_hints);
  RowErrors errors;
  import_record(lines, contents, errors);
  errors.throw_if_any(path);
  std::vector<Measurements> sets = contents.take();
  return std::move(sets.front());
}

void RecordJournal::append(const KernelCall& call, PointOutcome outcome, const Measurements& point) {
  INFEROMETER_CHECK(!is_done(call), "a point has one line");
  const std::string bare = record_text(point);
  std::string text = bare.substr(bare.find('\n') + 1);  // without the header
  const std::string file = path(call.family);
  if (known_.contains(to_string(call))) {
    files_.erase(call.family);
    replace_file(file, text_without(call) + text);
  } else {
    std::unique_ptr<AppendedFile>& appended = files_[call.family];
    if (appended == nullptr) {
      appended = std::make_unique<AppendedFile>(file);
      if (file_bytes(file).empty()) {
        text = header_line_ + text;
      }
    }
    appended->append(text);
  }
  known_[to_string(call)] = outcome;
}

std::string RecordJournal::text_without(const KernelCall& call) const {
  const std::string file = path(call.family);
  const Measurements set = read_record(file);
  const auto old = std::find_if(set.skipped.begin(), set.skipped.end(),
                                [&](const SkippedPoint& point) { return point.call == call; });
  INFEROMETER_CHECK(old != set.skipped.end(), "what is tried again was skipped");
  return without_line(file_bytes(file), old->where.line);
}

}  // namespace inferometer
