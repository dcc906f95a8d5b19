#include "base/text_input/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <zlib.h>

#include "base/error.hpp"

namespace inferometer {
namespace {

// Small against what is asked for at once: then zlib puts a plain file's bytes straight where they belong.
constexpr unsigned kInflateBufferBytes = 64u << 10;
constexpr std::size_t kReadAtMostBytes = 1u << 30;  // gzread takes an unsigned and returns an int

struct GzClose {
  void operator()(gzFile file) const { gzclose_r(file); }
};

// zlib passes bytes through unchanged when they do not start with gzip's magic number.
class FileBytes : public ByteSource {
 public:
  explicit FileBytes(const std::string& path) : path_(path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      throw TraceError(Position{path}, "expected a file, found a directory");
    }
    errno = 0;
    file_.reset(gzopen(path.c_str(), "rb"));
    if (file_ == nullptr) {
      throw TraceError(Position{path}, std::string("cannot open: ") + std::strerror(errno));
    }
    gzbuffer(file_.get(), kInflateBufferBytes);
  }

  std::size_t read(char* into, std::size_t size) override {
    const auto wanted = static_cast<unsigned>(std::min(size, kReadAtMostBytes));
    const int got = gzread(file_.get(), into, wanted);
    if (got < 0 || static_cast<unsigned>(got) < wanted) {
      throw_if_failed();
    }
    return static_cast<std::size_t>(std::max(got, 0));
  }

 private:
  void throw_if_failed() {
    int code = Z_OK;
    gzerror(file_.get(), &code);
    if (code == Z_ERRNO) {
      throw TraceError(Position{path_}, std::string("cannot read: ") + std::strerror(errno));
    }
    if (code == Z_BUF_ERROR) {
      throw TraceError(Position{path_}, "the gzip data are cut off");
    }
    if (code != Z_OK && code != Z_STREAM_END) {
      throw TraceError(Position{path_}, "the gzip data are damaged");
    }
  }

  std::string path_;
  std::unique_ptr<std::remove_pointer_t<gzFile>, GzClose> file_;
};

class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(std::string text) : text_(std::move(text)) {}

  std::size_t read(char* into, std::size_t size) override {
    const std::size_t count = std::min(size, text_.size() - position_);
    std::copy_n(text_.data() + position_, count, into);
    position_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t position_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  return std::make_unique<FileBytes>(path);
}

std::unique_ptr<ByteSource> bytes_in_memory(std::string text) {
  return std::make_unique<MemoryBytes>(std::move(text));
}

}  // namespace inferometer
