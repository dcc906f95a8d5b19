#pragma once

// What a study has found out so far, in a file: one that was killed goes on where it was. Who uses it:
// studies, with the question as key and the answer as value.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace inferometer {

/// A file of records, appended to. The first line is the format's name and version; each further one is
///
///     CRC-32 in eight hex digits, a space, the key, a tab, the value
///
/// of what follows the space. In keys and values a backslash, a tab and a newline are written as \\, \t and
/// \n, so that any bytes come back. A record is one write: the death of the program, at any moment, leaves at
/// most one unfinished line, the last. When the machine goes down, what the system had not yet written to
/// disk is lost.
class Journal {
 public:
  /// Goes on in the file at `path`, or makes it; `is_fresh` forgets what is in it. An unfinished last line is
  /// cut off; other lines that are damaged stay and are skipped. Holds the file against other programs until
  /// this object is gone. Throws ConfigError, and leaves the file as it is: another study is writing to it;
  /// it is no journal, or one of another version and not is_fresh; no regular file; what the system says.
  /// O(bytes of the file).
  Journal(std::string path, bool is_fresh);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The value, until a key is appended again; nullptr when there is none.
  [[nodiscard]] const std::string* find(const std::string& key) const;

  /// When it returns, the record outlives this program. The last value of a key holds. Throws ConfigError
  /// with what the system says, a full disk for instance; the file then ends with the last whole record, and
  /// appending may be tried again. (Where files may not grow beyond a limit, the program must ignore
  /// SIGXFSZ.)
  void append(const std::string& key, const std::string& value);

  /// Keys.
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  /// Damaged lines that were found when it was opened, and whose records are lost.
  [[nodiscard]] std::int64_t skipped() const { return skipped_; }

 private:
  void open();
  void lock();
  [[nodiscard]] std::string content() const;
  void begin();
  void read(std::string_view lines);
  void cut();
  void write_line(std::string_view line);
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(const std::string& what, int error) const;

  std::string path_;
  int file_ = -1;
  std::int64_t bytes_ = 0;  // of whole lines
  std::int64_t skipped_ = 0;
  std::map<std::string, std::string> values_;
};

}  // namespace inferometer
