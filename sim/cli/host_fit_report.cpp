#include "sim/cli/host_fit_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/config/unit_text.hpp"
#include "base/text.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostUnexplained = 20;

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Three digits of it.
Duration rounded(Duration duration) {
  std::int64_t grain = 1;
  while (duration.count() / grain >= 1000) {
    grain *= 10;
  }
  return Duration((duration.count() + grain / 2) / grain * grain);
}

std::string text_of(Duration duration) {
  return quantity_text(rounded(duration), ValueType::duration);
}

double in_microseconds(Duration duration) {
  return 1e3 * to_milliseconds(duration);
}

Json optional_json(const std::optional<Duration>& duration) {
  return duration ? Json(in_microseconds(*duration)) : Json(nullptr);
}

std::string remark(const HostTime& time) {
  if (!time.is_determined) {
    return "not determined by these runs";
  }
  if (!time.low) {
    return "too few runs for an interval";
  }
  return *time.low == Duration() ? "may be 0" : "";
}

std::string times_text(const HostFit& fit) {
  std::vector<std::vector<std::string>> rows{{"cost_model", "remark", "before", "fitted", "5 %", "95 %"}};
  for (const HostTime& time : fit.times) {
    rows.push_back({time.key, remark(time), text_of(time.start), text_of(time.value),
                    time.low ? text_of(*time.low) : "-", time.high ? text_of(*time.high) : "-"});
  }
  return align_columns(rows, 2);
}

std::vector<std::string> error_row(const char* which, const FitErrors& errors) {
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100 * share); };
  const auto signed_percent = [](double share) { return fmt::format("{:+.1f}", 100 * share); };
  return {which,
          errors.metric,
          std::to_string(errors.count),
          percent(errors.median_before),
          percent(errors.median_after),
          percent(errors.mean_before),
          percent(errors.mean_after),
          signed_percent(errors.bias_before),
          signed_percent(errors.bias_after)};
}

std::string errors_text(const HostFit& fit) {
  std::vector<std::vector<std::string>> rows{
      {"runs", "metric", "count", "median %", "after", "mean %", "after", "bias %", "after"}};
  for (const FitErrors& errors : fit.fitted) {
    rows.push_back(error_row("fitted", errors));
  }
  for (const FitErrors& errors : fit.unseen) {
    rows.push_back(error_row("unseen", errors));
  }
  return align_columns(rows, 2);
}

std::string unexplained_text(const std::vector<MeasuredRun>& runs, const HostFit& fit) {
  if (fit.unexplained.empty()) {
    return "";
  }
  std::vector<std::vector<std::string>> rows{
      {"not explained", "source", "metric", "measured", "predicted", "kernel errors", "error %"}};
  for (std::size_t i = 0; i < std::min(fit.unexplained.size(), kMostUnexplained); ++i) {
    const UnexplainedValue& value = fit.unexplained[i];
    rows.push_back(
        {runs[value.run].name, runs[value.run].source, value.metric, short_number(value.measured),
         short_number(value.predicted),
         value.range ? short_number(value.range->low) + ".." + short_number(value.range->high) : "-",
         fmt::format("{:+.1f}", 100 * (value.predicted / value.measured - 1))});
  }
  std::string text = "\n" + align_columns(rows, 3);
  if (fit.unexplained.size() > kMostUnexplained) {
    text += fmt::format("and {} more, which --json has\n", fit.unexplained.size() - kMostUnexplained);
  }
  return text;
}

Json times_json(const HostFit& fit) {
  Json times = Json::array();
  for (const HostTime& time : fit.times) {
    times.push_back({{"key", time.key},
                     {"before_us", in_microseconds(time.start)},
                     {"fitted_us", in_microseconds(time.value)},
                     {"determined", time.is_determined},
                     {"low_us", optional_json(time.low)},
                     {"high_us", optional_json(time.high)}});
  }
  return times;
}

Json errors_json(const std::vector<FitErrors>& rows) {
  Json list = Json::array();
  for (const FitErrors& errors : rows) {
    list.push_back({{"metric", errors.metric},
                    {"count", errors.count},
                    {"median_before", errors.median_before},
                    {"median_after", errors.median_after},
                    {"mean_before", errors.mean_before},
                    {"mean_after", errors.mean_after},
                    {"bias_before", errors.bias_before},
                    {"bias_after", errors.bias_after}});
  }
  return list;
}

Json unexplained_json(const std::vector<MeasuredRun>& runs, const HostFit& fit) {
  Json list = Json::array();
  for (const UnexplainedValue& value : fit.unexplained) {
    list.push_back({{"run", runs[value.run].name},
                    {"source", runs[value.run].source},
                    {"metric", value.metric},
                    {"measured", value.measured},
                    {"predicted", value.predicted},
                    {"low", value.range ? Json(value.range->low) : Json(nullptr)},
                    {"high", value.range ? Json(value.range->high) : Json(nullptr)},
                    {"fitted", value.is_fitted}});
  }
  return list;
}

}  // namespace

std::string host_fit_text(const std::vector<MeasuredRun>& runs, const HostFitResult& result) {
  std::string text;
  for (const HostFit& fit : result.fits) {
    text += fmt::format(
        "{}{}: {} fitted, {} unseen, {} at or past saturation left out; {}, {}\n\n{}\n{}{}",
        text.empty() ? "" : "\n", fit.engine, counted(fit.fitted_runs, "run"), fit.unseen_runs,
        fit.saturated_runs, counted(fit.steps, "step"),
        fit.has_settled ? "the last moved nothing by more than 1 %" : "still moving: more runs may be needed",
        times_text(fit), errors_text(fit), unexplained_text(runs, fit));
  }
  text +=
      "\nErrors are |predicted / measured - 1|, before and after the fit. Intervals are 5 to 95 % of what "
      "other\ndraws of such runs would give.\n";
  for (const UnpredictedValue& missing : result.missing) {
    text += fmt::format("not predicted: {} ({}): {}\n", runs[missing.run].name, runs[missing.run].source,
                        missing.reason);
  }
  return text;
}

std::string host_fit_yaml(const HostFitResult& result) {
  std::string text;
  for (const HostFit& fit : result.fits) {
    text += fmt::format("{}# Host times of {}, fitted by `inferometer calibrate host` to {} of\n",
                        text.empty() ? "" : "---\n", fit.engine, counted(fit.fitted_runs, "run"));
    for (const std::string& source : fit.sources) {
      text += fmt::format("#   {}\n", quoted_excerpt(source));
    }
    std::string keys;
    for (const HostTime& time : fit.times) {
      if (!time.is_determined && time.value == time.start) {
        keys += fmt::format("  # {}: not determined by these runs\n", time.key);
        continue;
      }
      const std::string range =
          time.low ? fmt::format("5 to 95 %: {} to {}", text_of(*time.low), text_of(*time.high))
                   : remark(time);
      keys += fmt::format("  {}: {}  # {}\n", time.key, text_of(time.value), range);
    }
    const bool is_empty = std::all_of(fit.times.begin(), fit.times.end(), [](const HostTime& time) {
      return !time.is_determined && time.value == time.start;
    });
    text += (is_empty ? "cost_model: {}\n" : "cost_model:\n") + keys;
  }
  return text;
}

std::string host_fit_json(const std::vector<MeasuredRun>& runs, const HostFitResult& result) {
  Json fits = Json::array(), missing = Json::array();
  for (const HostFit& fit : result.fits) {
    fits.push_back({{"engine", fit.engine},
                    {"sources", fit.sources},
                    {"fitted_runs", fit.fitted_runs},
                    {"unseen_runs", fit.unseen_runs},
                    {"saturated_runs", fit.saturated_runs},
                    {"steps", fit.steps},
                    {"settled", fit.has_settled},
                    {"scatter", fit.scatter},
                    {"host_times", times_json(fit)},
                    {"fitted", errors_json(fit.fitted)},
                    {"unseen", errors_json(fit.unseen)},
                    {"unexplained", unexplained_json(runs, fit)}});
  }
  for (const UnpredictedValue& value : result.missing) {
    missing.push_back(
        {{"run", runs[value.run].name}, {"source", runs[value.run].source}, {"reason", value.reason}});
  }
  return Json{{"fits", fits}, {"missing", missing}}.dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace inferometer
