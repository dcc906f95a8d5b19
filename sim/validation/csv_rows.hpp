#pragma once

// A CSV file of measured runs, a row at a time: columns by name, whatever their order, and mistakes collected
// with file, line and column. Who uses it: the readers of formats/.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text_input/csv_fields.hpp"
#include "base/text_input/line_source.hpp"

namespace inferometer {

class CsvRows {
 public:
  /// After so many mistakes the rest of a file is not read.
  static constexpr std::size_t kMostMistakes = 20;

  /// Reads the header. Throws what open_bytes() and LineSource throw; an empty file has no columns. A column
  /// that is named twice is a mistake. `mistakes` outlives this object.
  CsvRows(const std::string& path, Diagnostics& mistakes);

  /// As the header has them, without blanks around them.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] bool has(std::string_view column) const { return index_of(column).has_value(); }

  /// The next row; false at the end. Rows with another number of fields than the header are mistakes and
  /// passed over.
  bool next();
  /// No mistake in this row so far.
  [[nodiscard]] bool is_good() const { return mistakes_.found().size() == mistakes_before_; }

  /// The text of a field, without blanks around it; "" where there is no such column.
  [[nodiscard]] std::string text(std::string_view column) const;
  /// A whole number of [least, most], also written as 8.0; nothing where the field is empty or missing, and
  /// nothing with a mistake where it is anything else.
  std::optional<std::int64_t> count(std::string_view column, std::int64_t least = 1,
                                    std::int64_t most = 1'000'000'000);
  /// The same for a number above 0.
  std::optional<double> positive(std::string_view column);
  /// The same for a number from 0.
  std::optional<double> from_zero(std::string_view column);

  // The same where an empty or missing field is a mistake, too. Then 1, so that the caller can go on.

  std::int64_t needed_count(std::string_view column, std::int64_t least = 1,
                            std::int64_t most = 1'000'000'000);
  double needed_positive(std::string_view column);
  std::string needed_text(std::string_view column);

  /// A mistake at a field of this row.
  void refuse(std::string_view column, std::string message);
  /// "FILE:LINE" of this row.
  [[nodiscard]] std::string source() const { return to_string(lines_.place()); }
  [[nodiscard]] int line_number() const { return lines_.line_number(); }

 private:
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view column) const;
  std::optional<double> number(std::string_view column, bool may_be_zero);

  Diagnostics& mistakes_;
  std::size_t mistakes_before_ = 0;
  LineSource lines_;
  CsvFields fields_;
  std::vector<std::string> columns_;
};

}  // namespace inferometer
