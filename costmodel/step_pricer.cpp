#include "costmodel/step_pricer.hpp"

#include <cmath>

#include <fmt/format.h>

#include "hardware/profile.hpp"

namespace inferometer {

std::string to_text(const Extrapolation& beyond) {
  const bool above = beyond.value > beyond.measured;
  const std::string how_far =
      std::isfinite(beyond.factor()) ? fmt::format("{:.2g} times ", beyond.factor()) : std::string();
  return fmt::format("{} with {} = {:.0f}, {}{} the {} measured ({:.0f})", beyond.kernel, beyond.axis,
                     beyond.value, how_far, above ? "above" : "below", above ? "largest" : "smallest",
                     beyond.measured);
}

std::unique_ptr<StepPricer> make_step_pricer(const ModelSpec& model, const GpuSpec& gpu,
                                             const Parallelism& parallelism, const CostOptions& options,
                                             const PricerLimits& limits) {
  const Profile profile = load_profile(gpu.name);
  if (options.level == CostLevel::calibrated) {
    if (const auto kernels = kernel_profile(gpu.name, options)) {
      return make_calibrated_pricer(model, gpu, *kernels, profile, parallelism, options, limits);
    }
  }
  return make_roofline_pricer(model, gpu, profile, parallelism, options, limits);
}

}  // namespace inferometer
