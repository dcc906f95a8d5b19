#pragma once

// A GPU that follows a script, for tests of the measuring loop: times from a formula, and whatever can go
// wrong with a GPU. It has a clock of its own, which runs and pauses move on, so that tests take no time.

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "calibration/measure/kernel_device.hpp"
#include "calibration/measure/loop_controls.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer::testing {

/// The clock of a test.
struct FakeTime {
  double now = 0;
  double slept = 0;

  LoopControls controls(const std::atomic<bool>* is_stopped = nullptr);
};

/// What goes wrong. Calls are named by to_string(call); runs count from 0, warm-ups included.
struct FakeScript {
  std::uint64_t seed = 1;
  double noise_share = 0.001;  ///< standard deviation of a run's time, as a share of it
  double second_mode = 1;      ///< half of the runs take so many times as long
  std::function<double(std::int64_t run, double now)> sm_mhz;          ///< FakeDevice::kFullMhz when not set
  std::function<bool(std::int64_t run, double now)> thermal_slowdown;  ///< never when not set
  std::map<std::string, Verification> verifications;                   ///< in place of one that passes
  std::map<std::string, double> reported_seconds;                      ///< in place of the formula's
  std::set<std::string> unsupported;
  double memory_bytes = std::numeric_limits<double>::infinity();  ///< calls that move more do not fit
  std::optional<std::int64_t> lost_at_run;                        ///< for good, as of this run
  std::set<std::string> losing_calls;                             ///< their first run loses the device
  std::function<void(std::int64_t run)> after_run;
};

class FakeDevice final : public KernelDevice {
 public:
  static constexpr double kFullMhz = 1980;
  static constexpr double kPrepareSeconds = 0.01;  ///< by the clock, as is all that follows
  static constexpr double kVerifySeconds = 0.005;
  static constexpr double kFlushSeconds = 0.0005;  ///< of a run, before its kernel

  /// `time` outlives it.
  FakeDevice(FakeTime& time, FakeScript script);

  /// An H100: the datasheet's time and 30 %, and 2 us to start. A run at a lower clock takes longer in
  /// proportion.
  [[nodiscard]] static double seconds(const KernelCall& call);

  MeasurementHeader header() override;
  [[nodiscard]] double full_sm_mhz() const override { return kFullMhz; }
  [[nodiscard]] double memory_bytes() const override { return script_.memory_bytes; }
  Prepared prepare(const KernelCall& call, std::uint64_t seed) override;
  Verification verify() override;
  TimedRun run() override;
  DeviceState state() override;

  /// What was asked of it, in order: "prepare gemm ...", "verify", "run".
  [[nodiscard]] const std::vector<std::string>& asked() const { return asked_; }
  [[nodiscard]] std::int64_t runs() const { return runs_; }
  [[nodiscard]] const std::vector<std::uint64_t>& seeds() const { return seeds_; }
  /// Calls in the order in which they were prepared.
  [[nodiscard]] const std::vector<std::string>& prepared() const { return prepared_; }

 private:
  void require_alive() const;

  FakeTime& time_;
  FakeScript script_;
  RandomStream noise_;
  KernelCall call_;
  std::string name_;
  std::int64_t runs_ = 0;
  bool is_lost_ = false;
  std::vector<std::string> asked_, prepared_;
  std::vector<std::uint64_t> seeds_;
};

}  // namespace inferometer::testing
