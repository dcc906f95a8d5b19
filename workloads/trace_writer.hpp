#pragma once

#include <memory>
#include <string>

#include "workloads/request.hpp"

namespace inferometer {

enum class TraceFileKind {
  inferometer_csv,  ///< everything but block hashes; columns as workloads/formats/inferometer_csv.cpp
  mooncake,         ///< block hashes of 512 tokens and sessions, but neither max_new nor class
};

/// Writes requests to a file that open_trace() reads back to the same requests, as far as the kind holds
/// them. The bytes go to PATH.partial; finish() renames it. Without finish() nothing is left. Gzip when PATH
/// ends in .gz.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  /// Throws TraceError when the file cannot be written.
  virtual void add(const Request& request) = 0;
  virtual void finish() = 0;
};

/// Throws TraceError when the file cannot be made.
std::unique_ptr<TraceWriter> open_trace_writer(const std::string& path, TraceFileKind kind);

}  // namespace inferometer
