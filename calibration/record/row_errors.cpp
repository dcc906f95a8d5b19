#include "calibration/record/row_errors.hpp"

#include <algorithm>
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
  std::stable_sort(found.begin(), found.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
  if (count_ > kMostShown) {
    found.push_back({Position{file, 0, 0}, fmt::format("and {} more mistakes", count_ - kMostShown)});
  }
  throw ConfigError(std::move(found));
}

}  // namespace inferometer
