#include "calibration/record/read_measurements.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/file_hash.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "calibration/record/header_fields.hpp"
#include "calibration/record/measurement_file.hpp"
#include "costmodel/kernels/kernel_profile.hpp"

namespace inferometer {
namespace {

namespace fs = std::filesystem;

/// A file to read, and whether the user named it or a folder that holds it.
struct InputFile {
  std::string path;
  bool is_named = false;
};

/// Each file once, also when it is named and lies in a folder that is.
std::vector<InputFile> files_of(const std::vector<std::string>& paths) {
  std::vector<InputFile> files;
  std::set<fs::path> taken;
  const auto take = [&](const std::string& path, bool is_named) {
    std::error_code ignored;
    if (taken.insert(fs::weakly_canonical(path, ignored)).second) {
      files.push_back({path, is_named});
    }
  };
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      take(path, true);
      continue;
    }
    std::vector<std::string> found;
    for (auto entry = fs::recursive_directory_iterator(path, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      std::error_code unreadable;
      const fs::file_status status = entry->status(unreadable);
      if (!fs::status_known(status)) {
        throw ConfigError(Position{entry->path().string(), 0, 0}, "cannot be read: " + unreadable.message());
      }
      if (fs::is_regular_file(status)) {
        found.push_back(entry->path().string());
      }
    }
    if (error) {
      throw ConfigError(Position{path, 0, 0}, "cannot read the folder: " + error.message());
    }
    std::sort(found.begin(), found.end());
    for (const std::string& file : found) {
      take(file, false);
    }
  }
  return files;
}

/// The sets of one file; none when it is of no form that is known, and the user did not name it.
std::vector<Measurements> read_file(const InputFile& file, const GpuNames& gpus,
                                    const MeasurementHints& hints) {
  if (is_kernel_profile(file.path)) {  // the folder of a run holds its profile beside its records
    if (file.is_named) {
      throw ConfigError(Position{file.path, 0, 0}, "is a profile of kernels; expected measurements");
    }
    return {};
  }
  LineSource lines(open_bytes(file.path), file.path);
  std::vector<Measurements> sets = read_measurement_file(lines, file.is_named, gpus, hints);
  for (Measurements& set : sets) {
    if (set.header.inputs.empty()) {
      set.header.inputs = {fs::path(file.path).filename().string() + " " + hash_file(file.path).hash};
    }
    set.inputs_by_file[file.path] = set.header.inputs;
  }
  return sets;
}

template <typename T>
void move_to_end(std::vector<T>& from, std::vector<T>& to) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }
}

void join(Measurements set, std::vector<Measurements>& sets) {
  const auto known = std::find_if(sets.begin(), sets.end(), [&](const Measurements& other) {
    return header_difference(other.header, set.header).empty();
  });
  if (known == sets.end()) {
    sets.push_back(std::move(set));
    return;
  }
  merge_headers(known->header, set.header);
  move_to_end(set.points, known->points);
  move_to_end(set.suspects, known->suspects);
  move_to_end(set.skipped, known->skipped);
  move_to_end(set.notes, known->notes);
  known->inputs_by_file.merge(set.inputs_by_file);
}

}  // namespace

std::vector<Measurements> read_measurements(const std::vector<std::string>& paths,
                                            const MeasurementHints& hints) {
  const GpuNames gpus;
  if (!hints.gpu.empty() && gpus.find(hints.gpu) == nullptr) {
    throw ConfigError(Position{},
                      fmt::format("unknown GPU {}{} (built in: {})", quoted_excerpt(hints.gpu),
                                  did_you_mean(hints.gpu, gpus.names()), join_alternatives(gpus.names())));
  }
  std::vector<Measurements> sets;
  std::vector<std::string> passed_over;
  for (const InputFile& file : files_of(paths)) {
    std::vector<Measurements> found = read_file(file, gpus, hints);
    if (found.empty()) {
      passed_over.push_back(file.path + ": passed over, no measurements of a form we know");
    }
    for (Measurements& set : found) {
      join(std::move(set), sets);
    }
  }
  if (sets.empty()) {
    throw ConfigError(Position{paths.empty() ? "" : paths.front(), 0, 0},
                      "expected measurements, found none of a form we know");
  }
  move_to_end(passed_over, sets.front().notes);
  return sets;
}

}  // namespace inferometer
