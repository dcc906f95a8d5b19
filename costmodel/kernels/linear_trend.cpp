#include "costmodel/kernels/linear_trend.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace inferometer {

double linear_trend(std::span<const double> slopes, const std::vector<std::vector<double>>& edges,
                    std::span<const double> features) {
  double sum = 0;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    if (!edges[i].empty()) {
      const double low = edges[i].front();
      const double high = edges[i].back();
      sum += slopes[i] * (std::clamp(features[i], low, high) - (low + high) / 2);
    }
  }
  return sum;
}

double largest_trend(std::span<const double> slopes, const std::vector<std::vector<double>>& edges) {
  double sum = 0;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    if (!edges[i].empty()) {
      sum += std::abs(slopes[i]) * (edges[i].back() - edges[i].front()) / 2;
    }
  }
  return sum;
}

}  // namespace inferometer
