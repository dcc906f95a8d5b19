#include "calibration/record/file_contents.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/text.hpp"

namespace inferometer {

FileContents::FileContents(std::string path, const GpuNames& gpus, const MeasurementHints& hints)
    : path_(std::move(path)), gpus_(gpus), hints_(hints) {
}

std::string FileContents::gpu(std::string_view device) {
  std::optional<std::string> found = gpus_.of_device(device);
  if (!found) {
    found = gpus_.of_path(path_);
  }
  if (found) {
    note_unused_hint(*found);
    return *found;
  }
  if (!hints_.gpu.empty()) {
    return hints_.gpu;
  }
  throw ConfigError(
      Position{path_, 0, 0},
      fmt::format("{}, and its path names no GPU; name it with --gpu (built in: {})",
                  device.empty() ? "the file does not say which GPU was measured"
                                 : fmt::format("the device {} is none of ours", quoted_excerpt(device)),
                  join_alternatives(gpus_.names())));
}

void FileContents::accept_gpu(const std::string& name, const Position& where) {
  if (gpus_.find(name) == nullptr) {
    throw ConfigError(where,
                      fmt::format("unknown GPU {}{} (built in: {})", quoted_excerpt(name),
                                  did_you_mean(name, gpus_.names()), join_alternatives(gpus_.names())));
  }
  note_unused_hint(name);
}

void FileContents::note_unused_hint(const std::string& gpu) {
  if (!hints_.gpu.empty() && hints_.gpu != gpu) {
    note(fmt::format("taken for {}, as the file or its path says, not {}", gpu, hints_.gpu));
  }
}

Measurements& FileContents::set(const MeasurementHeader& header) {
  const auto found = std::find_if(sets_.begin(), sets_.end(),
                                  [&](const Measurements& known) { return known.header == header; });
  if (found != sets_.end()) {
    return *found;
  }
  sets_.emplace_back().header = header;
  return sets_.back();
}

void FileContents::leave_out(std::string_view reason) {
  const auto found = std::find_if(left_out_.begin(), left_out_.end(),
                                  [&](const auto& known) { return known.first == reason; });
  if (found != left_out_.end()) {
    ++found->second;
  } else {
    left_out_.emplace_back(reason, 1);
  }
}

void FileContents::note(std::string text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) {
    notes_.push_back(std::move(text));
  }
}

std::vector<Measurements> FileContents::take() {
  if (sets_.empty()) {
    sets_.emplace_back();
  }
  for (const auto& [reason, count] : left_out_) {
    sets_.front().notes.push_back(
        fmt::format("{}: {} row{} left out: {}", path_, count, count == 1 ? "" : "s", reason));
  }
  for (const std::string& text : notes_) {
    sets_.front().notes.push_back(fmt::format("{}: {}", path_, text));
  }
  return std::move(sets_);
}

}  // namespace inferometer
