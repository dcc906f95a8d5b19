#include "sim/study/executor/journal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kName = "inferometer-journal ";
constexpr std::string_view kFirstLine = "inferometer-journal 1\n";
constexpr std::size_t kSumDigits = 8;
constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr mode_t kReadByAll = 0644;

void append_escaped(std::string& line, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        line += "\\\\";
        break;
      case '\t':
        line += "\\t";
        break;
      case '\n':
        line += "\\n";
        break;
      default:
        line += c;
    }
  }
}

/// Of what append_escaped() wrote.
std::string unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      plain += text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i];
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::string sum_of(std::string_view text) {
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  return fmt::format("{:08x}", sum);
}

std::string line_of(const std::string& key, const std::string& value) {
  std::string record;
  append_escaped(record, key);
  record += '\t';
  append_escaped(record, value);
  return sum_of(record) + ' ' + record + '\n';
}

/// The key and the value of a line, which has no newline here; nothing when it is damaged.
std::optional<std::pair<std::string, std::string>> record_of(std::string_view line) {
  if (line.size() <= kSumDigits || line[kSumDigits] != ' ') {
    return std::nullopt;
  }
  const std::string_view record = line.substr(kSumDigits + 1);
  const std::size_t tab = record.find('\t');
  if (tab == record.npos || sum_of(record) != line.substr(0, kSumDigits)) {
    return std::nullopt;
  }
  return std::pair(unescaped(record.substr(0, tab)), unescaped(record.substr(tab + 1)));
}

}  // namespace

Journal::Journal(std::string path, bool is_fresh) : path_(std::move(path)) {
  open();
  try {
    lock();
    const std::string text = content();
    const std::string_view first = std::string_view(text).substr(0, text.find('\n') + 1);
    const bool was_cut_short = kFirstLine.starts_with(text);
    if (was_cut_short || (is_fresh && text.starts_with(kName))) {
      begin();
    } else if (first == kFirstLine) {
      read(text);
    } else if (text.starts_with(kName)) {
      fail(fmt::format("is a journal of another version ({}); name another file, or begin it afresh",
                       quoted_excerpt(text.substr(0, text.find('\n')))));
    } else {
      fail("is no journal of a study; name another file");
    }
  } catch (...) {
    close(file_);
    throw;
  }
}

Journal::~Journal() {
  close(file_);
}

const std::string* Journal::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void Journal::append(const std::string& key, const std::string& value) {
  write_line(line_of(key, value));
  values_[key] = value;
}

void Journal::open() {
  // A pipe without a reader does not hold this up.
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, kReadByAll);
  if (file_ < 0) {
    fail("cannot write", errno);
  }
}

void Journal::lock() {
  struct stat facts = {};
  if (fstat(file_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    fail("is not a regular file (a pipe or a device)");
  }
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      fail("another study is writing to it; let it end, or name another file");
    }
    fail("cannot be locked", errno);
  }
}

std::string Journal::content() const {
  std::string text;
  std::array<char, kReadBytes> part;
  for (;;) {
    const ssize_t got = ::read(file_, part.data(), part.size());
    if (got < 0 && errno != EINTR) {
      fail("cannot be read", errno);
    }
    if (got == 0) {
      return text;
    }
    text.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
}

void Journal::begin() {
  cut();
  write_line(kFirstLine);
}

void Journal::read(std::string_view lines) {
  std::size_t begin = kFirstLine.size();
  for (std::size_t end = 0; (end = lines.find('\n', begin)) != lines.npos; begin = end + 1) {
    if (auto record = record_of(lines.substr(begin, end - begin))) {
      values_[std::move(record->first)] = std::move(record->second);
    } else {
      ++skipped_;
    }
  }
  bytes_ = static_cast<std::int64_t>(begin);
  if (begin < lines.size()) {
    cut();
  }
}

void Journal::cut() {
  if (ftruncate(file_, bytes_) != 0) {
    fail("cannot be cut off", errno);
  }
}

void Journal::write_line(std::string_view line) {
  ssize_t written = 0;
  do {
    written = write(file_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) {
    bytes_ += written;
    return;
  }
  int error = errno;
  if (written >= 0) {
    // The system writes less than asked where the file meets a limit, and says which when asked for more.
    const ssize_t more = write(file_, line.data() + written, line.size() - static_cast<std::size_t>(written));
    error = more < 0 ? errno : EIO;
  }
  cut();
  fail("cannot write all of it", error);
}

void Journal::fail(const std::string& what) const {
  throw ConfigError(Position{path_, 0, 0}, what);
}

void Journal::fail(const std::string& what, int error) const {
  fail(what + ": " + std::generic_category().message(error));
}

}  // namespace inferometer
