#pragma once

// What the JSONL formats share: one object a line, of which some members matter and the others are ignored.

#include <memory>
#include <string_view>
#include <vector>

#include "workloads/trace_format.hpp"

namespace inferometer {

class JsonLine {
 public:
  /// `keys` name the members that matter and must outlive this object.
  explicit JsonLine(std::vector<std::string_view> keys);
  ~JsonLine();
  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;

  /// False, with `error` set, when the line is not one JSON object or has a member twice.
  /// Precondition: LineSource::kPaddingBytes behind the line may be read.
  bool read(std::string_view line, LineError& error);

  /// True when the member is there and not null.
  [[nodiscard]] bool has(std::size_t key) const { return !values_[key].empty(); }
  /// The value as written: a number, a string with its quotes, an array. Empty without the member.
  [[nodiscard]] std::string_view value(std::size_t key) const { return values_[key]; }

  /// Where the value begins in the line, from 1; 0 without the member. Until the next line is read.
  [[nodiscard]] int column_of(std::size_t key) const;

  // Each reads one member that must be there. False, with `error` set, when it is missing or wrong.

  /// A number >= 0, times 10^power seconds.
  bool read_time(std::size_t key, int power, WidePicoseconds& time, LineError& error) const;
  bool read_tokens(std::size_t key, bool is_output, std::int64_t& tokens, LineError& error) const;
  /// A whole number of [least, most].
  bool read_integer_member(std::size_t key, std::int64_t least, std::int64_t most, std::int64_t& number,
                           LineError& error) const;

  /// Sets `error` to a message at the member's value; returns false.
  bool fail(std::size_t key, std::string message, LineError& error) const;

 private:
  bool read_members(std::string_view line, LineError& error);
  bool require(std::size_t key, LineError& error) const;

  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::vector<std::string_view> keys_;
  std::vector<std::string_view> values_;
  const char* line_ = nullptr;
};

}  // namespace inferometer
