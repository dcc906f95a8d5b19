#pragma once

// Thrown while a call is prepared, caught by the device, which turns it into a Prepared. Who uses it: the
// runners and call_memory.hpp.

#include <stdexcept>
#include <string>

#include "calibration/measure/kernel_device.hpp"

namespace inferometer {

class NotPrepared : public std::runtime_error {
 public:
  NotPrepared(Prepared::Outcome outcome, const std::string& reason)
      : std::runtime_error(reason), outcome_(outcome) {}
  [[nodiscard]] Prepared::Outcome outcome() const { return outcome_; }

 private:
  Prepared::Outcome outcome_;
};

}  // namespace inferometer
