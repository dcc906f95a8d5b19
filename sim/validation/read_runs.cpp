#include "sim/validation/read_runs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/config/file_text.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "base/text_input/byte_source.hpp"
#include "sim/validation/formats/run_formats.hpp"

namespace inferometer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestJsonBytes = std::size_t{256} << 20;

using Runs = std::vector<MeasuredRun>;

std::vector<CsvRunFormat> csv_formats() {
  return {aiconfigurator_format(), inference_perf_format(), trtllm_offline_format(),
          recorded_requests_format(), own_csv_format()};
}

std::vector<JsonRunFormat> json_formats() {
  return {bench_serve_format(), aiperf_format_of_runs(), guidellm_format()};
}

std::string all_formats() {
  std::vector<std::string> names;
  for (const CsvRunFormat& format : csv_formats()) {
    names.push_back(format.name + " (CSV)");
  }
  for (const JsonRunFormat& format : json_formats()) {
    names.push_back(format.name + " (JSON)");
  }
  return join_alternatives(names);
}

[[noreturn]] void refuse_unknown(const std::string& path, const std::string& what) {
  throw ConfigError({path, 0, 0}, fmt::format("{}; measured runs are {}", what, all_formats()));
}

// Nothing when the file is of no known format and `may_pass`; else that is an error.
using MaybeRuns = std::optional<Runs>;

// The columns that are missing from the nearest format, when it lacks fewer than it has.
std::string csv_near_miss(const CsvRows& rows) {
  std::string best;
  std::size_t fewest = 0;
  for (const CsvRunFormat& format : csv_formats()) {
    std::vector<std::string> missing;
    for (const std::string& column : format.columns) {
      if (!rows.has(column)) {
        missing.push_back(column);
      }
    }
    if (2 * missing.size() < format.columns.size() && (best.empty() || missing.size() < fewest)) {
      fewest = missing.size();
      std::string message =
          fmt::format("expected the column{} {} ({}), found none such", missing.size() == 1 ? "" : "s",
                      join_alternatives(missing, "and"), format.name);
      if (missing.size() == 1) {
        message += did_you_mean(missing[0], rows.columns());
      }
      best = message;
    }
  }
  return best;
}

MaybeRuns read_csv(const std::string& path, bool may_pass) {
  Diagnostics mistakes;
  CsvRows rows(path, mistakes);
  for (const CsvRunFormat& format : csv_formats()) {
    const bool is_it = std::all_of(format.columns.begin(), format.columns.end(),
                                   [&](const std::string& column) { return rows.has(column); });
    if (!is_it) {
      continue;
    }
    Runs runs = format.read(rows, path, mistakes);
    std::set<std::string> names;
    for (const MeasuredRun& run : runs) {
      if (mistakes.empty() && !names.insert(run.name).second) {
        const std::size_t line = run.source.rfind(':') + 1;
        throw ConfigError(
            {path, std::atoi(run.source.c_str() + line), 0},
            fmt::format("expected a name that no other run has, found {} again", quoted_excerpt(run.name)));
      }
    }
    mistakes.throw_if_any();
    if (runs.empty()) {
      throw ConfigError({path, 0, 0}, fmt::format("expected runs ({}), found a header alone", format.name));
    }
    return runs;
  }
  if (may_pass) {
    return std::nullopt;
  }
  if (const std::string near = csv_near_miss(rows); !near.empty()) {
    throw ConfigError({path, 1, 0}, near);
  }
  refuse_unknown(path, "no known columns");
}

MaybeRuns read_json_object(std::string_view text, const std::string& path, const std::string& name,
                           bool may_pass) {
  const JsonObject object(text, path);
  for (const JsonRunFormat& format : json_formats()) {
    const bool is_it = std::all_of(format.keys.begin(), format.keys.end(),
                                   [&](const std::string& key) { return object.find(key) != nullptr; });
    if (is_it) {
      return format.read(object, path, name);
    }
  }
  if (may_pass) {
    return std::nullopt;
  }
  refuse_unknown(path, "no known keys");
}

// Ends of lines at which one object ends and the next begins.
bool is_object_a_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || text.find_first_not_of(" \r\n\t", end) == std::string_view::npos) {
    return false;
  }
  const std::size_t last = text.find_last_not_of(" \r\t", end - 1);
  return last != std::string_view::npos && text[last] == '}' &&
         text[text.find_first_not_of(" \r\n\t", end)] == '{';
}

MaybeRuns read_json(const std::string& path, bool may_pass) {
  const std::string text = read_regular_file(path, kLargestJsonBytes);
  if (text.size() > kLargestJsonBytes) {
    throw ConfigError({path, 0, 0}, fmt::format("larger than {} bytes", kLargestJsonBytes));
  }
  if (!is_object_a_line(text)) {
    return read_json_object(text, path, stem_of(path), may_pass);
  }
  Runs all;
  std::string lines_before;  // so that places in a line are places in the file
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \r\t") != std::string_view::npos) {
      const std::string name = fmt::format("{} line {}", stem_of(path), lines_before.size() + 1);
      MaybeRuns runs = read_json_object(lines_before + std::string(line), path, name, may_pass);
      if (!runs) {
        return std::nullopt;
      }
      std::move(runs->begin(), runs->end(), std::back_inserter(all));
    }
    lines_before += '\n';
  }
  return all;
}

// Told by the first byte: an object of JSON, or else lines.
bool looks_like_json(const std::string& path) {
  const std::string text = read_regular_file(path, 1 << 12);
  const std::size_t first = text.find_first_not_of("\xEF\xBB\xBF \r\n\t");
  return first != std::string::npos && text[first] == '{';
}

MaybeRuns read_file(const std::string& path, bool may_pass) {
  return looks_like_json(path) ? read_json(path, may_pass) : read_csv(path, may_pass);
}

std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.front() != '.') {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A file that cannot be read at all, such as an image or broken JSON of something else, is none of ours.
bool is_of_a_format(const std::string& path) {
  try {
    if (looks_like_json(path)) {
      const std::string text = read_regular_file(path, kLargestJsonBytes);
      const std::size_t end = is_object_a_line(text) ? text.find('\n') : text.size();
      const JsonObject object(std::string_view(text).substr(0, end), path);
      const std::vector<JsonRunFormat> formats = json_formats();
      return std::any_of(formats.begin(), formats.end(), [&](const JsonRunFormat& format) {
        return std::all_of(format.keys.begin(), format.keys.end(),
                           [&](const std::string& key) { return object.find(key) != nullptr; });
      });
    }
    Diagnostics ignored;
    const CsvRows rows(path, ignored);
    const std::vector<CsvRunFormat> formats = csv_formats();
    return std::any_of(formats.begin(), formats.end(), [&](const CsvRunFormat& format) {
      return std::all_of(format.columns.begin(), format.columns.end(),
                         [&](const std::string& column) { return rows.has(column); });
    });
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

std::string stem_of(const std::string& path) {
  return fs::path(path).stem().string();
}

std::vector<MeasuredRun> read_measured_runs(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return *read_file(path, false);
  }
  Runs all;
  for (const std::string& file : files_below(path)) {
    if (is_of_a_format(file)) {
      Runs runs = *read_file(file, false);
      std::move(runs.begin(), runs.end(), std::back_inserter(all));
    }
  }
  if (all.empty()) {
    refuse_unknown(path, "expected files of measured runs in the folder, found none");
  }
  return all;
}

std::vector<MeasuredRun> read_measured_runs(const std::vector<std::string>& paths) {
  std::vector<MeasuredRun> runs;
  for (const std::string& path : paths) {
    std::vector<MeasuredRun> more = read_measured_runs(path);
    std::move(more.begin(), more.end(), std::back_inserter(runs));
  }
  if (runs.empty()) {
    throw ConfigError({paths.front(), 0, 0}, "no measured run is in there");
  }
  return runs;
}

}  // namespace inferometer
