// A device that loses its GPU when a call is prepared, in a module of its own.

#include <cstddef>
#include <cstdio>

#include "calibration/measure/device_module.hpp"

namespace {

using namespace inferometer;

constexpr int kOnlyGpu = 7;

class LosingDevice final : public KernelDevice {
 public:
  MeasurementHeader header() override {
    MeasurementHeader header;
    header.device = "a device of another module, with a name that is no short string";
    return header;
  }
  double full_sm_mhz() const override { return 1234; }
  double memory_bytes() const override { return 0; }
  Prepared prepare(const KernelCall&, std::uint64_t) override { throw DeviceLost("the bus fell"); }
  Verification verify() override { return {}; }
  TimedRun run() override { return {}; }
  DeviceState state() override { return {}; }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) inferometer::KernelDevice* inferometer_open_device(
    int interface_version, int index, KernelProvider provider, char* error, std::size_t error_bytes) {
  if (interface_version != kDeviceModuleInterface || index != kOnlyGpu) {
    std::snprintf(error, error_bytes, "no GPU %d; there is 1: 7 fake", index);
    return nullptr;
  }
  if (provider == KernelProvider::cudnn) {
    std::snprintf(error, error_bytes, "no cuDNN here");
    return nullptr;
  }
  return new LosingDevice;
}
