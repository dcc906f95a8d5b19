#pragma once

// Times of a step's operators from a profile of measured kernels. Who uses it: the calibrated step pricer
// when it is built, and `inferometer roofline`. An operator that the profile has no fit of gets the time of
// the roofline.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// The fit that prices a kernel, and in whose name it was measured.
struct ChosenFit {
  const KernelFit* fit = nullptr;  ///< none: the roofline prices it
  std::string measured_variant;    ///< "bf16" for a format that was not measured and is scaled from it
  bool is_scaled = false;
};

/// Each part rounded up to a picosecond. Throws ConfigError for more than a step may take.
RoofTimes rounded(const RooflineParts& parts);

class CalibratedKernels {
 public:
  /// `kernels`, `gpu` and `fallback` outlive this object. `resample`: draws the factors of one of the runs
  /// behind an uncertainty interval from the profile's errors.
  CalibratedKernels(const KernelProfile& kernels, const GpuSpec& gpu, const Roofline& fallback,
                    std::optional<std::uint64_t> resample);

  /// One run of the operator. Attention by its own shape: the pricer takes its correction at knots and runs
  /// straight between them (calibrated_decode.hpp, calibrated_prefill.hpp); at knots both are equal.
  [[nodiscard]] RoofTimes time(const Operator& work) const;

  /// Whether the operator lies outside of what was measured, or in a format that was not, or goes over links
  /// that nobody measured.
  [[nodiscard]] bool is_extrapolated(const Operator& work) const;
  [[nodiscard]] static bool is_extrapolated(const ChosenFit& chosen, const KernelCall& call);

  /// The axes in which an operator lies outside of what was measured. None are: elementwise operators, of
  /// whose fits only start-up and bandwidth are taken; attention over fewer keys than the fewest measured,
  /// which is hardly more than its start-up; the batch of prefill attention, which is not one of sequences
  /// but of the prompts that would be as much work.
  [[nodiscard]] std::vector<Extrapolation> extrapolations(const Operator& work) const;

  [[nodiscard]] ChosenFit choose(const KernelCall& call) const;

  /// Seconds of a call by parts: the roofline of the call's own format, times the correction measured for the
  /// chosen format. Precondition: chosen.fit.
  [[nodiscard]] RooflineParts parts(std::string_view operator_name, const ChosenFit& chosen,
                                    const KernelCall& call) const;

  /// log of the correction of a call and of its factor. Precondition: chosen.fit.
  [[nodiscard]] double correction(std::string_view operator_name, const ChosenFit& chosen,
                                  const KernelCall& call) const;

  /// Seconds of an operator whose call stands for a measured one that does other work: its own FLOPs and
  /// bytes by the constants of the fit, times the correction. So are chunks of prompts, and experts, which
  /// are reached otherwise in a step than in a benchmark (kernels/expert_load.hpp). Precondition: chosen.fit.
  [[nodiscard]] RooflineParts own_parts(const Operator& work, const ChosenFit& chosen,
                                        double log_correction) const;

  [[nodiscard]] const GpuSpec& gpu() const { return gpu_; }
  [[nodiscard]] const std::string& library() const { return kernels_.library; }

 private:
  /// Start-up that attention does not pay in the kernel of another: at most what the shortest takes in all.
  [[nodiscard]] double launch_s(std::string_view operator_name, const ChosenFit& chosen,
                                KernelCall call) const;

  /// log of the factor by which a resampled run takes longer.
  [[nodiscard]] double resampled(std::string_view operator_name, const KernelFit& fit,
                                 const KernelCall& call) const;

  const KernelProfile& kernels_;
  const GpuSpec& gpu_;
  const Roofline& fallback_;
  std::optional<std::uint64_t> resample_;
};

}  // namespace inferometer
