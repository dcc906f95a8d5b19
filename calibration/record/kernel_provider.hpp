#pragma once

// Whose kernels are measured on a GPU: ours, or another library's that ours are compared with. Who uses it:
// `calibrate run --provider`, the device and the sweep.

#include <optional>
#include <string_view>

namespace inferometer {

enum class KernelProvider {
  inferometer,  ///< every family
  cudnn,        ///< NVIDIA's fused attention: prefill attention in bf16
};

/// What the header of a record calls the library.
constexpr std::string_view to_string(KernelProvider provider) {
  return provider == KernelProvider::cudnn ? "cudnn" : "inferometer";
}

/// Nothing for a word that names no provider.
constexpr std::optional<KernelProvider> kernel_provider_from(std::string_view name) {
  for (const KernelProvider provider : {KernelProvider::inferometer, KernelProvider::cudnn}) {
    if (to_string(provider) == name) {
      return provider;
    }
  }
  return std::nullopt;
}

}  // namespace inferometer
