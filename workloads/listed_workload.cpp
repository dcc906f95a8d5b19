#include "workloads/listed_workload.hpp"

#include <utility>

#include "base/check.hpp"

namespace inferometer {

namespace {

class ListedWorkload : public Workload {
 public:
  explicit ListedWorkload(std::shared_ptr<const std::vector<Request>> requests)
      : requests_(std::move(requests)) {}

  std::optional<TimePoint> next_arrival() override {
    return taken_ < requests_->size() ? std::optional((*requests_)[taken_].arrival) : std::nullopt;
  }

  void take(Request& request) override {
    INFEROMETER_CHECK(taken_ < requests_->size(), "take() without a request");
    request = (*requests_)[taken_];
    ++taken_;
  }

  [[nodiscard]] std::optional<std::int64_t> size_hint() const override {
    return static_cast<std::int64_t>(requests_->size());
  }

 private:
  std::shared_ptr<const std::vector<Request>> requests_;
  std::size_t taken_ = 0;
};

}  // namespace

std::unique_ptr<Workload> make_listed_workload(std::shared_ptr<const std::vector<Request>> requests) {
  return std::make_unique<ListedWorkload>(std::move(requests));
}

}  // namespace inferometer
