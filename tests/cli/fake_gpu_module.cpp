// A GPU for the command line's tests, loaded as the CUDA module is: an H100 whose kernels take 30 % longer
// than its datasheet says. $FAKE_GPU_LOST_AT: the run, counted from 0, from which on it is lost.

#include <cstdio>
#include <cstdlib>

#include "calibration/measure/device_module.hpp"
#include "tests/support/fake_device.hpp"

extern "C" __attribute__((visibility("default"))) inferometer::KernelDevice* inferometer_open_device(
    int interface_version, int index, inferometer::KernelProvider provider, char* error,
    std::size_t error_bytes) {
  using namespace inferometer;
  if (interface_version != kDeviceModuleInterface || index != 0 || provider != KernelProvider::inferometer) {
    std::snprintf(error, error_bytes, "no GPU %d; there is 1: 0 fake", index);
    return nullptr;
  }
  static testing::FakeTime time;
  testing::FakeScript script;
  if (const char* lost = std::getenv("FAKE_GPU_LOST_AT")) {
    script.lost_at_run = std::atoll(lost);
  }
  return new testing::FakeDevice(time, script);
}
