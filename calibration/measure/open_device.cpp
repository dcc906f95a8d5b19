#include "calibration/measure/open_device.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <dlfcn.h>

#include "base/error.hpp"
#include "calibration/measure/device_module.hpp"

namespace inferometer {
namespace {

constexpr const char* kModuleVariable = "INFEROMETER_CUDA_MODULE";
constexpr std::size_t kErrorBytes = 1024;

std::vector<std::filesystem::path> usual_places() {
  std::error_code unreadable;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  std::vector<std::filesystem::path> places;
  if (!unreadable) {
    const std::filesystem::path folder = program.parent_path();
    places.push_back(folder / kDeviceModuleFile);
    places.push_back(folder.parent_path() / INFEROMETER_LIBRARY_DIR / "inferometer" / kDeviceModuleFile);
  }
  return places;
}

std::filesystem::path module_path() {
  if (const char* chosen = std::getenv(kModuleVariable); chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  std::string tried;
  for (const std::filesystem::path& place : usual_places()) {
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(place, unreadable)) {
      return place;
    }
    tried += (tried.empty() ? "" : " or ") + place.string();
  }
  throw ConfigError(Position{}, "this build has no CUDA, so it cannot run kernels: there is no " + tried +
                                    "; build where nvcc is found, or set " + kModuleVariable +
                                    " to the module's file");
}

OpenDeviceFunction load_module(const std::filesystem::path& path) {
  // Local: the module has its own copies of our libraries, which must not mix with the program's.
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    const char* const why = dlerror();
    throw ConfigError(Position{}, "the CUDA module cannot be loaded: " +
                                      (why != nullptr ? std::string(why) : path.string()));
  }
  void* const function = dlsym(module, kOpenDeviceSymbol);
  if (function == nullptr) {
    throw ConfigError(Position{},
                      path.string() + " is no CUDA module of inferometer: it has no " + kOpenDeviceSymbol);
  }
  return reinterpret_cast<OpenDeviceFunction>(function);
}

}  // namespace

std::unique_ptr<KernelDevice> open_device(int index, KernelProvider provider) {
  const OpenDeviceFunction open = load_module(module_path());
  std::array<char, kErrorBytes> error{};
  std::unique_ptr<KernelDevice> device(
      open(kDeviceModuleInterface, index, provider, error.data(), error.size()));
  if (!device) {
    throw ConfigError(Position{}, error.data());
  }
  return device;
}

}  // namespace inferometer
