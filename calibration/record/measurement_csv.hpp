#pragma once

// A published table of measurements as rows of named cells. Who uses it: the importers, one for each form of
// table.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_input/csv_fields.hpp"
#include "base/text_input/line_source.hpp"
#include "calibration/record/row_errors.hpp"

namespace inferometer {

/// Sizes and counts above this are a broken cell.
inline constexpr double kLargestAxis = 1e12;

class MeasurementCsv {
 public:
  /// Where a value stands: in each row, or once for the whole table.
  struct Column {
    std::string name;
    std::size_t index = kConstant;
    std::string constant;
    static constexpr std::size_t kConstant = static_cast<std::size_t>(-1);
  };
  using Constants = std::vector<std::pair<std::string, std::string>>;

  /// `lines` is at its header, which the constructor reads; both outlive this object. `constants` are columns
  /// that hold for all rows.
  MeasurementCsv(LineSource& lines, Constants constants, RowErrors& errors);

  /// Precondition: `name` is in lower case; those of the table may be in any.
  [[nodiscard]] std::optional<Column> find(std::string_view name);
  /// A column that must be there; its absence is one of the errors.
  Column require(std::string_view name);
  /// Of the header and the constants, in their order.
  [[nodiscard]] std::vector<std::string> column_names() const;
  /// Those of the header that nobody asked for.
  [[nodiscard]] std::vector<std::string> unused_columns() const;

  /// The next row; one whose cells do not fit the header is an error and passed over. False at the end.
  bool next();
  /// False when a cell of this row was an error.
  [[nodiscard]] bool row_is_good() const { return is_good_; }

  [[nodiscard]] std::string_view text(const Column& column) const;
  /// A whole number from `least` to kLargestAxis.
  double count(const Column& column, double least = 1);
  /// A time in ms, as seconds; from 1e-8 to 1e9 ms.
  double seconds_from_ms(const Column& column);
  /// The same, and nothing for a time that was rounded to 0.
  std::optional<double> rounded_seconds_from_ms(const Column& column);
  /// An error at a cell of this row.
  void refuse(const Column& column, std::string message);

  [[nodiscard]] Position place() const { return lines_.place(); }

 private:
  [[nodiscard]] std::optional<double> number(const Column& column) const;

  LineSource& lines_;
  Constants constants_;
  RowErrors& errors_;
  std::vector<std::string> header_;
  std::vector<bool> is_used_;  // by column of the header
  int header_line_ = 0;
  CsvFields fields_;
  bool is_good_ = true;
};

}  // namespace inferometer
