#include "costmodel/pipeline.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {
namespace {

/// `make_pricer`: of one stage on one tensor group.
template <class MakePricer>
std::vector<std::shared_ptr<const StepPricer>> for_each_stage(const ModelSpec& model,
                                                              const Parallelism& parallelism,
                                                              MakePricer make_pricer) {
  check_links(model, parallelism);
  std::vector<std::shared_ptr<const StepPricer>> pricers;
  Parallelism group = parallelism;
  group.pipeline = 1;
  for (const ModelSpec& stage : stages_of(model, parallelism.pipeline)) {
    pricers.push_back(make_pricer(stage, group));
  }
  return pricers;
}

}  // namespace

std::vector<std::shared_ptr<const StepPricer>> make_stage_pricers(const ModelSpec& model, const GpuSpec& gpu,
                                                                  const Parallelism& parallelism,
                                                                  const CostOptions& options,
                                                                  const PricerLimits& limits) {
  return for_each_stage(model, parallelism, [&](const ModelSpec& stage, const Parallelism& group) {
    return make_step_pricer(stage, gpu, group, options, limits);
  });
}

std::vector<std::shared_ptr<const StepPricer>> make_calibrated_stage_pricers(
    const ModelSpec& model, const GpuSpec& gpu, const KernelProfile& kernels, const Profile& fallback,
    const Parallelism& parallelism, const CostOptions& options, const PricerLimits& limits) {
  return for_each_stage(model, parallelism, [&](const ModelSpec& stage, const Parallelism& group) {
    return make_calibrated_pricer(stage, gpu, kernels, fallback, group, options, limits);
  });
}

CostBasis basis_of_stages(std::span<const std::shared_ptr<const StepPricer>> stages) {
  INFEROMETER_CHECK(!stages.empty(), "a model has at least one stage");
  CostBasis all = stages.front()->basis();
  for (const auto& stage : stages.subspan(1)) {
    for (const std::string& note : stage->basis().notes) {
      if (std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end()) {
        all.notes.push_back(note);
      }
    }
    for (const Extrapolation& beyond : stage->basis().extrapolations) {
      const auto same = std::find_if(all.extrapolations.begin(), all.extrapolations.end(),
                                     [&beyond](const Extrapolation& other) {
                                       return other.kernel == beyond.kernel && other.axis == beyond.axis &&
                                              other.measured == beyond.measured;
                                     });
      if (same == all.extrapolations.end()) {
        all.extrapolations.push_back(beyond);
      } else if (beyond.factor() > same->factor()) {
        *same = beyond;
      }
    }
  }
  return all;
}

}  // namespace inferometer
