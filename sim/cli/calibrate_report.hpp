#pragma once

// What `inferometer calibrate fit` and `validate` print.

#include <string>

#include "calibration/fit/validation.hpp"
#include "costmodel/kernels/kernel_profile.hpp"

namespace inferometer {

/// The date of a profile that is fitted now, in UTC: "2026-11-30".
std::string today();

/// The fits of a profile: range, roofline constants and held-out errors by region.
std::string profile_text(const KernelProfile& profile);

/// A table of errors by family, variant and region.
std::string validation_table(const Validation& validation);

/// That table, a chart of each family and variant, the notes.
std::string validation_text(const Validation& validation);

}  // namespace inferometer
