#include "workloads/generated_workload.hpp"

#include <utility>

#include "base/check.hpp"

namespace inferometer {

namespace {

class GeneratedWorkload : public Workload {
 public:
  GeneratedWorkload(std::unique_ptr<ArrivalProcess> arrivals, RequestBodies bodies, std::int64_t requests)
      : arrivals_(std::move(arrivals)), bodies_(std::move(bodies)), requests_(requests) {
    prepare();
  }

  std::optional<TimePoint> next_arrival() override { return next_; }

  void take(Request& request) override {
    INFEROMETER_CHECK(next_.has_value(), "take() without a request");
    bodies_.fill(request, taken_, *next_);
    taken_ += 1;
    prepare();
  }

  [[nodiscard]] std::optional<std::int64_t> size_hint() const override { return requests_; }

 private:
  void prepare() { next_ = taken_ < requests_ ? std::optional<TimePoint>(arrivals_->next()) : std::nullopt; }

  std::unique_ptr<ArrivalProcess> arrivals_;
  RequestBodies bodies_;
  std::int64_t requests_;
  std::int64_t taken_ = 0;
  std::optional<TimePoint> next_;
};

}  // namespace

std::unique_ptr<Workload> make_generated_workload(std::unique_ptr<ArrivalProcess> arrivals,
                                                  RequestBodies bodies, std::int64_t requests) {
  return std::make_unique<GeneratedWorkload>(std::move(arrivals), std::move(bodies), requests);
}

}  // namespace inferometer
