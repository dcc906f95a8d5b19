#include "sim/validation/predict/lone_requests.hpp"

#include <algorithm>

#include "base/quantile.hpp"

namespace inferometer {

std::optional<double> median_lone_ttft(std::vector<Stay> stays) {
  if (stays.empty()) {
    return std::nullopt;
  }
  std::stable_sort(stays.begin(), stays.end(),
                   [](const Stay& a, const Stay& b) { return a.arrival < b.arrival; });
  std::vector<double> ttfts;
  double last_finish = stays.front().arrival;
  for (const Stay& stay : stays) {
    if (stay.arrival >= last_finish) {
      ttfts.push_back(stay.first_token - stay.arrival);
    }
    last_finish = std::max(last_finish, stay.finished);
  }
  std::sort(ttfts.begin(), ttfts.end());
  return quantile(ttfts, 0.5);
}

}  // namespace inferometer
