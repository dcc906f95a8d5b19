#pragma once

// What the driver says of a GPU through its management library, libnvidia-ml.so.1, loaded when it is there.
// Only reads: nothing here changes a setting. Who uses it: cuda_device.cpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "calibration/measure/kernel_device.hpp"

namespace inferometer {

class Nvml {
 public:
  /// The GPU at a PCI address, "0000:17:00.0". Where the library or the GPU is not there, every answer is
  /// nothing.
  explicit Nvml(const std::string& pci_address);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] bool is_there() const;
  [[nodiscard]] std::optional<std::string> driver_version() const;  ///< "580.65.06"
  [[nodiscard]] std::optional<double> power_limit_w() const;        ///< the one that is enforced
  [[nodiscard]] std::optional<bool> ecc() const;
  [[nodiscard]] std::optional<bool> mig() const;
  [[nodiscard]] DeviceState state() const;
  /// state().thermal_slowdown, by one question to the driver instead of five.
  [[nodiscard]] bool is_slowed_by_heat() const;

 private:
  void add_clock_reasons(DeviceState& state) const;

  struct Library;
  std::unique_ptr<Library> library_;
};

/// The two flags of a state, from the driver's reasons for holding the clock down (bits of
/// nvmlDeviceGetCurrentClocksEventReasons, NVML API reference, section NvmlClocksEventReasons).
void set_clock_reasons(std::uint64_t reasons, DeviceState& state);

}  // namespace inferometer
