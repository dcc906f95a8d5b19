#pragma once

// Calls by which two profiles are compared. Who uses it: comparison.hpp.

#include <string>
#include <vector>

#include "costmodel/kernels/kernel_call.hpp"

namespace inferometer {

/// What the layers of well-known models ask of kernels of a family and variant, from one decoding sequence to
/// full prefills, whether a profile reaches so far or not. The same list every time, sizes ascending.
std::vector<KernelCall> representative_calls(KernelFamily family, const std::string& variant);

}  // namespace inferometer
