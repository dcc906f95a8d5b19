#include "workloads/csv_row_reader.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/text_input/csv_fields.hpp"
#include "base/text_input/line_source.hpp"
#include "workloads/plain_numbers.hpp"
#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

static_assert(LineSource::kPaddingBytes >= CsvFields::kPlainSplitPadding);
static_assert(LineSource::kPaddingBytes >= kPlainNumberPadding);

class CsvRowReader final : public RowReader {
 public:
  struct Column {
    std::size_t index;
    std::string name;
  };

  CsvRowReader(CsvLayout::Clock clock, std::size_t column_count, std::optional<Column> time, Column prompt,
               Column output)
      : clock_(clock),
        column_count_(column_count),
        time_(std::move(time)),
        prompt_(std::move(prompt)),
        output_(std::move(output)) {}

  std::optional<Column> max_new;
  std::optional<Column> session;
  std::optional<Column> service_class;
  std::optional<Column> priority;

  std::optional<LineError> named_twice;  ///< about a column we read that the header has twice

  bool read(std::string_view line, TraceRow& row, LineError& error) override {
    if (!fields_.split_plain(line) && !fields_.split(line, error)) {
      return false;
    }
    if (fields_.size() != column_count_) {
      const bool is_short = fields_.size() < column_count_;
      error = {is_short ? static_cast<int>(line.size()) + 1 : fields_.column_of(column_count_),
               fmt::format("expected {} fields as in the header, found {}", column_count_, fields_.size())};
      return false;
    }
    return read_plain(row) || read_strictly(row, error);
  }

  [[nodiscard]] int time_column() const override { return time_ ? fields_.column_of(time_->index) : 0; }

  [[nodiscard]] const LineError* header_error() const override {
    return named_twice ? &*named_twice : nullptr;
  }

 private:
  // The fast path, for fields as nearly all traces write them. False for any other, be it right or wrong: the
  // strict path then decides. Where it returns true, the strict path would fill the same row.
  bool read_plain(TraceRow& row) const {
    clear_optional(row);
    return read_plain_time(row.time) && read_plain_integer(fields_[prompt_.index], row.prompt_tokens) &&
           row.prompt_tokens >= 1 && read_plain_integer(fields_[output_.index], row.output_tokens) &&
           row.output_tokens >= 1 && (is_empty(max_new) || read_plain_max_new(row)) &&
           (is_empty(session) || read_plain_integer(fields_[session->index], row.session)) &&
           (is_empty(service_class) || read_plain_label(*service_class, row.service_class)) &&
           (is_empty(priority) || read_plain_label(*priority, row.priority));
  }

  bool read_plain_time(WidePicoseconds& time) const {
    switch (clock_) {
      case CsvLayout::Clock::seconds:
        return read_plain_seconds(fields_[time_->index], time);
      case CsvLayout::Clock::timestamp:
        return read_plain_timestamp(fields_[time_->index], time);
      case CsvLayout::Clock::none:
        break;
    }
    return true;
  }

  bool read_plain_max_new(TraceRow& row) const {
    std::int64_t tokens = 0;
    const bool is_plain = read_plain_integer(fields_[max_new->index], tokens);
    row.max_new_tokens = tokens;
    return is_plain && tokens >= row.output_tokens;
  }

  bool read_plain_label(const Column& column, std::int32_t& label) const {
    std::int64_t number = 0;
    const bool is_plain = read_plain_integer(fields_[column.index], number);
    label = static_cast<std::int32_t>(number);
    return is_plain;
  }

  [[nodiscard]] bool is_empty(const std::optional<Column>& column) const {
    return !column || fields_[column->index].empty();
  }

  // The strict path: everything that is allowed, and what is wrong with the rest.
  bool read_strictly(TraceRow& row, LineError& error) const {
    return read_time(row, error) && read_tokens(prompt_, false, row.prompt_tokens, error) &&
           read_tokens(output_, true, row.output_tokens, error) && read_optional(row, error);
  }

  bool fail(const Column& column, std::string message, LineError& error) const {
    error = {fields_.column_of(column.index), std::move(message)};
    return false;
  }

  bool read_time(TraceRow& row, LineError& error) const {
    if (clock_ == CsvLayout::Clock::none) {
      return true;
    }
    const std::string_view text = trimmed(fields_[time_->index]);
    if (clock_ == CsvLayout::Clock::seconds) {
      return read_seconds(text, 0, row.time) ||
             fail(*time_,
                  fmt::format("expected {} to be a time in seconds {}, found {}", time_->name,
                              seconds_range(0), quoted_excerpt(text)),
                  error);
    }
    return read_timestamp(text, row.time) ||
           fail(*time_,
                fmt::format("expected {} to be a time such as 2023-11-16 18:15:46.6805900, found {}",
                            time_->name, quoted_excerpt(text)),
                error);
  }

  bool read_tokens(const Column& column, bool is_output, std::int64_t& tokens, LineError& error) const {
    const std::string_view text = trimmed(fields_[column.index]);
    return (read_integer(text, tokens) && tokens >= 1 && tokens <= kMostTokens) ||
           fail(column, token_count_message(column.name, text, is_output), error);
  }

  static void clear_optional(TraceRow& row) {
    row.max_new_tokens.reset();
    row.session = -1;
    row.service_class = 0;
    row.follows = false;
    row.priority = 0;
    row.content.clear();
    row.output_content = 0;
  }

  bool read_optional(TraceRow& row, LineError& error) const {
    clear_optional(row);
    if (max_new && !trimmed(fields_[max_new->index]).empty()) {
      std::int64_t tokens = 0;
      if (!read_tokens(*max_new, false, tokens, error)) {
        return false;
      }
      if (tokens < row.output_tokens) {
        return fail(*max_new,
                    fmt::format("expected {} to be at least the {} output tokens of the line, found {}",
                                max_new->name, row.output_tokens, tokens),
                    error);
      }
      row.max_new_tokens = tokens;
    }
    using Label = std::numeric_limits<std::int32_t>;
    std::int64_t class_number = 0;
    std::int64_t priority_number = 0;
    if (!read_label(session, 0, std::numeric_limits<std::int64_t>::max(), row.session, error) ||
        !read_label(service_class, 0, Label::max(), class_number, error) ||
        !read_label(priority, Label::min(), Label::max(), priority_number, error)) {
      return false;
    }
    row.service_class = static_cast<std::int32_t>(class_number);
    row.priority = static_cast<std::int32_t>(priority_number);
    return true;
  }

  // Leaves `value` alone when the column is missing or empty.
  bool read_label(const std::optional<Column>& column, std::int64_t least, std::int64_t most,
                  std::int64_t& value, LineError& error) const {
    if (!column) {
      return true;
    }
    const std::string_view text = trimmed(fields_[column->index]);
    if (text.empty()) {
      return true;
    }
    return (read_integer(text, value) && value >= least && value <= most) ||
           fail(*column,
                fmt::format("expected {} to be empty or a whole number from {} to {}, found {}", column->name,
                            least, most, quoted_excerpt(text)),
                error);
  }

  CsvLayout::Clock clock_;
  std::size_t column_count_;
  std::optional<Column> time_;
  Column prompt_;
  Column output_;
  CsvFields fields_;
};

std::optional<CsvRowReader::Column> find_column(const CsvFields& header, std::string_view name) {
  if (name.empty()) {
    return std::nullopt;
  }
  const std::optional<std::size_t> index = header.find(name);
  if (!index) {
    return std::nullopt;
  }
  return CsvRowReader::Column{*index, std::string(name)};
}

}  // namespace

std::unique_ptr<RowReader> open_csv(const std::string& header, const CsvLayout& layout) {
  CsvFields names;
  LineError ignored;
  if (!names.split(header, ignored)) {
    return nullptr;
  }
  std::optional<CsvRowReader::Column> time = find_column(names, layout.time);
  std::optional<CsvRowReader::Column> prompt = find_column(names, layout.prompt);
  std::optional<CsvRowReader::Column> output = find_column(names, layout.output);
  if ((!time && layout.clock != CsvLayout::Clock::none) || !prompt || !output) {
    return nullptr;
  }
  auto reader = std::make_unique<CsvRowReader>(layout.clock, names.size(), std::move(time),
                                               std::move(*prompt), std::move(*output));
  for (const std::string_view name : {layout.time, layout.prompt, layout.output, layout.max_new,
                                      layout.session, layout.service_class, layout.priority}) {
    if (const std::optional<std::size_t> second = names.find_second(name); second && !name.empty()) {
      reader->named_twice = {names.column_of(*second),
                             fmt::format("expected the column {} once in the header, found it twice", name)};
    }
  }
  reader->max_new = find_column(names, layout.max_new);
  reader->session = find_column(names, layout.session);
  reader->service_class = find_column(names, layout.service_class);
  reader->priority = find_column(names, layout.priority);
  return reader;
}

std::string second_line_field(const TraceSample& sample, std::string_view name) {
  CsvFields header;
  CsvFields fields;
  LineError ignored;
  if (!header.split(sample.first, ignored) || !fields.split(sample.second, ignored)) {
    return "";
  }
  const std::optional<std::size_t> index = header.find(name);
  return index && *index < fields.size() ? std::string(fields[*index]) : "";
}

}  // namespace inferometer
