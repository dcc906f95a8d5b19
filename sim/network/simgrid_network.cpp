#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "sim/network/simgrid_engine.hpp"

namespace inferometer {
namespace {

/// One pair of ranks under way.
struct Course {
  std::uint32_t transfer = 0;
  Flow flow;
  TimePoint begin;       ///< of its bytes
  bool running = false;  ///< in SimGrid
};

/// Set-up and latency are waited for here: SimGrid sees flows of bytes only, so that what a flow gets of a
/// link does not depend on its latency (in SimGrid it would: 1 / latency is its weight).
class SimgridNetwork final : public Network {
 public:
  explicit SimgridNetwork(const Platform& platform)
      : map_(platform), meter_(map_), engine_(map_), base_clock_(engine_.clock()) {}

  void start(TimePoint now, const Transfer& transfer) override {
    INFEROMETER_CHECK(!open_.contains(transfer.id), "an id stands for one transfer in flight");
    advance(now);
    const std::vector<Flow> flows = map_.flows(transfer);
    std::vector<std::uint64_t>& tokens = open_[transfer.id];
    for (const Flow& flow : flows) {
      const std::uint64_t token = next_token_++;
      tokens.push_back(token);
      courses_.emplace(token, Course{transfer.id, flow, now + flow.delay});
      waiting_.emplace(now + flow.delay, token);
    }
    begin_due();
  }

  void cancel(TimePoint now, std::uint32_t id) override {
    advance(now);
    const auto found = open_.find(id);
    INFEROMETER_CHECK(found != open_.end(), "only a transfer in flight is cancelled");
    std::vector<std::uint64_t> running;
    for (const std::uint64_t token : found->second) {
      const auto course = courses_.find(token);
      if (course == courses_.end()) {
        continue;  // this pair is done
      }
      if (course->second.running) {
        meter_.add(course->second.flow, engine_.share_done(token));
        running.push_back(token);
      } else {
        waiting_.erase({course->second.begin, token});
      }
      courses_.erase(course);
    }
    engine_.cancel(running);
    settle();
    open_.erase(found);
    std::erase(untold_, id);
  }

  std::optional<TimePoint> next_end() override { return untold_.empty() ? next_change() : now_; }

  std::span<const std::uint32_t> ended(TimePoint now) override {
    advance(now);
    told_ = std::exchange(untold_, {});
    std::sort(told_.begin(), told_.end());
    for (const std::uint32_t id : told_) {
      open_.erase(id);
    }
    return told_;
  }

  /// As of the last other call.
  [[nodiscard]] std::vector<LinkUse> link_use(TimePoint end) const override {
    LinkMeter meter = meter_;
    for (const auto& [token, course] : courses_) {
      if (course.running) {
        meter.add(course.flow, engine_.share_done(token));
      }
    }
    return meter.use(end);
  }

 private:
  [[nodiscard]] double clock_at(TimePoint time) const { return base_clock_ + to_seconds(time - base_time_); }

  /// Rounded up, but not for what the sums of doubles add.
  [[nodiscard]] TimePoint time_at(double clock) const {
    constexpr double kRoundings = 4;
    const double ulp = std::nextafter(clock, std::numeric_limits<double>::infinity()) - clock;
    const double elapsed_s = std::max(0.0, clock - base_clock_ - kRoundings * ulp);
    if (elapsed_s >= to_seconds(kEndOfTransfers - base_time_)) {
      return kEndOfTransfers;
    }
    return std::max(now_, base_time_ + duration_from_seconds(elapsed_s));
  }

  /// When a pair of ranks begins to send or has sent all.
  std::optional<TimePoint> next_change() {
    std::optional<TimePoint> next;
    if (const std::optional<double> clock = engine_.next_end()) {
      next = time_at(*clock);
    }
    if (!waiting_.empty() && (!next || waiting_.begin()->first < *next)) {
      next = waiting_.begin()->first;
    }
    return next;
  }

  /// Every change up to `time`, one after the other, then the time itself.
  void advance(TimePoint time) {
    INFEROMETER_CHECK(time >= now_, "time does not go back");
    if (time == now_) {
      return;
    }
    for (std::optional<TimePoint> next = next_change(); next && *next <= time; next = next_change()) {
      move_to(*next);
      begin_due();
    }
    move_to(time);
  }

  void move_to(TimePoint time) {
    now_ = time;
    if (engine_.idle()) {
      // SimGrid's clock stands still, so that its doubles stay small.
      base_time_ = time;
      base_clock_ = engine_.clock();
      return;
    }
    // The end of a flow may be a rounding later than the time that stands for it.
    const std::optional<double> end = engine_.next_end();
    const bool ends = end && time_at(*end) <= time;
    engine_.run_to(ends ? std::max(*end, clock_at(time)) : clock_at(time));
    settle();
  }

  void begin_due() {
    while (!waiting_.empty() && waiting_.begin()->first <= now_) {
      const std::uint64_t token = waiting_.begin()->second;
      waiting_.erase(waiting_.begin());
      Course& course = courses_.at(token);
      if (course.flow.from == course.flow.to) {
        finish(token);
      } else {
        course.running = true;
        engine_.start(token, course.flow);
      }
    }
  }

  /// Takes over what SimGrid says has ended.
  void settle() {
    for (const std::uint64_t token : engine_.take_ended()) {
      meter_.add(courses_.at(token).flow, 1);
      finish(token);
    }
  }

  void finish(std::uint64_t token) {
    const std::uint32_t id = courses_.at(token).transfer;
    courses_.erase(token);
    const std::vector<std::uint64_t>& tokens = open_.at(id);
    if (std::none_of(tokens.begin(), tokens.end(),
                     [this](std::uint64_t other) { return courses_.contains(other); })) {
      untold_.push_back(id);
    }
  }

  LinkMap map_;
  LinkMeter meter_;
  SimgridEngine engine_;
  TimePoint now_, base_time_;  ///< base_time_ is when SimGrid's clock showed base_clock_
  double base_clock_;
  std::uint64_t next_token_ = 0;
  std::map<std::uint64_t, Course> courses_;  ///< by token: not done
  std::set<std::pair<TimePoint, std::uint64_t>> waiting_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> open_;  ///< tokens of each transfer in flight
  std::vector<std::uint32_t> untold_, told_;
};

}  // namespace

std::unique_ptr<Network> make_simgrid_network(const Platform& platform) {
  return std::make_unique<SimgridNetwork>(platform);
}

bool has_simgrid() {
  return true;
}

}  // namespace inferometer
