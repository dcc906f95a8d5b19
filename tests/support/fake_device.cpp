#include "tests/support/fake_device.hpp"

#include <utility>

#include "calibration/record/gpu_names.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer::testing {
namespace {

constexpr double kOverDatasheet = 1.3, kStartSeconds = 2e-6;

const GpuSpec& h100() {
  static const GpuNames gpus;
  return *gpus.find("h100-sxm");
}

}  // namespace

LoopControls FakeTime::controls(const std::atomic<bool>* is_stopped) {
  return {[this] { return now; },
          [this](double seconds) {
            now += seconds;
            slept += seconds;
          },
          is_stopped};
}

FakeDevice::FakeDevice(FakeTime& time, FakeScript script)
    : time_(time), script_(std::move(script)), noise_(script_.seed, "fake_device") {
}

double FakeDevice::seconds(const KernelCall& call) {
  return kStartSeconds + kOverDatasheet * datasheet_seconds(kernel_work(call), h100());
}

MeasurementHeader FakeDevice::header() {
  require_alive();
  MeasurementHeader header;
  header.gpu = "h100-sxm";
  header.device = "NVIDIA H100 80GB HBM3";
  header.library = "inferometer";
  header.driver_version = "580.1";
  header.method = "a formula";
  header.sm_count = 132;
  return header;
}

Prepared FakeDevice::prepare(const KernelCall& call, std::uint64_t seed) {
  require_alive();
  call_ = call;
  name_ = to_string(call);
  asked_.push_back("prepare " + name_);
  prepared_.push_back(name_);
  seeds_.push_back(seed);
  time_.now += kPrepareSeconds;
  if (script_.unsupported.contains(name_)) {
    return {Prepared::Outcome::unsupported, "no kernel for this", ""};
  }
  if (kernel_work(call).hbm_bytes > script_.memory_bytes) {
    return {Prepared::Outcome::out_of_memory, "its buffers do not fit", ""};
  }
  return {Prepared::Outcome::ready, "", "fake_kernel"};
}

Verification FakeDevice::verify() {
  require_alive();
  asked_.emplace_back("verify");
  time_.now += kVerifySeconds;
  const auto scripted = script_.verifications.find(name_);
  return scripted == script_.verifications.end() ? Verification{true, 0.1, "", 1000} : scripted->second;
}

TimedRun FakeDevice::run() {
  require_alive();
  const std::int64_t run = runs_++;
  if ((script_.lost_at_run && run >= *script_.lost_at_run) || script_.losing_calls.contains(name_)) {
    is_lost_ = true;
  }
  require_alive();
  asked_.emplace_back("run");
  TimedRun timed;
  timed.sm_mhz = script_.sm_mhz ? script_.sm_mhz(run, time_.now) : kFullMhz;
  const double slowdown = timed.sm_mhz > 0 ? kFullMhz / timed.sm_mhz : 1;
  const double mode = noise_.uniform() < 0.5 ? script_.second_mode : 1;
  timed.seconds = seconds(call_) * slowdown * mode * (1 + script_.noise_share * noise_.normal());
  time_.now += kFlushSeconds + timed.seconds;
  const auto reported = script_.reported_seconds.find(name_);
  if (reported != script_.reported_seconds.end()) {
    timed.seconds = reported->second;
  }
  if (script_.after_run) {
    script_.after_run(run);
  }
  return timed;
}

DeviceState FakeDevice::state() {
  require_alive();
  DeviceState state;
  state.temperature_c = 55;
  state.sm_mhz = kFullMhz;
  state.thermal_slowdown = script_.thermal_slowdown && script_.thermal_slowdown(runs_ - 1, time_.now);
  return state;
}

void FakeDevice::require_alive() const {
  if (is_lost_) {
    throw DeviceLost("the fake device fell off its bus");
  }
}

}  // namespace inferometer::testing
