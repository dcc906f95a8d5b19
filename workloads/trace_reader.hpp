#pragma once

// Request traces in the formats people have. The format is found from the content, `.gz` is read as it is.
//
// Trace time counts from the first request of the trace, whatever the file's own times count from. Reading is
// strict: a line that cannot be understood, a request of no tokens (traces write failed requests that way)
// and a time before the previous one are errors, with file, line and column. Empty lines are passed over.
//
// Hash ids of a prompt's blocks become its content, each id a run. What a prompt has of an answer before is
// in its ids too, if anywhere; Request::output_content is 0 but in our own JSON lines.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text_input/byte_source.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

struct TraceOptions {
  double rate_scale = 1.0;               ///< > 0; 2 = twice the request rate (times divided by it)
  std::optional<Duration> window_start;  ///< of trace time, before scaling; requests before it are skipped
  std::optional<Duration> window_end;    ///< exclusive
  std::optional<std::int64_t> limit;     ///< at most so many requests, after the window; >= 1
  /// What clients allow, >= 1; a request that emitted more allows just that. Default: what the trace says,
  /// else each request's own output length.
  std::optional<TokenCount> max_new;
  std::optional<PerSecond> rate;  ///< for traces without times: mean rate of Poisson arrivals
  std::uint64_t seed = 1;         ///< for what a trace leaves open
  /// Prompt tokens that a hash id stands for, >= 1, where the format leaves that open (Mooncake's and
  /// AIPerf's, 512 unless said).
  std::optional<std::int64_t> hash_block_tokens;
  bool skip_bad_lines = false;  ///< count and report them instead of throwing
  bool sort = false;            ///< by time, stable: holds the whole trace in memory
};

/// A trace as a workload. Requests arrive at their trace time (or time since window_start), divided by
/// rate_scale, whatever became of the requests before. In traces with sessions a row may instead wait: it
/// comes its delay, divided by rate_scale too, after finished() was called for its session's row before; it
/// is in the window when that row is. Where no row has a time, the first of each session and those without
/// one come at `rate` times the share they have of all rows.
///
/// Memory does not grow with the trace, except for Qwen-Bailian's (a map from chat to conversation), with
/// `sort`, and for those in which rows may wait: these are held as a whole.
class TraceWorkload : public Workload {
 public:
  /// Lines that were left out under skip_bad_lines so far; the first 10 with their messages.
  [[nodiscard]] virtual std::int64_t skipped_lines() const = 0;
  [[nodiscard]] virtual const std::vector<std::string>& skipped_messages() const = 0;
  /// Registered name of the format that was found: "azure", "mooncake", ...
  [[nodiscard]] virtual const std::string& format() const = 0;
  /// Prompt tokens a block hash stands for; 0 when the trace has none.
  [[nodiscard]] virtual std::int64_t hash_block_tokens() const = 0;
};

/// Opens a trace. Throws TraceError: no such file, a directory, unknown format (says which column the header
/// lacks when it is nearly a known one, else what the first line looks like and which formats are known), a
/// column twice in the header, options that do not suit the trace; and later, from next_arrival(), a broken
/// line ("file:line:column: expected ..., found ...") or a trace of over 106 days.
std::unique_ptr<TraceWorkload> open_trace(const std::string& path, const TraceOptions& options);

/// The same for bytes from elsewhere; `name` stands for the file in messages.
std::unique_ptr<TraceWorkload> open_trace(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                          const TraceOptions& options);

class TraceRows;

/// The same for rows already opened (workloads/trace_rows.hpp); none may have been taken.
std::unique_ptr<TraceWorkload> open_trace(TraceRows rows, const TraceOptions& options);

/// Registered names of the formats, each with what a file of it begins with; for `describe`.
struct TraceFormatSummary {
  std::string name;
  std::string looks_like;
};
std::vector<TraceFormatSummary> trace_format_summaries();

}  // namespace inferometer
