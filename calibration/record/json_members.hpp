#pragma once

// One line of a record file: an object of numbers, texts and lists of texts. Who uses it: the reader of
// record files, which takes member by member and in the end refuses what nobody took.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_input/line_source.hpp"
#include "calibration/record/row_errors.hpp"

namespace inferometer {

class JsonMembers {
 public:
  /// Both outlive this object.
  JsonMembers(const LineSource& lines, RowErrors& errors);
  ~JsonMembers();
  JsonMembers(const JsonMembers&) = delete;
  JsonMembers& operator=(const JsonMembers&) = delete;

  /// False, with the mistake among the errors, when the line is not one such object or has a member twice.
  /// Precondition: LineSource::kPaddingBytes behind the line may be read.
  bool read(std::string_view line);
  /// No mistake in this line so far.
  [[nodiscard]] bool is_good() const { return is_good_; }

  [[nodiscard]] bool has(std::string_view name) const;

  // Each takes a member. Without it: nothing; when it is of another type: nothing, and an error.

  std::optional<std::string> text(std::string_view name);
  std::optional<std::vector<std::string>> texts(std::string_view name);
  /// The number as written.
  std::optional<std::string_view> number_text(std::string_view name);
  std::optional<double> number(std::string_view name);

  /// An error at a member, or at the line when it is not there.
  void refuse(std::string_view name, std::string message);
  void refuse_missing(std::string_view name);
  /// An error for each member that was not taken; `known` are those that may be there.
  void refuse_the_rest(const std::vector<std::string>& known);

 private:
  enum class Kind { text, number, texts, other };
  struct Member {
    std::string name;
    Kind kind = Kind::other;
    std::string_view token;  // of a number, in the line
    std::vector<std::string> texts;
    int column = 0;
    bool is_taken = false;
  };
  struct Parser;

  bool read_members(std::string_view line);
  bool fail_syntax();
  Member* take(std::string_view name, Kind kind, std::string_view what);

  const LineSource& lines_;
  RowErrors& errors_;
  std::unique_ptr<Parser> parser_;
  std::vector<Member> members_;
  bool is_good_ = true;
};

}  // namespace inferometer
