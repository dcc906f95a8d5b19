#include "workloads/service_classes.hpp"

#include <utility>

#include "base/check.hpp"

namespace inferometer {

ServiceClasses::ServiceClasses(std::vector<ServiceClass> classes, std::uint64_t seed)
    : classes_(std::move(classes)), stream_(seed, "workload/class") {
  INFEROMETER_CHECK(!classes_.empty(), "there is a class");
  for (const ServiceClass& service_class : classes_) {
    total_ += service_class.share;
  }
}

ServiceClasses::Choice ServiceClasses::next() {
  double left = stream_.uniform() * total_;
  std::size_t chosen = 0;
  while (chosen + 1 < classes_.size() && left >= classes_[chosen].share) {
    left -= classes_[chosen].share;
    ++chosen;
  }
  return {static_cast<std::int32_t>(chosen), classes_[chosen].priority};
}

}  // namespace inferometer
