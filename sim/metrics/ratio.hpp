#pragma once

#include <optional>

namespace inferometer {

/// 0 of nothing.
inline double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

inline std::optional<double> optional_ratio(double part, double whole) {
  return whole > 0 ? std::optional<double>(part / whole) : std::nullopt;
}

}  // namespace inferometer
