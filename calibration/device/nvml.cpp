#include "calibration/device/nvml.hpp"

#include <array>

#include <dlfcn.h>

namespace inferometer {
namespace {

// ---- what is used of NVML, as its API reference declares it ----

using Result = int;
constexpr Result kSuccess = 0;
using Device = struct nvmlDevice_st*;

constexpr int kTemperatureOfGpu = 0;
constexpr int kClockOfSm = 1;
constexpr int kClockOfMemory = 2;
constexpr unsigned kEnabled = 1;

constexpr std::uint64_t kSwPowerCap = 0x4;
constexpr std::uint64_t kHwSlowdown = 0x8;
constexpr std::uint64_t kSwThermalSlowdown = 0x20;
constexpr std::uint64_t kHwThermalSlowdown = 0x40;
constexpr std::uint64_t kHwPowerBrake = 0x80;

constexpr double kWattsPerMilliwatt = 1e-3;

}  // namespace

void set_clock_reasons(std::uint64_t reasons, DeviceState& state) {
  constexpr std::uint64_t kHeatOrBrake =
      kHwSlowdown | kSwThermalSlowdown | kHwThermalSlowdown | kHwPowerBrake;
  state.thermal_slowdown = (reasons & kHeatOrBrake) != 0;
  state.power_cap = (reasons & kSwPowerCap) != 0;
}

struct Nvml::Library {
  void* handle = nullptr;
  Device device = nullptr;
  Result (*shutdown)() = nullptr;
  Result (*system_driver_version)(char*, unsigned) = nullptr;
  Result (*enforced_power_limit)(Device, unsigned*) = nullptr;
  Result (*power_usage)(Device, unsigned*) = nullptr;
  Result (*temperature)(Device, int, unsigned*) = nullptr;
  Result (*clock)(Device, int, unsigned*) = nullptr;
  Result (*clock_reasons)(Device, unsigned long long*) = nullptr;
  Result (*ecc_mode)(Device, unsigned*, unsigned*) = nullptr;
  Result (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;

  /// Left nullptr where this version of the library has no such function.
  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(handle, name));
  }

  void open(const std::string& pci_address) {
    handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return;
    }
    Result (*init)() = nullptr;
    Result (*device_at)(const char*, Device*) = nullptr;
    find(init, "nvmlInit_v2");
    find(device_at, "nvmlDeviceGetHandleByPciBusId_v2");
    if (init == nullptr || device_at == nullptr || init() != kSuccess) {
      return;
    }
    find(shutdown, "nvmlShutdown");
    if (device_at(pci_address.c_str(), &device) != kSuccess) {
      device = nullptr;
      return;
    }
    find(system_driver_version, "nvmlSystemGetDriverVersion");
    find(enforced_power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    find(power_usage, "nvmlDeviceGetPowerUsage");
    find(temperature, "nvmlDeviceGetTemperature");
    find(clock, "nvmlDeviceGetClockInfo");
    find(clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    if (clock_reasons == nullptr) {  // its name before driver 535
      find(clock_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    find(ecc_mode, "nvmlDeviceGetEccMode");
    find(mig_mode, "nvmlDeviceGetMigMode");
  }

  ~Library() {
    if (shutdown != nullptr) {
      shutdown();
    }
    if (handle != nullptr) {
      dlclose(handle);
    }
  }

  /// The number that a function answers, if it is there and succeeds.
  template <class Function, class... Arguments>
  std::optional<double> number(Function function, Arguments... arguments) const {
    unsigned value = 0;
    if (device == nullptr || function == nullptr || function(device, arguments..., &value) != kSuccess) {
      return std::nullopt;
    }
    return value;
  }

  std::optional<bool> mode(Result (*function)(Device, unsigned*, unsigned*)) const {
    unsigned current = 0;
    unsigned pending = 0;
    if (device == nullptr || function == nullptr || function(device, &current, &pending) != kSuccess) {
      return std::nullopt;
    }
    return current == kEnabled;
  }
};

Nvml::Nvml(const std::string& pci_address) : library_(std::make_unique<Library>()) {
  library_->open(pci_address);
}

Nvml::~Nvml() = default;

bool Nvml::is_there() const {
  return library_->device != nullptr;
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 96> text{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE is 80
  if (library_->device == nullptr || library_->system_driver_version == nullptr ||
      library_->system_driver_version(text.data(), static_cast<unsigned>(text.size()) - 1) != kSuccess) {
    return std::nullopt;
  }
  return std::string(text.data());
}

std::optional<double> Nvml::power_limit_w() const {
  const std::optional<double> milliwatts = library_->number(library_->enforced_power_limit);
  return milliwatts ? std::optional(*milliwatts * kWattsPerMilliwatt) : std::nullopt;
}

std::optional<bool> Nvml::ecc() const {
  return library_->mode(library_->ecc_mode);
}

std::optional<bool> Nvml::mig() const {
  return library_->mode(library_->mig_mode);
}

DeviceState Nvml::state() const {
  DeviceState state;
  state.temperature_c = library_->number(library_->temperature, kTemperatureOfGpu);
  state.sm_mhz = library_->number(library_->clock, kClockOfSm);
  state.mem_mhz = library_->number(library_->clock, kClockOfMemory);
  if (const std::optional<double> milliwatts = library_->number(library_->power_usage)) {
    state.power_w = *milliwatts * kWattsPerMilliwatt;
  }
  add_clock_reasons(state);
  return state;
}

bool Nvml::is_slowed_by_heat() const {
  DeviceState state;
  add_clock_reasons(state);
  return state.thermal_slowdown;
}

void Nvml::add_clock_reasons(DeviceState& state) const {
  unsigned long long reasons = 0;
  if (library_->device != nullptr && library_->clock_reasons != nullptr &&
      library_->clock_reasons(library_->device, &reasons) == kSuccess) {
    set_clock_reasons(reasons, state);
  }
}

}  // namespace inferometer
