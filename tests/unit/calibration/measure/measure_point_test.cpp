// One point: in what order things happen, and what is made of a device on which they go wrong.

#include "calibration/measure/measure_point.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/check_says.hpp"
#include "tests/support/fake_device.hpp"

namespace inferometer {
namespace {

using testing::FakeDevice;
using testing::FakeScript;
using testing::FakeTime;

const KernelCall kGemm{KernelFamily::gemm, "bf16", {4096, 4096, 4096}};

struct Measured {
  PointResult result;
  FakeTime time;
  std::vector<std::string> asked;
  std::int64_t runs = 0;
};

Measured measure(const FakeScript& script, const MeasureOptions& options = {},
                 const KernelCall& call = kGemm) {
  Measured measured;
  FakeDevice device(measured.time, script);
  measured.result = measure_point(device, call, options, measured.time.controls());
  measured.asked = device.asked();
  measured.runs = device.runs();
  return measured;
}

TEST_CASE("a point is prepared and compared and warmed up and then timed") {
  const Measured measured = measure({});
  REQUIRE(measured.result.outcome == PointOutcome::measured);
  const MeasuredKernel& point = measured.result.measured;
  CHECK(point.call == kGemm);
  CHECK(point.kernel == "fake_kernel");
  CHECK(point.seconds == Approx(FakeDevice::seconds(kGemm)).epsilon(0.002));
  CHECK(point.statistics.verified);
  CHECK(point.statistics.sm_mhz_mean == Approx(FakeDevice::kFullMhz));
  CHECK(point.statistics.min_seconds <= point.statistics.q1_seconds);
  CHECK(point.statistics.q1_seconds <= point.seconds);
  CHECK(point.seconds <= point.statistics.q3_seconds);
  CHECK(point.statistics.samples >= 10);
  CHECK(measured.runs == 5 + point.statistics.samples);
  REQUIRE(measured.asked.size() > 3);
  CHECK(measured.asked[0] == "prepare " + to_string(kGemm));
  CHECK(measured.asked[1] == "verify");
  CHECK(measured.asked[2] == "run");
  CHECK(std::count(measured.asked.begin(), measured.asked.end(), "verify") == 1);
  CHECK(measured.result.thrown_away == 0);
  CHECK(measured.time.slept == 0);
}

TEST_CASE("warm-ups are not samples") {
  FakeScript script;
  // A cold start: the first five runs would spoil the median.
  script.sm_mhz = [](std::int64_t run, double) { return run < 5 ? 10.0 : FakeDevice::kFullMhz; };
  const Measured measured = measure(script);
  CHECK(measured.result.outcome == PointOutcome::measured);
  CHECK(measured.result.thrown_away == 0);
  CHECK(measured.result.measured.seconds == Approx(FakeDevice::seconds(kGemm)).epsilon(0.002));
}

TEST_CASE("warm-ups of a slow kernel end by their time") {
  // 2.2 s a run: one is over the half second.
  const KernelCall slow{KernelFamily::gemm, "bf16", {1e6, 40000, 20000}};
  REQUIRE(FakeDevice::seconds(slow) > 0.5);
  const Measured measured = measure({}, {}, slow);
  CHECK(measured.result.outcome == PointOutcome::measured);
  // The time of samples is over after the first, but a median takes three.
  CHECK(measured.result.measured.statistics.samples == 3);
  CHECK(measured.runs == 1 + 3);
}

TEST_CASE("a wrong result is never timed") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto [verification, words] = GENERATE_REF(table<Verification, std::string>(
      {{{false, 1.8, "output 17: 0.25, reference 0.5", 100},
        "wrong result: output 17: 0.25, reference 0.5 (1.8 times the deviation allowed)"},
       {{false, nan, "output 3: nan, reference 1", 100},
        "wrong result: output 3: nan, reference 1 (not a number)"},
       // Whatever else the device says.
       {{true, nan, "", 100}, "wrong result: not a number"},
       {{true, 1.01, "", 100}, "wrong result: 1.01 times the deviation allowed"},
       {{false, 0.5, "", 100}, "wrong result: 0.5 times the deviation allowed"},
       {{true, 0, "", 0}, "wrong result: no output was compared"}}));
  FakeScript script;
  script.verifications[to_string(kGemm)] = verification;
  const Measured measured = measure(script);
  CHECK(measured.result.outcome == PointOutcome::wrong_result);
  CHECK(measured.result.skipped.call == kGemm);
  CHECK(measured.result.skipped.reason == words);
  CHECK(measured.runs == 0);
}

TEST_CASE("the largest deviation that is allowed passes") {
  FakeScript script;
  script.verifications[to_string(kGemm)] = {true, 1, "", 1};
  CHECK(measure(script).result.outcome == PointOutcome::measured);
}

TEST_CASE("what the device cannot run is skipped with its reason") {
  FakeScript script;
  SECTION("no kernel") {
    script.unsupported.insert(to_string(kGemm));
    const Measured measured = measure(script);
    CHECK(measured.result.outcome == PointOutcome::unsupported);
    CHECK(measured.result.skipped.reason == "unsupported: no kernel for this");
    CHECK(measured.asked.size() == 1);
  }
  SECTION("no memory") {
    script.memory_bytes = 1e6;
    const Measured measured = measure(script);
    CHECK(measured.result.outcome == PointOutcome::out_of_memory);
    CHECK(measured.result.skipped.reason == "out of memory: its buffers do not fit");
    CHECK(measured.asked.size() == 1);
  }
}

TEST_CASE("samples at a low clock are thrown away until pauses have brought it back") {
  FakeScript script;
  script.sm_mhz = [](std::int64_t, double now) { return now < 3 ? 900.0 : FakeDevice::kFullMhz; };
  const Measured measured = measure(script);
  REQUIRE(measured.result.outcome == PointOutcome::measured);
  // Pauses of 0.25, 0.5, 1 and 2 s: only after the fourth, 3 s have passed.
  CHECK(measured.result.thrown_away == 4);
  CHECK(measured.time.slept == Approx(3.75));
  CHECK(measured.result.measured.seconds == Approx(FakeDevice::seconds(kGemm)).epsilon(0.002));
  CHECK(measured.result.measured.statistics.sm_mhz_mean == Approx(FakeDevice::kFullMhz));
  // Warmed up before each of the five attempts.
  CHECK(measured.runs == 5 * 5 + 4 + measured.result.measured.statistics.samples);
}

TEST_CASE("the lowest clock that is kept is three quarters") {
  FakeScript script;
  SECTION("of it") {
    script.sm_mhz = [](std::int64_t, double) { return 0.75 * FakeDevice::kFullMhz; };
    const Measured measured = measure(script);
    CHECK(measured.result.outcome == PointOutcome::measured);
    CHECK(measured.result.measured.statistics.sm_mhz_mean == Approx(1485));
  }
  SECTION("and not less") {
    script.sm_mhz = [](std::int64_t, double) { return 0.75 * FakeDevice::kFullMhz - 0.1; };
    CHECK(measure(script).result.outcome == PointOutcome::throttled);
  }
}

TEST_CASE("a clock that is not known is no low clock") {
  FakeScript script;
  script.sm_mhz = [](std::int64_t, double) { return 0.0; };
  const Measured measured = measure(script);
  CHECK(measured.result.outcome == PointOutcome::measured);
  CHECK(measured.result.measured.statistics.sm_mhz_mean == 0);
}

TEST_CASE("a GPU that stays slow is left after eight samples in a row") {
  FakeScript script;
  std::string words;
  SECTION("by its clock") {
    script.sm_mhz = [](std::int64_t, double) { return 900.0; };
    words = "throttled: the SM clock is 900 MHz of 1980 MHz, after 8 samples thrown away";
  }
  SECTION("by what the driver says") {
    script.thermal_slowdown = [](std::int64_t, double) { return true; };
    words = "throttled: the driver holds the clock down because of heat, after 8 samples thrown away";
  }
  const Measured measured = measure(script);
  CHECK(measured.result.outcome == PointOutcome::throttled);
  CHECK(measured.result.skipped.call == kGemm);
  CHECK(measured.result.skipped.reason == words);
  CHECK(measured.result.thrown_away == 8);
  // Seven pauses: 0.25 + 0.5 + 1 + 2 + 4 + 8 + 16 s.
  CHECK(measured.time.slept == Approx(31.75));
}

TEST_CASE("pauses grow no longer than the longest") {
  FakeScript script;
  script.sm_mhz = [](std::int64_t, double) { return 900.0; };
  MeasureOptions options;
  options.longest_pause_seconds = 1;
  // 0.25 + 0.5 + 5 x 1 s.
  CHECK(measure(script, options).time.slept == Approx(5.75));
}

TEST_CASE("a clock that comes and goes cannot hold a point for ever") {
  FakeScript script;
  script.sm_mhz = [](std::int64_t run, double) { return run % 2 == 0 ? FakeDevice::kFullMhz : 900.0; };
  script.noise_share = 0.05;
  MeasureOptions options;
  options.most_warm_ups = 0;
  options.most_thrown_away = 20;
  const Measured measured = measure(script, options);
  CHECK(measured.result.outcome == PointOutcome::throttled);
  CHECK(measured.result.thrown_away == 20);
  // Each good sample between makes the next pause the first again.
  CHECK(measured.time.slept == Approx(19 * 0.25));
}

TEST_CASE("a time that cannot be one is a failure of the device") {
  FakeScript script;
  script.reported_seconds[to_string(kGemm)] =
      GENERATE(0.0, -1e-6, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
  try {
    measure(script);
    FAIL("nothing was thrown");
  } catch (const DeviceLost& lost) {
    check_says(lost.what(), {"gemm bf16 m=4096 n=4096 k=4096", "which no kernel can"});
  }
}

TEST_CASE("a stop is heeded after the sample under way") {
  std::atomic<bool> is_stopped = false;
  FakeTime time;
  FakeScript script;
  SECTION("while warming up") {
    script.after_run = [&](std::int64_t run) { is_stopped = run == 1; };
    FakeDevice device(time, script);
    CHECK(measure_point(device, kGemm, {}, time.controls(&is_stopped)).outcome == PointOutcome::interrupted);
    CHECK(device.runs() == 2);
  }
  SECTION("while sampling") {
    script.after_run = [&](std::int64_t run) { is_stopped = run == 8; };
    FakeDevice device(time, script);
    CHECK(measure_point(device, kGemm, {}, time.controls(&is_stopped)).outcome == PointOutcome::interrupted);
    CHECK(device.runs() == 9);
  }
  SECTION("in a long pause") {
    script.sm_mhz = [](std::int64_t, double) { return 900.0; };
    MeasureOptions options;
    options.first_pause_seconds = 16;
    LoopControls controls = time.controls(&is_stopped);
    controls.sleep_seconds = [&, sleep = controls.sleep_seconds](double seconds) {
      sleep(seconds);
      is_stopped = true;
    };
    FakeDevice device(time, script);
    CHECK(measure_point(device, kGemm, options, controls).outcome == PointOutcome::interrupted);
    CHECK(time.slept <= 0.1);
  }
}

TEST_CASE("a stop with the last sample needed leaves the point measured") {
  std::atomic<bool> is_stopped = false;
  FakeTime time;
  FakeScript script;
  script.noise_share = 0;
  script.after_run = [&](std::int64_t run) { is_stopped = run == 5 + 10 - 1; };
  FakeDevice device(time, script);
  CHECK(measure_point(device, kGemm, {}, time.controls(&is_stopped)).outcome == PointOutcome::measured);
}

TEST_CASE("inputs depend on the call alone") {
  FakeTime time;
  FakeDevice device(time, {});
  const KernelCall other{KernelFamily::gemm, "bf16", {4096, 4096, 4097}};
  for (const KernelCall& call : {kGemm, other, kGemm}) {
    measure_point(device, call, {}, time.controls());
  }
  REQUIRE(device.seeds().size() == 3);
  CHECK(device.seeds()[0] == device.seeds()[2]);
  CHECK(device.seeds()[0] != device.seeds()[1]);
}

TEST_CASE("two modes are sampled to the settled noise and no further") {
  FakeScript script;
  script.second_mode = 1.2;
  const Measured measured = measure(script);
  CHECK(measured.result.outcome == PointOutcome::measured);
  CHECK(measured.result.measured.statistics.samples == 64);
  CHECK(measured.result.measured.statistics.q3_seconds ==
        Approx(1.2 * measured.result.measured.statistics.q1_seconds).epsilon(0.01));
}

}  // namespace
}  // namespace inferometer
