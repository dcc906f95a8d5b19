#include "calibration/activity/activity_comparison.hpp"

#include <algorithm>
#include <string_view>

namespace inferometer {
namespace {

using Gpus = std::vector<GpuActivity>;

const GpuActivity* find_gpu(const Gpus& gpus, std::string_view name) {
  const auto found =
      std::find_if(gpus.begin(), gpus.end(), [&](const GpuActivity& gpu) { return gpu.name == name; });
  return found == gpus.end() ? nullptr : &*found;
}

std::optional<PhaseActivity> find_phase(const GpuActivity& gpu, std::string_view phase) {
  const auto found = std::find_if(gpu.phases.begin(), gpu.phases.end(),
                                  [&](const PhaseActivity& one) { return one.phase == phase; });
  return found == gpu.phases.end() ? std::nullopt : std::optional(*found);
}

void add_pairs(const GpuActivity& measured, const GpuActivity& simulated, ActivityComparison& comparison) {
  const std::string name =
      measured.name == simulated.name ? measured.name : measured.name + " / " + simulated.name;
  for (const PhaseActivity& phase : measured.phases) {
    comparison.pairs.push_back({name, phase.phase, phase, find_phase(simulated, phase.phase)});
  }
  for (const PhaseActivity& phase : simulated.phases) {
    if (!find_phase(measured, phase.phase)) {
      comparison.pairs.push_back({name, phase.phase, std::nullopt, phase});
    }
  }
}

}  // namespace

ActivityComparison compare_activity(const Gpus& measured, const Gpus& simulated) {
  ActivityComparison comparison;
  const bool by_name = std::any_of(measured.begin(), measured.end(), [&](const GpuActivity& gpu) {
    return find_gpu(simulated, gpu.name) != nullptr;
  });
  std::vector<const GpuActivity*> taken;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const GpuActivity* partner = by_name                ? find_gpu(simulated, measured[i].name)
                                 : i < simulated.size() ? &simulated[i]
                                                        : nullptr;
    if (partner == nullptr) {
      comparison.notes.push_back(measured[i].name + ": measured only");
    } else {
      taken.push_back(partner);
      add_pairs(measured[i], *partner, comparison);
    }
  }
  for (const GpuActivity& gpu : simulated) {
    if (std::find(taken.begin(), taken.end(), &gpu) == taken.end()) {
      comparison.notes.push_back(gpu.name + ": simulated only");
    }
  }
  return comparison;
}

}  // namespace inferometer
