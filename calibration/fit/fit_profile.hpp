#pragma once

// From measurements to a profile. Who uses it: `inferometer calibrate fit`.

#include <functional>
#include <string>
#include <vector>

#include "calibration/record/measurement.hpp"
#include "costmodel/kernels/kernel_profile.hpp"

namespace inferometer {

/// One family of another library that a profile takes in: collectives of NCCL beside the kernels of vLLM.
struct BorrowedFamily {
  std::string library;
  KernelFamily family;
};

/// What the profile is to be.
struct ProfileRequest {
  std::string gpu;      ///< empty: the only one that was measured
  std::string library;  ///< empty: the only one that was measured, but for borrowed families
  std::vector<BorrowedFamily> borrowed;
  std::string date;    ///< ISO
  std::string notice;  ///< licence of the measurements
  int folds = 5;       ///< of the cross-validation behind the errors, >= 2
};

/// Called before each fit with its family, variant and number of points.
using FitProgress = std::function<void(KernelFamily, const std::string&, std::size_t)>;

/// Throws ConfigError when the measurements are of several GPUs or libraries and the request does not choose,
/// or when nothing is left to fit. Deterministic.
KernelProfile fit_profile(const std::vector<Measurements>& measured, const ProfileRequest& request,
                          const FitProgress& progress);

}  // namespace inferometer
