#include "sim/report/trace/track_spool.hpp"

#include <ostream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"

namespace inferometer {
namespace {

// Large enough for few parts, small enough for hundreds of tracks.
constexpr std::size_t kBytesKept = 1 << 16;

}  // namespace

TrackSpool::TrackSpool(std::filesystem::path target, std::size_t tracks)
    : target_(std::move(target)), tracks_(tracks) {
}

void TrackSpool::append(std::size_t track, std::string_view text) {
  std::string& recent = tracks_[track].recent;
  recent += text;
  if (recent.size() >= kBytesKept) {
    move_to_file(tracks_[track]);
  }
}

void TrackSpool::move_to_file(Track& track) {
  if (!file_.is_open()) {
    std::filesystem::path beside = target_;
    beside += fmt::format(".{}.parts", getpid());
    file_.open(beside, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc);
    if (!file_) {
      fail("cannot write beside it");
    }
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
  }
  file_.write(track.recent.data(), static_cast<std::streamsize>(track.recent.size()));
  if (!file_) {
    fail("cannot write beside it");
  }
  const auto bytes = static_cast<std::int64_t>(track.recent.size());
  track.parts.push_back({file_bytes_, bytes});
  file_bytes_ += bytes;
  track.recent.clear();
}

void TrackSpool::write_to(std::ostream& out) {
  if (file_.is_open() && !file_.flush()) {
    fail("cannot write beside it");
  }
  std::string text;
  for (const Track& track : tracks_) {
    for (const Part& part : track.parts) {
      text.resize(static_cast<std::size_t>(part.bytes));
      file_.seekg(part.offset);
      if (!file_.read(text.data(), part.bytes)) {
        fail("cannot read what was written beside it");
      }
      out << text;
    }
    out << track.recent;
  }
}

void TrackSpool::fail(std::string_view what) const {
  throw ConfigError({target_.string(), 0, 0}, std::string(what));
}

}  // namespace inferometer
