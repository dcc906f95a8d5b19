#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "sim/network/link_map.hpp"

namespace inferometer {
namespace {

/// One pair of ranks under way.
struct Course {
  Flow flow;
  TimePoint begin, end;  ///< of its bytes
};

struct InFlight {
  TimePoint end;
  std::vector<Course> courses;
};

double share_done(const Course& course, TimePoint now) {
  if (now >= course.end) {
    return 1;
  }
  return now <= course.begin ? 0 : to_seconds(now - course.begin) / to_seconds(course.end - course.begin);
}

class IdealNetwork final : public Network {
 public:
  explicit IdealNetwork(const Platform& platform)
      : map_(platform), meter_(map_), loads_(map_.links().size()) {}

  void start(TimePoint now, const Transfer& transfer) override {
    INFEROMETER_CHECK(!in_flight_.contains(transfer.id), "an id stands for one transfer in flight");
    InFlight started{now, {}};
    const std::vector<Flow> flows = map_.flows(transfer);
    for (const Flow& flow : flows) {
      for (const std::int32_t link : map_.path(flow)) {
        loads_[static_cast<std::size_t>(link)] = 0;  // of an earlier transfer
      }
    }
    for (const Flow& flow : flows) {
      for (const std::int32_t link : map_.path(flow)) {
        loads_[static_cast<std::size_t>(link)] += static_cast<double>(flow.wire.count());
      }
    }
    for (const Flow& flow : flows) {
      const TimePoint begin = now + flow.delay;
      const Course course{flow, begin, end_of(flow, begin)};
      started.end = std::max(started.end, course.end);
      started.courses.push_back(course);
    }
    ends_.emplace(started.end, transfer.id);
    in_flight_.emplace(transfer.id, std::move(started));
  }

  void cancel(TimePoint now, std::uint32_t id) override {
    const auto found = in_flight_.find(id);
    INFEROMETER_CHECK(found != in_flight_.end(), "only a transfer in flight is cancelled");
    leave(now, found);
  }

  std::optional<TimePoint> next_end() override {
    return ends_.empty() ? std::nullopt : std::optional(ends_.begin()->first);
  }

  std::span<const std::uint32_t> ended(TimePoint now) override {
    told_.clear();
    while (!ends_.empty() && ends_.begin()->first <= now) {
      told_.push_back(ends_.begin()->second);
      leave(now, in_flight_.find(told_.back()));
    }
    return told_;
  }

  [[nodiscard]] std::vector<LinkUse> link_use(TimePoint end) const override {
    LinkMeter meter = meter_;
    for (const auto& [id, transfer] : in_flight_) {
      for (const Course& course : transfer.courses) {
        meter.add(course.flow, share_done(course, end));
      }
    }
    return meter.use(end);
  }

 private:
  /// Pairs of a transfer carry the same, so that those of the busiest link get equal parts of it from their
  /// first byte to their last.
  TimePoint end_of(const Flow& flow, TimePoint begin) const {
    double seconds = 0;
    for (const std::int32_t link : map_.path(flow)) {
      const auto place = static_cast<std::size_t>(link);
      seconds = std::max(seconds, loads_[place] / map_.links()[place].capacity.count());
    }
    return seconds < to_seconds(kEndOfTransfers - begin) ? begin + duration_from_seconds(seconds)
                                                         : kEndOfTransfers;
  }

  void leave(TimePoint now, std::map<std::uint32_t, InFlight>::iterator transfer) {
    for (const Course& course : transfer->second.courses) {
      meter_.add(course.flow, share_done(course, now));
    }
    ends_.erase({transfer->second.end, transfer->first});
    in_flight_.erase(transfer);
  }

  LinkMap map_;
  LinkMeter meter_;
  std::vector<double> loads_;  // bytes that the pairs of the latest transfer bring to the links on their way
  std::map<std::uint32_t, InFlight> in_flight_;
  std::set<std::pair<TimePoint, std::uint32_t>> ends_;
  std::vector<std::uint32_t> told_;
};

}  // namespace

std::unique_ptr<Network> make_ideal_network(const Platform& platform) {
  return std::make_unique<IdealNetwork>(platform);
}

}  // namespace inferometer
