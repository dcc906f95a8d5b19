#pragma once

#include <initializer_list>
#include <string>

#include "tests/support/catch.hpp"

namespace inferometer {

/// Every part stands somewhere in the message.
inline void check_says(const std::string& message, std::initializer_list<std::string> parts) {
  INFO(message);
  for (const std::string& part : parts) {
    INFO(part);
    CHECK(message.find(part) != std::string::npos);
  }
}

}  // namespace inferometer
