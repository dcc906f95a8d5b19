#include "sim/validation/host_fit/measured_latency.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/portable_math.hpp"

namespace inferometer {

std::vector<LatencyPlace> fitted_latencies(const std::vector<MeasuredRun>& runs, std::size_t run) {
  static constexpr std::array<std::array<std::string_view, 2>, 2> kPreferred = {
      {{"mean_tpot_ms", "mean_itl_ms"}, {kLoneTtft, "mean_ttft_ms"}}};
  const std::vector<MeasuredValue>& values = runs[run].values;
  std::vector<LatencyPlace> places;
  for (const auto& metrics : kPreferred) {
    for (const std::string_view metric : metrics) {
      const auto found = std::find_if(values.begin(), values.end(), [metric](const MeasuredValue& value) {
        return value.metric == metric;
      });
      if (found != values.end()) {
        places.push_back({run, static_cast<std::size_t>(found - values.begin())});
        break;
      }
    }
  }
  return places;
}

std::optional<double> log_error(const MeasuredRun& run, std::size_t value, const Prediction& prediction) {
  if (!prediction.failure.empty() || !prediction.values[value].value ||
      !(*prediction.values[value].value > 0)) {
    return std::nullopt;
  }
  return portable_log(*prediction.values[value].value / run.values[value].value);
}

}  // namespace inferometer
