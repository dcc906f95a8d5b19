#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace inferometer {

/// The bytes of an input, already decompressed, read once from front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills up to `size` bytes and returns how many; 0 only at the end. Throws TraceError when the bytes
  /// cannot be had (a damaged or cut off .gz, a failing disk).
  virtual std::size_t read(char* into, std::size_t size) = 0;
};

/// A plain file, or a gzip file whatever its name: told apart by the first bytes.
/// Throws TraceError for a missing or unreadable file and for a directory.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// `text` as it is; for tests.
std::unique_ptr<ByteSource> bytes_in_memory(std::string text);

}  // namespace inferometer
