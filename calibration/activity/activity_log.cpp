#include "calibration/activity/activity_log.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "calibration/record/row_errors.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kSmColumn = "SMACT";
constexpr std::string_view kDramColumn = "DRAMA";
constexpr std::string_view kNotAvailable = "N/A";
constexpr std::string_view kStopMessage = "dmon was stopped";
constexpr std::string_view kEntities[] = {"GPU", "GPU-I", "GPU-CI"};  // the last two: MIG instances
constexpr std::size_t kNameWords = 2;                                 // "GPU" "0"

struct Word {
  std::string_view text;
  int column;  // from 1
};

std::vector<Word> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<Word> words;
  for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back({line.substr(begin, end - begin), static_cast<int>(begin) + 1});
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

class Reader {
 public:
  explicit Reader(LineSource& lines) : lines_(lines) {}

  ActivityLog read() {
    std::string_view line;
    while (lines_.next(line)) {
      read_line(line, words_of(line));
    }
    errors_.throw_if_any(lines_.name());
    const auto has_samples = [](const GpuLog& gpu) { return !gpu.samples.empty(); };
    if (std::none_of(log_.gpus.begin(), log_.gpus.end(), has_samples)) {
      throw ConfigError(Position{lines_.name(), 0, 0},
                        "holds no sample with both SMACT and DRAMA; expected the output of \"dcgmi dmon -e "
                        "1002,1005\"");
    }
    return std::move(log_);
  }

 private:
  void read_line(std::string_view line, const std::vector<Word>& words) {
    const std::string_view first = words.front().text;
    if (first.front() == '#') {
      read_header(words);
    } else if (std::find(std::begin(kEntities), std::end(kEntities), first) != std::end(kEntities)) {
      read_row(words);
    } else if (first != "ID" && first != "Id" && line.substr(0, kStopMessage.size()) != kStopMessage) {
      errors_.add(
          lines_.place(words.front().column),
          "expected a row of a GPU (GPU 0 ...) or a header (#Entity ...), found " + quoted_excerpt(line));
    }
  }

  /// "#Entity" and the columns; older versions write "# Entity".
  void read_header(const std::vector<Word>& words) {
    const std::size_t names = words.front().text == "#" ? 2 : 1;
    std::vector<std::string> columns;
    for (std::size_t i = names; i < words.size(); ++i) {
      columns.emplace_back(words[i].text);
    }
    if (header_line_ == 0) {
      columns_ = std::move(columns);
      header_line_ = lines_.line_number();
      sm_ = require(kSmColumn, 1002);
      dram_ = require(kDramColumn, 1005);
      note_others();
      errors_.throw_if_any(lines_.name());  // without its columns, no row can be read
    } else if (columns != columns_) {
      errors_.add(
          lines_.place(words.front().column),
          fmt::format("the columns differ from those of line {}: give the two logs apart", header_line_));
    }
  }

  std::size_t require(std::string_view name, int field) {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end()) {
      errors_.add(lines_.place(),
                  fmt::format("no column {} (DCGM field {}); there are {}", name, field, column_names()));
    } else if (std::find(found + 1, columns_.end(), name) != columns_.end()) {
      errors_.add(lines_.place(), fmt::format("two columns {}", name));
    }
    return static_cast<std::size_t>(found - columns_.begin());
  }

  /// As they may be printed, whatever bytes they hold.
  [[nodiscard]] std::string column_names() const {
    std::vector<std::string> names;
    for (const std::string& column : columns_) {
      names.push_back(quoted_excerpt(column));
    }
    return names.empty() ? "none" : join_alternatives(names, "and");
  }

  void note_others() {
    std::vector<std::string> others;
    for (const std::string& column : columns_) {
      if (column != kSmColumn && column != kDramColumn) {
        others.push_back(quoted_excerpt(column));
      }
    }
    if (!others.empty()) {
      log_.notes.push_back(fmt::format("{}: column{} {} passed over", lines_.name(),
                                       others.size() > 1 ? "s" : "", join_alternatives(others, "and")));
    }
  }

  void read_row(const std::vector<Word>& words) {
    if (header_line_ == 0) {
      errors_.add(lines_.place(words.front().column), "a row before the header (#Entity ...)");
      errors_.throw_if_any(lines_.name());
    }
    if (words.size() != kNameWords + columns_.size()) {
      errors_.add(lines_.place(),
                  fmt::format("expected a GPU and {} values ({}), found {} words; columns whose values hold "
                              "blanks cannot be told apart",
                              columns_.size(), column_names(), words.size()));
      return;
    }
    const std::string_view id = words[1].text;
    if (!std::all_of(id.begin(), id.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      errors_.add(lines_.place(words[1].column), "expected a GPU's number, found " + quoted_excerpt(id));
      return;
    }
    const std::optional<double> sm = share(words[kNameWords + sm_], kSmColumn);
    const std::optional<double> dram = share(words[kNameWords + dram_], kDramColumn);
    GpuLog& gpu = gpu_called(fmt::format("{} {}", words[0].text, id));
    if (sm && dram) {
      gpu.samples.push_back({gpu.rows, *sm, *dram});
    }
    ++gpu.rows;
  }

  /// Nothing for N/A, and for a mistake.
  std::optional<double> share(const Word& word, std::string_view column) {
    if (word.text == kNotAvailable) {
      return std::nullopt;
    }
    double value = 0;
    const char* end = word.text.data() + word.text.size();
    const auto [stop, code] = std::from_chars(word.text.data(), end, value);
    if (code != std::errc() || stop != end || !(value >= 0 && value <= kMostActivity)) {
      errors_.add(lines_.place(word.column), fmt::format("{} is a share from 0 to 1, or N/A; found {}",
                                                         column, quoted_excerpt(word.text)));
      return std::nullopt;
    }
    return value;
  }

  GpuLog& gpu_called(const std::string& name) {
    const auto found =
        std::find_if(log_.gpus.begin(), log_.gpus.end(), [&](const GpuLog& gpu) { return gpu.name == name; });
    if (found != log_.gpus.end()) {
      return *found;
    }
    log_.gpus.push_back({name, 0, {}});
    return log_.gpus.back();
  }

  LineSource& lines_;
  RowErrors errors_;
  ActivityLog log_;
  std::vector<std::string> columns_;
  int header_line_ = 0;
  std::size_t sm_ = 0, dram_ = 0;
};

}  // namespace

ActivityLog read_activity_log(LineSource& lines) {
  return Reader(lines).read();
}

}  // namespace inferometer
