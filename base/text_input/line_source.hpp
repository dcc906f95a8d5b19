#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text_input/byte_source.hpp"

namespace inferometer {

/// Lines of an input, one at a time, in a buffer that does not grow with the file. Ends are LF or CRLF, the
/// last one may be missing; a UTF-8 byte order mark at the front is dropped; lines of nothing but blanks are
/// passed over.
class LineSource {
 public:
  static constexpr std::size_t kLongestLineBytes = 16u << 20;
  /// So many bytes behind the end of a line may be read (their content means nothing): what simdjson asks
  /// for.
  static constexpr std::size_t kPaddingBytes = 64;

  LineSource(std::unique_ptr<ByteSource> bytes, std::string name);

  /// The next line without its end, valid until the next call; false at the end of the file.
  /// Throws TraceError for a line over kLongestLineBytes, and what ByteSource throws.
  bool next(std::string_view& line);

  /// Number of the line that next() returned, from 1.
  [[nodiscard]] int line_number() const { return line_number_; }
  /// A place in the line that next() returned.
  [[nodiscard]] Position place(int column = 0) const { return Position{name_, line_number_, column}; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// After rewind_to_mark(), next() repeats the lines since mark(), which is gone then. For a look ahead
  /// at the next few lines: all of them since the mark are kept.
  void mark();
  void rewind_to_mark();

 private:
  void fill();

  std::unique_ptr<ByteSource> bytes_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;    // first byte not returned yet
  std::size_t scanned_ = 0;  // no line end in [begin_, scanned_)
  std::size_t end_ = 0;      // end of what was read
  bool at_end_ = false;
  int line_number_ = 0;
  bool is_marked_ = false;
  std::size_t mark_ = 0;
  int mark_line_number_ = 0;
};

}  // namespace inferometer
