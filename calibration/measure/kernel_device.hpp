#pragma once

// A GPU that kernels are timed on, as the measuring loop sees it. Who uses it: measure_sweep.hpp. Who
// implements it: calibration/device (CUDA), and the fake device of the tests. One thread uses a device, one
// prepared call at a time.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "calibration/record/measurement.hpp"
#include "costmodel/kernels/kernel_call.hpp"

namespace inferometer {

/// The GPU does not answer any more (an illegal access in a kernel, a fallen bus, a reset): nothing measured
/// after this can be believed, and every later call on the device throws it again.
class DeviceLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What preparing a call came to.
struct Prepared {
  enum class Outcome { ready, unsupported, out_of_memory };
  Outcome outcome = Outcome::ready;
  std::string reason;  ///< of the other outcomes: a sentence for the record
  std::string kernel;  ///< which kernel will run: "decode_attention_mma_8_splits", "cublaslt"
};

/// A kernel's result beside the CPU reference, on random data, the output poisoned beforehand.
struct Verification {
  bool passed = false;
  double worst_error = 0;     ///< largest deviation, as a share of what is allowed; NaN where a NaN was found
  std::string first_wrong;    ///< where it failed: "output 17: 0.25, reference 0.5"
  std::int64_t compared = 0;  ///< outputs that were compared, all of them or a sample of rows
};

/// One run of the prepared kernel out of a cold L2 cache.
struct TimedRun {
  double seconds = 0;  ///< of the kernel alone: the timer's own share is taken off
  double sm_mhz = 0;   ///< mean SM clock while it ran; 0: not known
};

/// The state of the GPU now; nothing where the driver does not say.
struct DeviceState {
  std::optional<double> temperature_c, power_w, sm_mhz, mem_mhz;
  bool thermal_slowdown = false;  ///< the driver holds the clock down because of heat or a hardware brake
  bool power_cap = false;         ///< the driver holds the clock down because of power; normal under load
};

class KernelDevice {
 public:
  virtual ~KernelDevice() = default;

  /// Everything of the header that the device knows; gpu is "" where the driver's name is none of ours.
  /// Fields that change while measuring (temperature, clock) are those of now.
  [[nodiscard]] virtual MeasurementHeader header() = 0;

  /// The SM clock that the GPU runs at when nothing holds it down, in MHz.
  [[nodiscard]] virtual double full_sm_mhz() const = 0;

  /// GPUs of this machine that can run a collective together, this one among them.
  [[nodiscard]] virtual int gpus() const { return 1; }

  /// Memory that the buffers of one call may take together.
  [[nodiscard]] virtual double memory_bytes() const = 0;

  /// Makes `call` ready to run: buffers, random inputs from `seed`, the output poisoned. What was prepared
  /// before is gone. Throws DeviceLost.
  virtual Prepared prepare(const KernelCall& call, std::uint64_t seed) = 0;

  /// Runs the prepared call once and compares with the reference. To be called before the first run().
  /// Throws DeviceLost.
  virtual Verification verify() = 0;

  /// Flushes the L2 cache, runs the prepared call once and times it. Throws DeviceLost.
  virtual TimedRun run() = 0;

  /// Throws DeviceLost.
  virtual DeviceState state() = 0;

  /// state().thermal_slowdown, for devices that can say it faster than all the rest: it is asked after each
  /// sample. Throws DeviceLost.
  virtual bool is_slowed_by_heat() { return state().thermal_slowdown; }
};

}  // namespace inferometer
