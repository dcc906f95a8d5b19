#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "workloads/request.hpp"

namespace inferometer {

enum class TraceFileKind {
  inferometer_csv,  ///< all but contents and delays; columns as workloads/formats/inferometer_csv.cpp
  mooncake,         ///< arrivals, lengths, sessions, delays, and contents that are blocks of 512 tokens
  json_lines,       ///< all there is: as Mooncake's, with members of ours for what that lacks
};

/// Prompt tokens that a hash id of a Mooncake file stands for.
inline constexpr std::int64_t kMooncakeBlockTokens = 512;

/// Writes requests to a file that open_trace() reads back to the same requests, as far as the kind holds
/// them. The bytes go to PATH.partial; finish() renames it. Without finish() nothing is left. Gzip when PATH
/// ends in .gz.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  /// `delay`: as Workload::delay() of the request. What the kind cannot hold is left out; a delay is an error
  /// then, as is one when the first request of all had no session, since a reader would not expect any.
  /// Throws TraceError for these and when the file cannot be written.
  virtual void add(const Request& request, std::optional<Duration> delay = std::nullopt) = 0;
  virtual void finish() = 0;
};

/// Throws TraceError when the file cannot be made.
std::unique_ptr<TraceWriter> open_trace_writer(const std::string& path, TraceFileKind kind);

}  // namespace inferometer
