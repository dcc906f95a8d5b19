#include "workloads/trace_reader.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/random.hpp"
#include "workloads/held_rows.hpp"
#include "workloads/rate_scaler.hpp"
#include "workloads/trace_fields.hpp"
#include "workloads/trace_rows.hpp"

namespace inferometer {
namespace {

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
  if (options.hash_block_tokens &&
      (*options.hash_block_tokens < 1 || *options.hash_block_tokens > kMostTokens)) {
    refuse(fmt::format("expected a block size from 1 to {} tokens, found {}", kMostTokens,
                       *options.hash_block_tokens));
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
        bad_lines_(options.skip_bad_lines),
        scaler_(options.rate_scale),
        arrivals_(options.seed, "workload/arrivals") {
    if (rows_.may_follow() || (options.sort && has_times_)) {
      held_.emplace(rows_, bad_lines_, options.sort && has_times_);
    }
  }

  std::optional<TimePoint> next_arrival() override {
    if (options_.limit && taken_ == *options_.limit) {
      return std::nullopt;
    }
    if (!next_ && !is_finished_) {
      is_finished_ = !fetch();
    }
    if (due_.empty()) {
      return next_;
    }
    return next_ ? std::min(*next_, due_.top().at) : due_.top().at;
  }

  void take(Request& request) override {
    const std::optional<TimePoint> now = next_arrival();
    INFEROMETER_CHECK(now.has_value(), "a request is taken only when there is one");
    std::int64_t row_number = row_number_of_next_;
    delay_.reset();
    if (next_ == now) {
      fill(row_, *now, request);
      next_.reset();
    } else {
      row_number = due_.top().row;
      delay_ = due_.top().delay;
      due_.pop();
      fill(held_->row(row_number), *now, request);
    }
    if (held_ && held_->follower(row_number) != HeldRows::kNone) {
      awaited_by_.emplace(request.id, held_->follower(row_number));
    }
  }

  void finished(std::int64_t id, TimePoint now) override {
    const auto found = awaited_by_.find(id);
    if (found == awaited_by_.end()) {
      return;
    }
    const Duration delay = scaled(Duration(narrowed(held_->row(found->second).time)));
    if (delay.count() > std::numeric_limits<std::int64_t>::max() - now.since_start().count()) {
      throw TraceError(Position{rows_.where().file}, kTooLong);
    }
    due_.push({now + delay, found->second, delay});
    awaited_by_.erase(found);
  }

  [[nodiscard]] std::optional<Duration> delay() const override { return delay_; }

  [[nodiscard]] std::int64_t skipped_lines() const override { return bad_lines_.count(); }
  [[nodiscard]] const std::vector<std::string>& skipped_messages() const override {
    return bad_lines_.messages();
  }
  [[nodiscard]] const std::string& format() const override { return rows_.format().name; }
  [[nodiscard]] std::int64_t hash_block_tokens() const override { return rows_.hash_block_tokens(); }

 private:
  /// A row whose wait for an answer is over, or soon will be.
  struct Due {
    TimePoint at;
    std::int64_t row;
    Duration delay;
    bool operator>(const Due& other) const { return std::tie(at, row) > std::tie(other.at, other.row); }
  };

  bool next_row() {
    if (!held_) {
      return rows_.next(row_, bad_lines_);
    }
    if (begun_ == held_->beginnings().size()) {
      return false;
    }
    row_number_of_next_ = held_->beginnings()[begun_++];
    std::swap(row_, held_->row(row_number_of_next_));
    return true;
  }

  // Finds the next row that begins something within the window; false when there is none.
  bool fetch() {
    Duration time;
    while (next_row()) {
      if (!trace_time(time)) {
        continue;
      }
      if (options_.window_end && time >= *options_.window_end) {
        return false;
      }
      if (!options_.window_start || time >= *options_.window_start) {
        next_ = TimePoint(scaled(time - options_.window_start.value_or(Duration(0))));
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
      bad_lines_.report(rows_.where_time(), back_in_time(last_ - row_.time));
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
    double gap_seconds = arrivals_.exponential() / options_.rate->count();
    if (held_) {  // the rate counts the rows that follow, too
      gap_seconds *= static_cast<double>(held_->size()) / static_cast<double>(held_->beginnings().size());
    }
    if (gap_seconds + to_seconds(drawn_) >= kLongestSeconds) {
      throw TraceError(rows_.where(), kDrawnTooLong);
    }
    drawn_ += duration_from_seconds(gap_seconds);
    return drawn_;
  }

  [[nodiscard]] Duration scaled(Duration time) const {
    if (scaler_.is_one()) {
      return time;
    }
    const std::optional<Duration> arrival = scaler_.divide(time);
    if (!arrival) {
      throw TraceError(rows_.where(), kTooLong);
    }
    return *arrival;
  }

  void fill(TraceRow& row, TimePoint arrival, Request& request) {
    request.arrival = arrival;
    request.id = taken_++;
    request.prompt = TokenCount(row.prompt_tokens);
    request.output = TokenCount(row.output_tokens);
    request.max_new = TokenCount(row.max_new_tokens.value_or(row.output_tokens));
    if (options_.max_new) {
      request.max_new = std::max(*options_.max_new, request.output);
    }
    request.session = row.session;
    request.service_class = row.service_class;
    request.priority = row.priority;
    request.content.swap(row.content);
    request.output_content = row.output_content;
  }

  TraceRows rows_;
  TraceOptions options_;
  bool has_times_;
  BadLines bad_lines_;
  RateScaler scaler_;
  RandomStream arrivals_;
  TraceRow row_;
  std::optional<TimePoint> next_;  ///< arrival of the request in `row_`
  bool is_finished_ = false;
  std::int64_t taken_ = 0;
  std::optional<WidePicoseconds> origin_;
  WidePicoseconds last_ = 0;
  Duration drawn_;

  // Of a trace that is held:
  std::optional<HeldRows> held_;
  std::size_t begun_ = 0;
  std::int64_t row_number_of_next_ = 0;
  std::unordered_map<std::int64_t, std::int64_t> awaited_by_;  ///< row by request; looked up, never walked
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::optional<Duration> delay_;
};

}  // namespace

std::unique_ptr<TraceWorkload> open_trace(TraceRows rows, const TraceOptions& options) {
  check_options(rows.where().file, rows.format(), options);
  if (options.hash_block_tokens) {
    rows.set_hash_block_tokens(*options.hash_block_tokens);
  }
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
