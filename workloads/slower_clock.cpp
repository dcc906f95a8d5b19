#include "workloads/slower_clock.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/int128.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

class SlowerClock final : public Workload {
 public:
  SlowerClock(std::unique_ptr<Workload> clients, std::int64_t millionths)
      : clients_(std::move(clients)), millionths_(millionths) {}

  std::optional<TimePoint> next_arrival() override {
    const std::optional<TimePoint> next = clients_->next_arrival();
    return next ? std::optional(by_system(*next)) : std::nullopt;
  }

  void take(Request& request) override {
    clients_->take(request);
    request.arrival = by_system(request.arrival);
  }

  // Rounded up, so that what a client sends thereupon does not arrive before.
  void finished(std::int64_t id, TimePoint now) override {
    const Int128 product = static_cast<Int128>(now.since_start().count()) * millionths_ + kMillion - 1;
    clients_->finished(id, TimePoint(Duration(static_cast<std::int64_t>(product / kMillion))));
  }

  [[nodiscard]] std::optional<Duration> delay() const override { return clients_->delay(); }
  [[nodiscard]] std::optional<std::int64_t> size_hint() const override { return clients_->size_hint(); }

 private:
  [[nodiscard]] TimePoint by_system(TimePoint time) const {
    const Int128 product = static_cast<Int128>(time.since_start().count()) * kMillion;
    return TimePoint(Duration(static_cast<std::int64_t>(product / millionths_)));
  }

  std::unique_ptr<Workload> clients_;
  std::int64_t millionths_;
};

}  // namespace

std::unique_ptr<Workload> before_slower_clock(std::unique_ptr<Workload> workload, std::int64_t millionths) {
  INFEROMETER_CHECK(millionths > 0, "clocks go forward");
  return std::make_unique<SlowerClock>(std::move(workload), millionths);
}

}  // namespace inferometer
