#include "calibration/record/row_errors.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace inferometer {

void RowErrors::add(Position where, std::string message) {
  if (++count_ <= kMostShown) {
    shown_.add(std::move(where), std::move(message));
  }
}

void RowErrors::throw_if_any(const std::string& file) const {
  if (count_ == 0) {
    return;
  }
  std::vector<Diagnostic> found = shown_.found();
  if (count_ > kMostShown) {
    found.push_back({Position{file, 0, 0}, fmt::format("and {} more mistakes", count_ - kMostShown)});
  }
  throw ConfigError(std::move(found));
}

}  // namespace inferometer
