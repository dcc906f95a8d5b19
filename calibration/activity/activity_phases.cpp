#include "calibration/activity/activity_phases.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "base/text_input/csv_fields.hpp"
#include "calibration/record/row_errors.hpp"

namespace inferometer {
namespace {

enum Column : std::size_t { start, end, name };
constexpr std::array<std::string_view, 3> kColumns = {"start_s", "end_s", "name"};

class WindowReader {
 public:
  explicit WindowReader(LineSource& lines) : lines_(lines) {}

  std::vector<PhaseWindow> read() {
    std::string_view line;
    if (lines_.next(line)) {
      read_header(line);
      while (lines_.next(line)) {
        read_row(line);
      }
    }
    errors_.throw_if_any(lines_.name());
    if (windows_.empty()) {
      throw ConfigError(Position{lines_.name(), 0, 0},
                        "holds no phase; expected a line \"start_s,end_s,name\" and one a phase");
    }
    return std::move(windows_);
  }

 private:
  bool split(std::string_view line) {
    LineError error;
    if (!fields_.split(line, error)) {
      errors_.add(lines_.place(error.column), error.message);
      return false;
    }
    return true;
  }

  void read_header(std::string_view line) {
    if (split(line)) {
      for (std::size_t i = 0; i < kColumns.size(); ++i) {
        const auto found = fields_.find(kColumns[i]);
        if (!found) {
          errors_.add(lines_.place(), fmt::format("no column {}; expected start_s,end_s,name", kColumns[i]));
        } else if (fields_.find_second(kColumns[i])) {
          errors_.add(lines_.place(), fmt::format("two columns {}", kColumns[i]));
        }
        places_[i] = found.value_or(0);
      }
      if (fields_.size() > kColumns.size()) {
        errors_.add(lines_.place(), "more columns than start_s, end_s and name");
      }
    }
    errors_.throw_if_any(lines_.name());  // without its columns, no row can be read
  }

  void read_row(std::string_view line) {
    if (!split(line)) {
      return;
    }
    if (fields_.size() != kColumns.size()) {
      errors_.add(lines_.place(),
                  fmt::format("expected {} fields, found {}", kColumns.size(), fields_.size()));
      return;
    }
    const auto from = seconds(start), to = seconds(end);
    const std::string_view called = trimmed(fields_[places_[name]]);
    const bool is_taken = called == kAllPhases || called == kOutsidePhase;
    if (called.empty()) {
      errors_.add(place(name), "a phase without a name");
    } else if (is_taken) {
      errors_.add(place(name), fmt::format("a row of its own is called \"{}\"; choose another name", called));
    }
    if (!from || !to || called.empty() || is_taken) {
      return;
    }
    if (*to <= *from) {
      errors_.add(place(end), fmt::format("the phase ends at {} s, not after its start at {} s", *to, *from));
    } else if (!windows_.empty() && *from < windows_.back().end_s) {
      errors_.add(place(start), fmt::format("the phase starts at {} s, before the one above ends at {} s",
                                            *from, windows_.back().end_s));
    } else {
      windows_.push_back({*from, *to, std::string(called)});
    }
  }

  [[nodiscard]] Position place(Column column) const {
    return lines_.place(fields_.column_of(places_[column]));
  }

  std::optional<double> seconds(Column column) {
    const std::string_view text = trimmed(fields_[places_[column]]);
    double value = 0;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || stop != text.data() + text.size() || !std::isfinite(value) || value < 0) {
      errors_.add(place(column), fmt::format("{} is a number of seconds from 0 on; found {}",
                                             kColumns[column], quoted_excerpt(text)));
      return std::nullopt;
    }
    return value;
  }

  LineSource& lines_;
  RowErrors errors_;
  CsvFields fields_;
  std::array<std::size_t, kColumns.size()> places_{};
  std::vector<PhaseWindow> windows_;
};

}  // namespace

std::vector<PhaseWindow> read_phase_windows(LineSource& lines) {
  return WindowReader(lines).read();
}

std::string_view phase_of(const ActivitySample& sample) {
  if (sample.sm < kIdleBelow) {
    return kIdlePhase;
  }
  return sample.dram >= kBandwidthBoundFrom * sample.sm ? kDecodePhase : kPrefillPhase;
}

std::string_view phase_of(const ActivitySample& sample, double period_s,
                          const std::vector<PhaseWindow>& windows) {
  const double middle = (static_cast<double>(sample.row) + 0.5) * period_s;
  const auto after =
      std::upper_bound(windows.begin(), windows.end(), middle,
                       [](double time, const PhaseWindow& window) { return time < window.start_s; });
  if (after == windows.begin() || middle >= std::prev(after)->end_s) {
    return kOutsidePhase;
  }
  return std::prev(after)->name;
}

}  // namespace inferometer
