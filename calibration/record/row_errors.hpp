#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace inferometer {

/// The mistakes of one file of measurements: the first kMostShown with their places, and how many more there
/// are, so that a table with the wrong column everywhere stays readable.
class RowErrors {
 public:
  static constexpr std::int64_t kMostShown = 20;

  void add(Position where, std::string message);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Throws ConfigError with what was found, in order of place; does nothing when there was nothing.
  void throw_if_any(const std::string& file) const;

 private:
  Diagnostics shown_;
  std::int64_t count_ = 0;
};

}  // namespace inferometer
