#pragma once

#include <string>

namespace inferometer {

/// What is wrong with a line; column counts from 1, 0 = the whole line.
struct LineError {
  int column = 0;
  std::string message;
};

}  // namespace inferometer
