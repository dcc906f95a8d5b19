// A whole sweep: what ends it, what is counted, and what a resumed one does.

#include "calibration/measure/measure_sweep.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "calibration/record/read_measurements.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer {
namespace {

using test::TemporaryDirectory;
using testing::FakeDevice;
using testing::FakeScript;
using testing::FakeTime;

using Names = std::vector<std::string>;

KernelCall gemm(double m) {
  return {KernelFamily::gemm, "bf16", {m, 4096, 4096}};
}

KernelCall norm(double tokens) {
  return {KernelFamily::elementwise, "norm", {tokens, 4096}};
}

/// Each expected to take a tenth of a second.
SweepPlan plan_of(const std::vector<KernelCall>& calls, double budget_seconds = 0) {
  SweepPlan plan;
  for (const KernelCall& call : calls) {
    plan.points.push_back({call, PointUse::fit, 0.1});
  }
  plan.budget_seconds = budget_seconds;
  return plan;
}

struct Run {
  SweepResult result;
  std::vector<SweepProgress> progress;
  Names prepared;
};

/// A process that opens the directory, measures and ends.
Run run(const std::string& directory, const SweepPlan& plan, const FakeScript& script = {},
        std::atomic<bool>* is_stopped = nullptr) {
  Run run;
  FakeTime time;
  FakeDevice device(time, script);
  RecordJournal journal(directory, run_header(device, {}));
  run.result = measure_sweep(device, plan, journal, {}, time.controls(is_stopped),
                             [&](const SweepProgress& progress) { run.progress.push_back(progress); });
  run.prepared = device.prepared();
  return run;
}

TEST_CASE("a sweep measures its plan in order and says what became of every point") {
  const TemporaryDirectory directory;
  FakeScript script;
  script.unsupported.insert(to_string(gemm(1)));
  script.verifications[to_string(gemm(2))] = {false, 3, "output 0: 1, reference 2", 10};
  script.memory_bytes = 1e9;
  const SweepPlan plan = plan_of({gemm(64), gemm(1), norm(16), gemm(2), norm(1e6), gemm(128)});
  const Run swept = run(directory.file("run"), plan, script);
  CHECK(swept.result.end == SweepResult::End::complete);
  CHECK(swept.result.counts == std::map<PointOutcome, std::int64_t>{{PointOutcome::measured, 3},
                                                                    {PointOutcome::unsupported, 1},
                                                                    {PointOutcome::wrong_result, 1},
                                                                    {PointOutcome::out_of_memory, 1}});
  CHECK(swept.result.there_before == 0);
  CHECK(swept.result.not_tried == 0);
  CHECK(swept.result.thrown_away == 0);
  Names order;
  for (const SweepPoint& point : plan.points) {
    order.push_back(to_string(point.call));
  }
  CHECK(swept.prepared == order);
  const std::vector<Measurements> sets = read_measurements({directory.file("run")}, {});
  REQUIRE(sets.size() == 1);
  CHECK(sets.front().points.size() == 3);
  CHECK(sets.front().skipped.size() == 3);
}

TEST_CASE("progress counts up to all points and expects what is left at the pace so far") {
  const TemporaryDirectory directory;
  const Run swept = run(directory.file("run"), plan_of({gemm(64), gemm(128), norm(16)}));
  const std::vector<SweepProgress>& progress = swept.progress;
  REQUIRE(progress.size() == 4);
  for (std::size_t i = 0; i < progress.size(); ++i) {
    CHECK(progress[i].done == static_cast<std::int64_t>(i));
    CHECK(progress[i].in_all == 3);
  }
  CHECK(progress[0].elapsed_seconds == 0);
  // As planned while nothing is known.
  CHECK(progress[0].left_seconds == Approx(0.3));
  CHECK(progress[1].elapsed_seconds > 0);
  // One of three took so long: twice that is left.
  CHECK(progress[1].left_seconds == Approx(2 * progress[1].elapsed_seconds));
  CHECK(progress[2].left_seconds == Approx(progress[2].elapsed_seconds / 2));
  CHECK(progress[3].left_seconds == Approx(0).margin(1e-12));
  CHECK(progress[3].elapsed_seconds == swept.result.elapsed_seconds);
  CHECK(progress[0].family == KernelFamily::gemm);
  CHECK(progress[2].family == KernelFamily::elementwise);
  CHECK(progress[3].family == KernelFamily::elementwise);
}

TEST_CASE("a sweep ends when its budget is used up and not before") {
  const TemporaryDirectory directory;
  std::vector<KernelCall> calls;
  for (int m = 1; m <= 50; ++m) {
    calls.push_back(gemm(m));
  }
  // 15 ms for preparing and comparing, 15 runs and more of half a millisecond: at least 22.5 ms a point.
  const Run swept = run(directory.file("run"), plan_of(calls, 0.2));
  CHECK(swept.result.end == SweepResult::End::budget);
  const std::int64_t measured = swept.result.counts.at(PointOutcome::measured);
  CHECK(measured == static_cast<std::int64_t>(swept.prepared.size()));
  CHECK(measured <= 9);
  CHECK(measured >= 4);
  CHECK(swept.result.not_tried == 50 - measured);
  CHECK(swept.result.elapsed_seconds >= 0.2);
  // The last point began within it.
  CHECK(swept.progress[swept.progress.size() - 2].elapsed_seconds < 0.2);
  for (const SweepProgress& progress : swept.progress) {
    CHECK(progress.left_seconds <= std::max(0.0, 0.2 - progress.elapsed_seconds) + 1e-12);
  }
  // The next run has a budget of its own.
  const Run next = run(directory.file("run"), plan_of(calls, 0.2));
  CHECK(next.result.there_before == measured);
  CHECK(next.result.counts.at(PointOutcome::measured) >= 4);
  CHECK(next.prepared.front() == to_string(gemm(static_cast<double>(measured + 1))));
}

TEST_CASE("a stopped sweep writes nothing of the point under way and goes on with it") {
  const TemporaryDirectory directory;
  const SweepPlan plan = plan_of({gemm(64), gemm(128), gemm(256)});
  std::atomic<bool> is_stopped = false;
  FakeScript script;
  script.noise_share = 0;
  // Each point takes 5 + 10 runs: in the second.
  script.after_run = [&](std::int64_t run) { is_stopped = is_stopped || run == 22; };
  const Run stopped = run(directory.file("run"), plan, script, &is_stopped);
  CHECK(stopped.result.end == SweepResult::End::stopped);
  CHECK(stopped.result.counts == std::map<PointOutcome, std::int64_t>{{PointOutcome::measured, 1}});
  CHECK(stopped.result.not_tried == 2);
  CHECK(stopped.prepared.size() == 2);

  // A stop before the first sample of all.
  is_stopped = true;
  CHECK(run(directory.file("run"), plan, {}, &is_stopped).prepared.empty());

  const Run resumed = run(directory.file("run"), plan);
  CHECK(resumed.result.end == SweepResult::End::complete);
  CHECK(resumed.result.there_before == 1);
  CHECK(resumed.prepared == Names{to_string(gemm(128)), to_string(gemm(256))});
  CHECK(resumed.progress.front().done == 1);

  const Run over = run(directory.file("run"), plan);
  CHECK(over.result.end == SweepResult::End::complete);
  CHECK(over.result.there_before == 3);
  CHECK(over.prepared.empty());
}

TEST_CASE("a device that is lost ends the run and its point is tried once more") {
  const TemporaryDirectory directory;
  const SweepPlan plan = plan_of({gemm(64), gemm(128), gemm(256)});
  FakeScript losing;
  losing.losing_calls.insert(to_string(gemm(128)));
  const Run lost = run(directory.file("run"), plan, losing);
  CHECK(lost.result.end == SweepResult::End::device_lost);
  CHECK(lost.result.why == "the fake device fell off its bus");
  CHECK(lost.result.counts ==
        std::map<PointOutcome, std::int64_t>{{PointOutcome::measured, 1}, {PointOutcome::device_lost, 1}});
  CHECK(lost.result.not_tried == 1);

  SECTION("when it was the device") {
    const Run resumed = run(directory.file("run"), plan);
    CHECK(resumed.result.end == SweepResult::End::complete);
    CHECK(resumed.prepared == Names{to_string(gemm(128)), to_string(gemm(256))});
    const std::vector<Measurements> sets = read_measurements({directory.file("run")}, {});
    CHECK(sets.front().points.size() == 3);
    CHECK(sets.front().skipped.empty());
  }
  SECTION("when it is the call") {
    const Run again = run(directory.file("run"), plan, losing);
    CHECK(again.result.end == SweepResult::End::device_lost);
    CHECK(again.result.counts == std::map<PointOutcome, std::int64_t>{{PointOutcome::device_lost_twice, 1}});
    // The third gets past it.
    const Run past = run(directory.file("run"), plan, losing);
    CHECK(past.result.end == SweepResult::End::complete);
    CHECK(past.result.there_before == 2);
    CHECK(past.prepared == Names{to_string(gemm(256))});
    const std::vector<Measurements> sets = read_measurements({directory.file("run")}, {});
    CHECK(sets.front().points.size() == 2);
    REQUIRE(sets.front().skipped.size() == 1);
    CHECK(sets.front().skipped[0].call == gemm(128));
    check_says(sets.front().skipped[0].reason, {"the device was lost twice: the fake device fell off"});
  }
}

TEST_CASE("a device that is lost from the beginning is no point's fault") {
  const TemporaryDirectory directory;
  FakeTime time;
  FakeScript script;
  script.lost_at_run = 0;
  FakeDevice device(time, script);
  RecordJournal journal(directory.file("run"), run_header(device, {}));
  CHECK_THROWS_AS(device.run(), DeviceLost);
  const SweepResult result =
      measure_sweep(device, plan_of({gemm(64)}), journal, {}, time.controls(), nullptr);
  CHECK(result.end == SweepResult::End::device_lost);
  CHECK(result.counts.empty());
  CHECK(result.not_tried == 1);
  CHECK_FALSE(journal.outcome(gemm(64)));
}

TEST_CASE("a point whose time cannot be one counts as a device that was lost") {
  const TemporaryDirectory directory;
  FakeScript script;
  script.reported_seconds[to_string(gemm(64))] = 0;
  const Run swept = run(directory.file("run"), plan_of({gemm(64), gemm(128)}), script);
  CHECK(swept.result.end == SweepResult::End::device_lost);
  check_says(swept.result.why, {"m=64", "0 s"});
  CHECK(swept.result.not_tried == 1);
}

TEST_CASE("a throttled point is passed over in this run and tried again in the next") {
  const TemporaryDirectory directory;
  const SweepPlan plan = plan_of({gemm(64), gemm(128)});
  FakeScript hot;
  // For the eight samples of the first point and the five warm-ups before each.
  hot.sm_mhz = [](std::int64_t run, double) { return run < 48 ? 900.0 : FakeDevice::kFullMhz; };
  const Run first = run(directory.file("run"), plan, hot);
  CHECK(first.result.end == SweepResult::End::complete);
  CHECK(first.result.counts ==
        std::map<PointOutcome, std::int64_t>{{PointOutcome::throttled, 1}, {PointOutcome::measured, 1}});
  CHECK(first.result.thrown_away == 8);
  const Run second = run(directory.file("run"), plan);
  CHECK(second.prepared == Names{to_string(gemm(64))});
  CHECK(second.result.there_before == 1);
  const std::vector<Measurements> sets = read_measurements({directory.file("run")}, {});
  CHECK(sets.front().points.size() == 2);
  CHECK(sets.front().skipped.empty());
}

TEST_CASE("thrown away samples of measured points are counted") {
  const TemporaryDirectory directory;
  FakeScript script;
  script.sm_mhz = [](std::int64_t, double now) { return now < 0.5 ? 900.0 : FakeDevice::kFullMhz; };
  // Pauses of 0.25 and 0.5 s.
  CHECK(run(directory.file("run"), plan_of({gemm(64), gemm(128)}), script).result.thrown_away == 2);
}

TEST_CASE("the header says how was measured and what the GPU was like") {
  FakeTime time;
  FakeDevice device(time, {});
  MeasureOptions options;
  options.stop.most_samples = 100;
  const MeasurementHeader header = run_header(device, options);
  CHECK(header.gpu == "h100-sxm");
  CHECK(header.temperature_c == 55);
  CHECK(header.sm_mhz_mean == FakeDevice::kFullMhz);
  CHECK(header.method ==
        "a formula; at most 5 warm-ups or 0.5 s; median of 10 to 100 samples in at most 2 s, until its 95 % "
        "interval is narrower than 0.5 %; samples under 75 % of the SM clock thrown away");
}

TEST_CASE("options that measure otherwise do not go into one folder") {
  const TemporaryDirectory directory;
  FakeTime time;
  FakeDevice device(time, {});
  RecordJournal(directory.file("run"), run_header(device, {}))
      .append(skipped_point(gemm(1), PointOutcome::unsupported, ""));
  MeasureOptions options;
  options.stop.narrow_share = 0.01;
  CHECK_THROWS_AS(RecordJournal(directory.file("run"), run_header(device, options)), ConfigError);
}

}  // namespace
}  // namespace inferometer
