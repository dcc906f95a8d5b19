#include "workloads/trace_writer.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.hpp"
#include "workloads/content_fields.hpp"
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
  text += ',';
  if (request.priority != 0) {
    fmt::format_to(std::back_inserter(text), "{}", request.priority);
  }
  text += '\n';
}

// The members that Mooncake's format has.
void append_mooncake(const Request& request, std::optional<Duration> delay, std::string& text) {
  fmt::format_to(
      std::back_inserter(text), R"({{"{}": {}, "input_length": {}, "output_length": {})",
      delay ? "delay" : "timestamp",
      decimal_text(delay.value_or(request.arrival.since_start()).count(), kPicosecondsPerMillisecondDigits),
      request.prompt.count(), request.output.count());
  if (request.session >= 0) {
    fmt::format_to(std::back_inserter(text), R"(, "session_id": {})", request.session);
  }
}

bool append_blocks(const Request& request, std::string& text) {
  std::string ids;
  const bool are_blocks = append_hash_ids(request.content, kMooncakeBlockTokens, ids);
  if (are_blocks) {
    text += R"(, "hash_ids": )" + ids;
  }
  return are_blocks;
}

// What our own JSON lines have besides.
void append_members(const Request& request, std::string& text) {
  if (request.max_new != request.output) {
    fmt::format_to(std::back_inserter(text), R"(, "max_new_tokens": {})", request.max_new.count());
  }
  if (request.service_class != 0) {
    fmt::format_to(std::back_inserter(text), R"(, "class": {})", request.service_class);
  }
  if (request.priority != 0) {
    fmt::format_to(std::back_inserter(text), R"(, "priority": {})", request.priority);
  }
  if (!append_blocks(request, text) && !request.content.empty()) {
    text += R"(, "content": )";
    append_content_runs(request.content, text);
  }
  if (request.output_content != 0) {
    fmt::format_to(std::back_inserter(text), R"(, "output_content": {})", request.output_content);
  }
}

class FileTraceWriter : public TraceWriter {
 public:
  FileTraceWriter(const std::string& path, TraceFileKind kind) : path_(path), file_(path), kind_(kind) {
    if (kind_ == TraceFileKind::inferometer_csv) {
      pending_ = "arrival_s,prompt_tokens,output_tokens,max_new_tokens,session,class,priority\n";
    }
  }

  void add(const Request& request, std::optional<Duration> delay) override {
    if (is_first_) {
      is_first_ = false;
      has_sessions_ = request.session >= 0;
    }
    check_delay(delay);
    if (kind_ == TraceFileKind::inferometer_csv) {
      append_csv(request, pending_);
    } else {
      append_mooncake(request, delay, pending_);
      if (kind_ == TraceFileKind::json_lines) {
        append_members(request, pending_);
      } else {
        append_blocks(request, pending_);
      }
      pending_ += "}\n";
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

  void check_delay(std::optional<Duration> delay) const {
    if (delay && kind_ == TraceFileKind::inferometer_csv) {
      throw TraceError(
          Position{path_},
          "requests wait for the answer before theirs, which our CSV has no column for: write JSON "
          "lines");
    }
    if (delay && !has_sessions_) {
      throw TraceError(
          Position{path_},
          "requests wait for the answer before theirs, but the first of all has no session, by which "
          "readers tell such a trace");
    }
  }

  std::string path_;
  OutputFile file_;
  TraceFileKind kind_;
  bool is_first_ = true;
  bool has_sessions_ = false;
  std::string pending_;
};

}  // namespace

std::unique_ptr<TraceWriter> open_trace_writer(const std::string& path, TraceFileKind kind) {
  return std::make_unique<FileTraceWriter>(path, kind);
}

}  // namespace inferometer
