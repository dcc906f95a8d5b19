// Feeds bytes to the readers of activity logs and of their phases: the first byte chooses. Whatever the bytes
// are, reading ends with figures that are shares and phases that add up, or with an InputError.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "calibration/activity/activity_summary.hpp"

namespace {

constexpr std::string_view kHeader = "#Entity   SMACT        DRAMA\n";
constexpr std::string_view kPhasesHeader = "start_s,end_s,name\n";
constexpr double kPeriodSeconds = 0.1;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void check(const inferometer::GpuActivity& gpu) {
  std::int64_t samples = 0;
  for (const inferometer::PhaseActivity& phase : gpu.phases) {
    for (const inferometer::ActivitySpread& spread : {phase.sm, phase.dram}) {
      require(spread.p10 >= 0 && spread.p10 <= spread.p50 && spread.p50 <= spread.p90 &&
              spread.p90 <= inferometer::kMostActivity);
    }
    samples += phase.phase == inferometer::kAllPhases ? 0 : phase.samples;
  }
  require(gpu.phases.empty() || samples == gpu.phases.front().samples);
}

void read_log(const std::string& text) {
  inferometer::LineSource lines(inferometer::bytes_in_memory(text), "log");
  const inferometer::ActivityLog log = inferometer::read_activity_log(lines);
  for (const inferometer::GpuActivity& gpu : inferometer::summarize_activity(log.gpus, {})) {
    check(gpu);
  }
}

void read_phases(const std::string& text) {
  inferometer::LineSource lines(inferometer::bytes_in_memory(text), "phases");
  const std::vector<inferometer::PhaseWindow> windows = inferometer::read_phase_windows(lines);
  double end_s = 0;
  for (const inferometer::PhaseWindow& window : windows) {
    require(window.start_s >= end_s && window.end_s > window.start_s);
    end_s = window.end_s;
  }
  inferometer::phase_of({0, 1, 1}, kPeriodSeconds, windows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 4) {
      case 0:
        read_log(text);
        break;
      case 1:
        read_log(std::string(kHeader) + text);
        break;
      case 2:
        read_phases(text);
        break;
      default:
        read_phases(std::string(kPhasesHeader) + text);
    }
  } catch (const inferometer::InputError&) {
    return 0;
  }
  return 0;
}
