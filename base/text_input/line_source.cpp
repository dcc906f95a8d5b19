#include "base/text_input/line_source.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace inferometer {
namespace {

constexpr std::size_t kFirstBufferBytes = 256u << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank(std::string_view line) {
  for (const char c : line) {
    if (c != ' ' && c != '\t' && c != '\r') {
      return false;
    }
  }
  return true;
}

}  // namespace

LineSource::LineSource(std::unique_ptr<ByteSource> bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)), buffer_(kFirstBufferBytes + kPaddingBytes) {
  while (!at_end_ && end_ < kByteOrderMark.size()) {
    fill();
  }
  if (std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    begin_ = scanned_ = kByteOrderMark.size();
  }
}

bool LineSource::next(std::string_view& line) {
  for (;;) {
    const char* const base = buffer_.data();
    const void* found = std::memchr(base + scanned_, '\n', end_ - scanned_);
    if (found == nullptr && !at_end_) {
      scanned_ = end_;
      fill();
      continue;
    }
    if (found == nullptr && begin_ == end_) {
      return false;
    }
    const std::size_t stop =
        found == nullptr ? end_ : static_cast<std::size_t>(static_cast<const char*>(found) - base);
    line = std::string_view(base + begin_, stop - begin_);
    begin_ = scanned_ = found == nullptr ? end_ : stop + 1;
    line_number_ += line_number_ < std::numeric_limits<int>::max() ? 1 : 0;
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (!is_blank(line)) {
      return true;
    }
  }
}

void LineSource::fill() {
  if (end_ - begin_ > kLongestLineBytes) {
    throw TraceError(
        Position{name_, line_number_ + 1, 0},
        fmt::format("expected lines of at most {} MiB, found a longer one", kLongestLineBytes >> 20));
  }
  const std::size_t keep_from = is_marked_ ? mark_ : begin_;
  if (keep_from > 0) {
    std::memmove(buffer_.data(), buffer_.data() + keep_from, end_ - keep_from);
    begin_ -= keep_from;
    scanned_ -= keep_from;
    end_ -= keep_from;
    mark_ = 0;
  }
  if (end_ + kPaddingBytes == buffer_.size()) {
    buffer_.resize(2 * (buffer_.size() - kPaddingBytes) + kPaddingBytes);
  }
  const std::size_t got = bytes_->read(buffer_.data() + end_, buffer_.size() - kPaddingBytes - end_);
  at_end_ = got == 0;
  end_ += got;
}

void LineSource::mark() {
  is_marked_ = true;
  mark_ = begin_;
  mark_line_number_ = line_number_;
}

void LineSource::rewind_to_mark() {
  begin_ = scanned_ = mark_;
  line_number_ = mark_line_number_;
  is_marked_ = false;
}

}  // namespace inferometer
