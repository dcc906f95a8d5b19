#include "calibration/measure/open_device.hpp"

#include <array>

#include "base/error.hpp"
#include "base/loadable_module.hpp"
#include "calibration/measure/device_module.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kErrorBytes = 1024;

constexpr LoadableModule kModule{
    .file = kDeviceModuleFile,
    .variable = "INFEROMETER_CUDA_MODULE",
    .name = "CUDA module",
    .absent = "this build has no CUDA, so it cannot run kernels",
    .how_to_have = "build where nvcc is found",
};

}  // namespace

std::unique_ptr<KernelDevice> open_device(int index, KernelProvider provider) {
  const auto open = reinterpret_cast<OpenDeviceFunction>(module_function(kModule, kOpenDeviceSymbol));
  std::array<char, kErrorBytes> error{};
  std::unique_ptr<KernelDevice> device(
      open(kDeviceModuleInterface, index, provider, error.data(), error.size()));
  if (!device) {
    throw ConfigError(Position{}, error.data());
  }
  return device;
}

}  // namespace inferometer
