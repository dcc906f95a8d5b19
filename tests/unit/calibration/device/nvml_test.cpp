#include "calibration/device/nvml.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

struct Reasons {
  std::uint64_t bits;
  bool thermal, power;
};

TEST_CASE("the driver's reasons become heat or brake and power cap", "[nvml]") {
  // NVML API reference, NvmlClocksEventReasons: idle 1, application clocks 2, power cap 4, hardware slowdown
  // 8, sync boost 0x10, thermal (software) 0x20, thermal (hardware) 0x40, power brake 0x80, display 0x100.
  for (const Reasons reasons :
       {Reasons{0, false, false}, Reasons{0x1, false, false}, Reasons{0x2, false, false},
        Reasons{0x4, false, true}, Reasons{0x8, true, false}, Reasons{0x10, false, false},
        Reasons{0x20, true, false}, Reasons{0x40, true, false}, Reasons{0x80, true, false},
        Reasons{0x100, false, false}, Reasons{0x24, true, true}}) {
    DeviceState state;
    set_clock_reasons(reasons.bits, state);
    INFO(reasons.bits);
    CHECK(state.thermal_slowdown == reasons.thermal);
    CHECK(state.power_cap == reasons.power);
  }
}

TEST_CASE("where there is no such GPU nothing is said", "[nvml]") {
  const Nvml nvml("ffff:ff:1f.7");
  CHECK_FALSE(nvml.is_there());
  CHECK_FALSE(nvml.driver_version());
  CHECK_FALSE(nvml.power_limit_w());
  CHECK_FALSE(nvml.is_slowed_by_heat());
  CHECK_FALSE(nvml.ecc());
  CHECK_FALSE(nvml.mig());
  const DeviceState state = nvml.state();
  CHECK_FALSE(state.temperature_c);
  CHECK_FALSE(state.power_w);
  CHECK_FALSE(state.sm_mhz);
  CHECK_FALSE(state.mem_mhz);
  CHECK_FALSE(state.thermal_slowdown);
  CHECK_FALSE(state.power_cap);
}

}  // namespace
}  // namespace inferometer
