#pragma once

// What a trace format is. Adding one: a file in workloads/formats/ with a function that returns a
// TraceFormat, and one line in workloads/trace_formats.cpp.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.hpp"
#include "base/text_input/line_error.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// Time as a trace states it, in picoseconds since a moment of the format's choice (often 1970); only
/// differences are used. 128 bits, since picoseconds since 1970 do not fit 64.
__extension__ typedef __int128 WidePicoseconds;

/// What one line of a trace says.
struct TraceRow {
  WidePicoseconds time = 0;  ///< unused when the format has no times
  /// The request comes `time` after the answer to its session's row before; never true of readers that
  /// may_follow() denies.
  bool follows = false;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::optional<std::int64_t> max_new_tokens;
  std::int64_t session = -1;
  std::int32_t service_class = 0;
  std::int32_t priority = 0;
  std::vector<ContentRun> content;  ///< as Request::content
  std::uint64_t output_content = 0;
};

/// Reads the lines of one trace, in file order.
class RowReader {
 public:
  virtual ~RowReader() = default;

  /// Fills every member of `row` and returns true, or sets `error` and returns false. Behind the end of
  /// `line`, LineSource::kPaddingBytes may be read. Allocates nothing per line once its buffers have grown.
  virtual bool read(std::string_view line, TraceRow& row, LineError& error) = 0;

  /// Where the time stands in the line that read() returned true for, from 1; 0 without times. Until the
  /// next line is read.
  [[nodiscard]] virtual int time_column() const = 0;

  /// Whether rows may wait for answers. Such a trace is held in memory, since what waits may stand anywhere.
  [[nodiscard]] virtual bool may_follow() const { return false; }

  /// Prompt tokens that a hash id stands for, >= 1, in place of the format's own number. False when the
  /// format leaves no choice.
  virtual bool set_hash_block_tokens(std::int64_t tokens) {
    (void)tokens;
    return false;
  }

  /// What is wrong with a header under which no line can be read; nullptr when all is well.
  [[nodiscard]] virtual const LineError* header_error() const { return nullptr; }
};

/// The first two lines that are not blank; `second` is empty when there is only one.
struct TraceSample {
  std::string first;
  std::string second;
};

struct TraceFormat {
  std::string name;
  std::string looks_like;              ///< what a file of it begins with, for messages and `describe`
  bool has_header = true;              ///< the first line names columns and is not a request
  bool has_times = true;               ///< false: lengths only, arrivals are drawn
  std::int64_t hash_block_tokens = 0;  ///< prompt tokens that a hash id stands for; 0: it has none
  /// A reader when the sample is of this format, else nullptr. The first that suits is taken.
  std::function<std::unique_ptr<RowReader>(const TraceSample& sample)> open;
  /// For a first line that no format opens: what is wrong with it when it is nearly a header of this one.
  /// May be empty.
  std::function<std::optional<LineError>(const std::string& first_line)> near_miss;
};

/// All formats, in the order in which they are tried.
const Registry<TraceFormat>& trace_formats();

}  // namespace inferometer
