#pragma once

// Prices of a model that is spread over the stages of a pipeline: a pricer for each. Who uses it: deployments
// of replicas with more than one stage. Micro-batches pass the stages one after the other, as many at once as
// there are stages: a micro-batch takes the sum of the stages' prices and what it waits for, and a full
// pipeline ends one each time the slowest stage has done one (costmodel/parallelism.hpp says which layers are
// whose).

#include <memory>
#include <span>
#include <vector>

#include "costmodel/step_pricer.hpp"

namespace inferometer {

/// By stage: what its tensor group takes for a step, from what it gets of the stage before (gathered over the
/// tensor group) to the last byte that it sends to the next. Only the last stage has host time: it delays the
/// micro-batch by it, but holds no GPU of any stage; where host and GPU overlap, it hides behind this stage
/// alone. Everything else as of make_step_pricer(), which one stage is exactly. Together the stages cost what
/// the model costs on one, beside what they send and gather, and one picosecond a stage for each rounding of
/// attention, whose rates are rounded for all layers of a stage.
std::vector<std::shared_ptr<const StepPricer>> make_stage_pricers(const ModelSpec& model, const GpuSpec& gpu,
                                                                  const Parallelism& parallelism,
                                                                  const CostOptions& options,
                                                                  const PricerLimits& limits);

/// The same at level `calibrated` with given profiles.
std::vector<std::shared_ptr<const StepPricer>> make_calibrated_stage_pricers(
    const ModelSpec& model, const GpuSpec& gpu, const KernelProfile& kernels, const Profile& fallback,
    const Parallelism& parallelism, const CostOptions& options, const PricerLimits& limits);

/// What the prices of all stages stand on: each note, and for each kernel and end of a measured range the
/// farthest that any stage may go beyond it, once. Precondition: at least one stage.
CostBasis basis_of_stages(std::span<const std::shared_ptr<const StepPricer>> stages);

}  // namespace inferometer
