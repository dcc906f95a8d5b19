#include "workloads/csv_row_reader.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) {
      return false;
    }
  }
  return true;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return text.substr(0, 0);
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

class CsvRowReader : public RowReader {
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

  std::string named_twice;  ///< a column we read that the header has twice: no line can be read

  bool read(std::string_view line, TraceRow& row, LineError& error) override {
    if (!named_twice.empty()) {
      error = {0, fmt::format("expected the column {} once in the header, found it twice", named_twice)};
      return false;
    }
    if (!fields_.split(line, error)) {
      return false;
    }
    if (fields_.size() != column_count_) {
      error = {0,
               fmt::format("expected {} fields as in the header, found {}", column_count_, fields_.size())};
      return false;
    }
    return read_time(row, error) && read_tokens(prompt_, false, row.prompt_tokens, error) &&
           read_tokens(output_, true, row.output_tokens, error) && read_optional(row, error);
  }

 private:
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
                  fmt::format("expected {} to be a time in seconds, 0 or more, found {}", time_->name,
                              quoted_excerpt(text)),
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

  bool read_optional(TraceRow& row, LineError& error) const {
    row.max_new_tokens.reset();
    row.session = -1;
    row.service_class = 0;
    row.block_hashes.clear();
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
    std::int64_t class_number = 0;
    if (!read_label(session, std::numeric_limits<std::int64_t>::max(), row.session, error) ||
        !read_label(service_class, std::numeric_limits<std::int32_t>::max(), class_number, error)) {
      return false;
    }
    row.service_class = static_cast<std::int32_t>(class_number);
    return true;
  }

  // Leaves `value` alone when the column is missing or empty.
  bool read_label(const std::optional<Column>& column, std::int64_t most, std::int64_t& value,
                  LineError& error) const {
    if (!column) {
      return true;
    }
    const std::string_view text = trimmed(fields_[column->index]);
    if (text.empty()) {
      return true;
    }
    return (read_integer(text, value) && value >= 0 && value <= most) ||
           fail(*column,
                fmt::format("expected {} to be empty or a whole number from 0 to {}, found {}", column->name,
                            most, quoted_excerpt(text)),
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

bool CsvFields::split(std::string_view line, LineError& error) {
  line_ = line.data();
  fields_.clear();
  for (std::size_t begin = 0;;) {
    if (begin < line.size() && line[begin] == '"') {
      if (!split_quoted(line, begin, error)) {
        return false;
      }
    } else {
      const std::size_t comma = std::min(line.find(',', begin), line.size());
      fields_.push_back(line.substr(begin, comma - begin));
      begin = comma;
    }
    if (begin == line.size()) {
      return true;
    }
    ++begin;
  }
}

// On return `begin` is at the comma behind the field or at the end of the line.
bool CsvFields::split_quoted(std::string_view line, std::size_t& begin, LineError& error) {
  const std::size_t first = begin + 1;
  std::size_t close = line.find('"', first);
  while (close != std::string_view::npos && close + 1 < line.size() && line[close + 1] == '"') {
    close = line.find('"', close + 2);
  }
  if (close == std::string_view::npos) {
    error = {static_cast<int>(begin) + 1, "expected a closing quote on the same line, found none"};
    return false;
  }
  if (close + 1 < line.size() && line[close + 1] != ',') {
    error = {static_cast<int>(close) + 2, fmt::format("expected a comma after the closing quote, found {}",
                                                      quoted_excerpt(line.substr(close + 1, 1)))};
    return false;
  }
  fields_.push_back(line.substr(first, close - first));
  begin = close + 1;
  return true;
}

std::optional<std::size_t> CsvFields::find(std::string_view name) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (equal_ignoring_case(trimmed(fields_[i]), name)) {
      return i;
    }
  }
  return std::nullopt;
}

std::size_t CsvFields::count(std::string_view name) const {
  std::size_t count = 0;
  for (const std::string_view field : fields_) {
    count += equal_ignoring_case(trimmed(field), name) ? 1U : 0U;
  }
  return count;
}

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
  for (const std::string_view name :
       {layout.time, layout.prompt, layout.output, layout.max_new, layout.session, layout.service_class}) {
    if (!name.empty() && names.count(name) > 1) {
      reader->named_twice = name;
    }
  }
  reader->max_new = find_column(names, layout.max_new);
  reader->session = find_column(names, layout.session);
  reader->service_class = find_column(names, layout.service_class);
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
