#include "workloads/delayed_workload.hpp"

#include <utility>

#include "base/check.hpp"

namespace inferometer {
namespace {

class DelayedWorkload final : public Workload {
 public:
  DelayedWorkload(std::unique_ptr<Workload> sent, Duration delay) : sent_(std::move(sent)), delay_(delay) {}

  std::optional<TimePoint> next_arrival() override {
    const std::optional<TimePoint> next = sent_->next_arrival();
    return next ? std::optional(*next + delay_) : std::nullopt;
  }

  void take(Request& request) override {
    sent_->take(request);
    request.arrival = request.arrival + delay_;
  }

  void finished(std::int64_t id, TimePoint now) override { sent_->finished(id, now); }
  [[nodiscard]] std::optional<Duration> delay() const override { return sent_->delay(); }
  [[nodiscard]] std::optional<std::int64_t> size_hint() const override { return sent_->size_hint(); }

 private:
  std::unique_ptr<Workload> sent_;
  Duration delay_;
};

}  // namespace

std::unique_ptr<Workload> delayed(std::unique_ptr<Workload> workload, Duration delay) {
  INFEROMETER_CHECK(delay >= Duration(), "nothing arrives before it was sent");
  if (delay == Duration()) {
    return workload;
  }
  return std::make_unique<DelayedWorkload>(std::move(workload), delay);
}

}  // namespace inferometer
