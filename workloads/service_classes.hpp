#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace inferometer {

/// A share of the requests that the service tells from the others.
struct ServiceClass {
  double share = 1;           ///< > 0, in any unit: relative to the other classes'
  std::int32_t priority = 0;  ///< as Request::priority
};

/// Which class each request is of, drawn from the stream "workload/class".
class ServiceClasses {
 public:
  /// Precondition: at least one.
  ServiceClasses(std::vector<ServiceClass> classes, std::uint64_t seed);

  struct Choice {
    std::int32_t service_class;  ///< place in the list, from 0
    std::int32_t priority;
  };
  Choice next();

 private:
  std::vector<ServiceClass> classes_;
  double total_ = 0;
  RandomStream stream_;
};

}  // namespace inferometer
