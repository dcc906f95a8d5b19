#include <algorithm>
#include <map>
#include <set>
#include <utility>

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
  explicit IdealNetwork(const Platform& platform) : map_(platform), meter_(map_) {}

  void start(TimePoint now, const Transfer& transfer) override {
    INFEROMETER_CHECK(!in_flight_.contains(transfer.id), "an id stands for one transfer in flight");
    InFlight started{now, {}};
    for (const Flow& flow : map_.flows(transfer)) {
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
  TimePoint end_of(const Flow& flow, TimePoint begin) const {
    double seconds = 0;
    const std::vector<std::int32_t> path = map_.path(flow);
    for (std::size_t i = 0; i < path.size(); ++i) {
      double rate = map_.links()[static_cast<std::size_t>(path[i])].capacity.count();
      // Storage alone is divided among the ranks of a transfer: it is a figure of the node, not of a GPU.
      rate /= i == 0 ? static_cast<double>(flow.sharers) : 1.0;
      seconds = std::max(seconds, static_cast<double>(flow.wire.count()) / rate);
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
  std::map<std::uint32_t, InFlight> in_flight_;
  std::set<std::pair<TimePoint, std::uint32_t>> ends_;
  std::vector<std::uint32_t> told_;
};

}  // namespace

std::unique_ptr<Network> make_ideal_network(const Platform& platform) {
  return std::make_unique<IdealNetwork>(platform);
}

}  // namespace inferometer
