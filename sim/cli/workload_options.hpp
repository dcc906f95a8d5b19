#pragma once

// Command-line options that the `workload` commands share.

#include <cstdint>
#include <string>

#include "workloads/trace_reader.hpp"
#include "workloads/trace_writer.hpp"

namespace CLI {
class App;
}

namespace inferometer {

/// Options that say which part of a trace to read and how, as given.
struct TraceReadingOptions {
  std::string rate_scale;
  std::string window;
  std::int64_t limit = 0;
  std::int64_t block_size = 0;
  bool has_block_size = false;
  bool has_limit = false;
  bool skip_bad_lines = false;
};

/// `options` must live as long as `command`.
void add_trace_reading_options(CLI::App& command, TraceReadingOptions& options);

/// Throws ConfigError for a value that cannot be read.
TraceOptions trace_options(const TraceReadingOptions& options);

/// A number and a unit, "12 req/s", for the option of that name. Throws ConfigError.
PerSecond read_rate_option(const std::string& name, const std::string& text);

/// For the help of an option that read_trace_kind() reads.
inline constexpr const char* kTraceKinds =
    "inferometer: our CSV, without contents; mooncake: JSON lines for other tools; jsonl: JSON lines with "
    "all there is";

/// "inferometer", "mooncake" or "jsonl". Throws ConfigError for another word.
TraceFileKind read_trace_kind(const std::string& text);

/// Bad lines that were skipped, to standard error.
void print_skipped_lines(const TraceWorkload& trace);

}  // namespace inferometer
