#include "workloads/trace_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/random.hpp"
#include "workloads/rate_scaler.hpp"
#include "workloads/trace_fields.hpp"
#include "workloads/trace_rows.hpp"

namespace inferometer {
namespace {

constexpr int kPicosecondDigits = 12;
constexpr double kLongestSeconds = 9.2e6;
constexpr WidePicoseconds kLongest = std::numeric_limits<std::int64_t>::max();
constexpr const char* kTooLong =
    "the trace spans more than 106 days (9,223,372 s): choose a time window or a larger rate_scale";
constexpr const char* kDrawnTooLong =  // kLongestSeconds
    "the trace spans more than 106 days (9,200,000 s): choose a time window or a larger rate_scale";

void check_options(const std::string& name, const TraceFormat& format, const TraceOptions& options) {
  const auto refuse = [&name](const std::string& message) { throw TraceError(Position{name}, message); };
  if (!std::isfinite(options.rate_scale) || options.rate_scale <= 0) {
    refuse(fmt::format("expected a rate_scale above 0, found {}", options.rate_scale));
  }
  if (options.rate && (!std::isfinite(options.rate->count()) || options.rate->count() <= 0)) {
    refuse(fmt::format("expected a request rate above 0, found {}", options.rate->count()));
  }
  if (options.rate && format.has_times) {
    refuse("the trace has its own arrival times: use rate_scale instead of a rate");
  }
  if (!options.rate && !format.has_times) {
    refuse("the trace has lengths but no arrival times: give a request rate for it");
  }
  if (options.window_start && *options.window_start < Duration(0)) {
    refuse("expected a time window that starts at 0 or later");
  }
  if (options.window_end && *options.window_end <= options.window_start.value_or(Duration(0))) {
    refuse("expected a time window that ends after its start");
  }
  if (options.limit && *options.limit < 1) {
    refuse(fmt::format("expected a limit of at least 1 request, found {}", *options.limit));
  }
  if (options.max_new && (options.max_new->count() < 1 || options.max_new->count() > kMostTokens)) {
    refuse(fmt::format("expected max_new from 1 to {}, found {}", kMostTokens, options.max_new->count()));
  }
}

class TraceReader final : public TraceWorkload {
 public:
  TraceReader(TraceRows rows, const TraceOptions& options)
      : rows_(std::move(rows)),
        options_(options),
        has_times_(rows_.format().has_times),
        is_sorted_(options.sort && has_times_),
        bad_lines_(options.skip_bad_lines),
        scaler_(options.rate_scale),
        arrivals_(options.seed, "workload/arrivals") {
    if (is_sorted_) {
      read_sorted();
    }
  }

  std::optional<TimePoint> next_arrival() override {
    if (!has_next_ && !is_finished_) {
      has_next_ = fetch();
      is_finished_ = !has_next_;
    }
    return has_next_ ? std::optional(next_.arrival) : std::nullopt;
  }

  void take(Request& request) override {
    INFEROMETER_CHECK(next_arrival().has_value(), "a request is taken only when there is one");
    std::swap(request, next_);
    has_next_ = false;
  }

  [[nodiscard]] std::int64_t skipped_lines() const override { return bad_lines_.count(); }
  [[nodiscard]] const std::vector<std::string>& skipped_messages() const override {
    return bad_lines_.messages();
  }
  [[nodiscard]] const std::string& format() const override { return rows_.format().name; }
  [[nodiscard]] std::int64_t hash_block_tokens() const override { return rows_.format().hash_block_tokens; }

 private:
  void read_sorted() {
    TraceRow row;
    while (rows_.next(row, bad_lines_)) {
      sorted_.push_back(std::move(row));
    }
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [](const TraceRow& a, const TraceRow& b) { return a.time < b.time; });
  }

  bool next_row() {
    if (!is_sorted_) {
      return rows_.next(row_, bad_lines_);
    }
    if (sorted_taken_ == sorted_.size()) {
      return false;
    }
    row_ = std::move(sorted_[sorted_taken_++]);
    return true;
  }

  // Makes `next_` the next request of the window; false when there is none.
  bool fetch() {
    if (options_.limit && produced_ == *options_.limit) {
      return false;
    }
    Duration time;
    while (next_row()) {
      if (!trace_time(time)) {
        continue;
      }
      if (options_.window_end && time >= *options_.window_end) {
        return false;
      }
      if (!options_.window_start || time >= *options_.window_start) {
        fill_request(time - options_.window_start.value_or(Duration(0)));
        return true;
      }
    }
    return false;
  }

  // Time of `row_` since the first row; false when the row is left out for going back.
  bool trace_time(Duration& time) {
    if (!has_times_) {
      time = drawn_time();
      return true;
    }
    if (!origin_) {
      origin_ = last_ = row_.time;
    }
    if (row_.time < last_) {
      bad_lines_.report(
          rows_.where_time(),
          fmt::format("expected a time not before the line above, found one {} s earlier; put the trace in "
                      "order with inferometer workload convert --sort",
                      decimal_text(static_cast<std::int64_t>(std::min(last_ - row_.time, kLongest)),
                                   kPicosecondDigits)));
      return false;
    }
    last_ = row_.time;
    time = Duration(narrowed(row_.time - *origin_));
    return true;
  }

  [[nodiscard]] std::int64_t narrowed(WidePicoseconds span) const {
    if (span > kLongest) {
      throw TraceError(rows_.where(), kTooLong);
    }
    return static_cast<std::int64_t>(span);
  }

  Duration drawn_time() {
    const double gap_seconds = arrivals_.exponential() / options_.rate->count();
    if (gap_seconds + to_seconds(drawn_) >= kLongestSeconds) {
      throw TraceError(rows_.where(), kDrawnTooLong);
    }
    drawn_ += duration_from_seconds(gap_seconds);
    return drawn_;
  }

  [[nodiscard]] Duration scaled(Duration time) const {
    const std::optional<Duration> arrival = scaler_.divide(time);
    if (!arrival) {
      throw TraceError(rows_.where(), kTooLong);
    }
    return *arrival;
  }

  void fill_request(Duration time) {
    next_.arrival = TimePoint(scaler_.is_one() ? time : scaled(time));
    next_.id = produced_++;
    next_.prompt = TokenCount(row_.prompt_tokens);
    next_.output = TokenCount(row_.output_tokens);
    next_.max_new = TokenCount(row_.max_new_tokens.value_or(row_.output_tokens));
    if (options_.max_new) {
      next_.max_new = std::max(*options_.max_new, next_.output);
    }
    next_.session = row_.session;
    next_.service_class = row_.service_class;
    next_.block_hashes.swap(row_.block_hashes);
    has_next_ = true;
  }

  TraceRows rows_;
  TraceOptions options_;
  bool has_times_;
  bool is_sorted_;
  BadLines bad_lines_;
  RateScaler scaler_;
  RandomStream arrivals_;
  TraceRow row_;
  std::vector<TraceRow> sorted_;
  std::size_t sorted_taken_ = 0;
  std::optional<WidePicoseconds> origin_;
  WidePicoseconds last_ = 0;
  Duration drawn_;
  Request next_;
  bool has_next_ = false;
  bool is_finished_ = false;
  std::int64_t produced_ = 0;
};

}  // namespace

std::unique_ptr<TraceWorkload> open_trace(TraceRows rows, const TraceOptions& options) {
  check_options(rows.where().file, rows.format(), options);
  return std::make_unique<TraceReader>(std::move(rows), options);
}

std::unique_ptr<TraceWorkload> open_trace(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                          const TraceOptions& options) {
  return open_trace(TraceRows(LineSource(std::move(bytes), name)), options);
}

std::unique_ptr<TraceWorkload> open_trace(const std::string& path, const TraceOptions& options) {
  return open_trace(open_bytes(path), path, options);
}

std::vector<TraceFormatSummary> trace_format_summaries() {
  std::vector<TraceFormatSummary> summaries;
  for (const TraceFormat& format : trace_formats().entries()) {
    summaries.push_back({format.name, format.looks_like});
  }
  return summaries;
}

}  // namespace inferometer
