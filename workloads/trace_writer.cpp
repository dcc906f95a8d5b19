#include "workloads/trace_writer.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.hpp"
#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kFlushBytes = 1u << 16;
constexpr int kPicosecondsPerSecondDigits = 12;
constexpr int kPicosecondsPerMillisecondDigits = 9;

/// PATH.partial until commit(). zlib's "T" mode writes the bytes as they are.
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)), partial_path_(path_ + ".partial") {
    errno = 0;
    file_ = gzopen(partial_path_.c_str(), path_.ends_with(".gz") ? "wb" : "wbT");
    if (file_ == nullptr) {
      fail();
    }
  }
  ~OutputFile() {
    if (file_ != nullptr) {
      gzclose_w(file_);
      std::remove(partial_path_.c_str());
    }
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const std::string& text) {
    if (!text.empty() && gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) <= 0) {
      fail();
    }
  }

  void commit() {
    const int code = gzclose_w(std::exchange(file_, nullptr));
    std::error_code renamed;
    if (code == Z_OK) {
      std::filesystem::rename(partial_path_, path_, renamed);
    }
    if (code != Z_OK || renamed) {
      std::remove(partial_path_.c_str());
      throw TraceError(Position{path_},
                       renamed ? "cannot write: " + renamed.message() : "cannot write the whole file");
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw TraceError(Position{path_}, std::string("cannot write: ") + std::strerror(errno));
  }

  std::string path_;
  std::string partial_path_;
  gzFile file_ = nullptr;
};

void append_csv(const Request& request, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{},{},{},",
                 decimal_text(request.arrival.since_start().count(), kPicosecondsPerSecondDigits),
                 request.prompt.count(), request.output.count());
  if (request.max_new != request.output) {
    fmt::format_to(std::back_inserter(text), "{}", request.max_new.count());
  }
  text += ',';
  if (request.session >= 0) {
    fmt::format_to(std::back_inserter(text), "{}", request.session);
  }
  text += ',';
  if (request.service_class != 0) {
    fmt::format_to(std::back_inserter(text), "{}", request.service_class);
  }
  text += '\n';
}

void append_mooncake(const Request& request, std::string& text) {
  fmt::format_to(std::back_inserter(text), R"({{"timestamp": {}, "input_length": {}, "output_length": {})",
                 decimal_text(request.arrival.since_start().count(), kPicosecondsPerMillisecondDigits),
                 request.prompt.count(), request.output.count());
  if (request.session >= 0) {
    fmt::format_to(std::back_inserter(text), R"(, "session_id": {})", request.session);
  }
  if (!request.block_hashes.empty()) {
    fmt::format_to(std::back_inserter(text), R"(, "hash_ids": [{}])", fmt::join(request.block_hashes, ", "));
  }
  text += "}\n";
}

class FileTraceWriter : public TraceWriter {
 public:
  FileTraceWriter(const std::string& path, TraceFileKind kind) : file_(path), kind_(kind) {
    if (kind_ == TraceFileKind::inferometer_csv) {
      pending_ = "arrival_s,prompt_tokens,output_tokens,max_new_tokens,session,class\n";
    }
  }

  void add(const Request& request) override {
    if (kind_ == TraceFileKind::mooncake) {
      append_mooncake(request, pending_);
    } else {
      append_csv(request, pending_);
    }
    if (pending_.size() >= kFlushBytes) {
      flush();
    }
  }

  void finish() override {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(pending_);
    pending_.clear();
  }

  OutputFile file_;
  TraceFileKind kind_;
  std::string pending_;
};

}  // namespace

std::unique_ptr<TraceWriter> open_trace_writer(const std::string& path, TraceFileKind kind) {
  return std::make_unique<FileTraceWriter>(path, kind);
}

}  // namespace inferometer
