// Whatever interrupts a sweep, and however often: resumed until it is complete, it has the points of an
// undisturbed one, each once.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "calibration/measure/durable_file.hpp"
#include "calibration/measure/measure_sweep.hpp"
#include "calibration/record/read_measurements.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer {
namespace {

using test::TemporaryDirectory;
using testing::Dice;
using testing::FakeDevice;
using testing::FakeScript;
using testing::FakeTime;

constexpr int kScripts = 40;
constexpr int kMostRuns = 500;  // far more than any script needs

struct Trial {
  SweepPlan plan;
  FakeScript device;  ///< what is so in every run: wrong results, no memory
};

Trial random_trial(Dice& dice) {
  Trial trial;
  trial.device.memory_bytes = 500e6;
  trial.device.noise_share = 0;
  const std::int64_t points = dice.between(4, 16);
  std::set<std::string> names;
  while (static_cast<std::int64_t>(trial.plan.points.size()) < points) {
    const auto size = static_cast<double>(dice.between(1, 200));
    // A norm of 500 MB does not fit.
    const KernelCall call = dice.chance(50)
                                ? KernelCall{KernelFamily::gemm, "bf16", {size, 4096, 4096}}
                                : KernelCall{KernelFamily::elementwise, "norm", {size * 1000, 4096}};
    const std::string name = to_string(call);
    if (!names.insert(name).second) {
      continue;
    }
    trial.plan.points.push_back({call, PointUse::fit, 0.1});
    if (dice.chance(10)) {
      trial.device.verifications[name] = {false, 2, "output 0: 1, reference 2", 10};
    } else if (dice.chance(10)) {
      trial.device.unsupported.insert(name);
    }
  }
  return trial;
}

/// What happens to one run.
enum class Blow { nothing, stop, lost, budget, throttled, killed };

struct Ended {
  SweepResult result;
  std::vector<std::string> prepared;
};

Ended run(const std::string& directory, const Trial& trial, Blow blow, Dice& dice) {
  FakeScript script = trial.device;
  SweepPlan plan = trial.plan;
  std::atomic<bool> is_stopped = false;
  const std::int64_t when = dice.between(0, 120);  // a point takes 15 runs
  if (blow == Blow::stop || blow == Blow::killed) {
    script.after_run = [&is_stopped, when](std::int64_t count) { is_stopped = is_stopped || count >= when; };
  } else if (blow == Blow::lost) {
    script.lost_at_run = when;
  } else if (blow == Blow::budget) {
    plan.budget_seconds = 0.001 * static_cast<double>(when);
  } else if (blow == Blow::throttled) {
    script.sm_mhz = [when](std::int64_t count, double) {
      return count >= when && count < when + 60 ? 900.0 : FakeDevice::kFullMhz;
    };
  }
  FakeTime time;
  FakeDevice device(time, script);
  RecordJournal journal(directory, run_header(device, {}));
  Ended ended;
  ended.result = measure_sweep(device, plan, journal, {}, time.controls(&is_stopped), nullptr);
  ended.prepared = device.prepared();
  return ended;
}

/// What a kill in the middle of a write leaves: a record file without the end of its last line.
void cut_last_line(const std::string& directory, Dice& dice) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".jsonl" && std::filesystem::file_size(entry.path()) > 0) {
      files.push_back(entry.path().string());
    }
  }
  if (files.empty()) {
    return;
  }
  std::sort(files.begin(), files.end());
  const std::string file = dice.name_of(files);
  const std::string text = file_bytes(file);
  const std::size_t line = text.rfind('\n', text.size() - 2) + 1;
  cut_file(file, static_cast<std::uint64_t>(dice.between(static_cast<std::int64_t>(line),
                                                         static_cast<std::int64_t>(text.size()) - 1)));
}

/// Lines of record files behind their headers, by call and what became of it.
std::multimap<std::string, std::string> lines_of(const std::string& directory) {
  std::multimap<std::string, std::string> lines;
  for (const Measurements& set : read_measurements({directory}, {})) {
    CHECK(set.suspects.empty());
    for (const MeasuredKernel& point : set.points) {
      lines.emplace(to_string(point.call), std::to_string(point.seconds * 1e9));
    }
    for (const SkippedPoint& point : set.skipped) {
      lines.emplace(to_string(point.call), point.reason);
    }
  }
  return lines;
}

TEST_CASE("a sweep that is interrupted at random and resumed has every point once") {
  std::map<Blow, int> blows;
  for (int seed = 0; seed < kScripts; ++seed) {
    CAPTURE(seed);
    Dice dice(static_cast<std::uint64_t>(seed), "calibration/interruptions");
    const Trial trial = random_trial(dice);
    const TemporaryDirectory directory;
    REQUIRE(run(directory.file("calm"), trial, Blow::nothing, dice).result.end == SweepResult::End::complete);

    std::map<std::string, int> prepared;
    bool is_complete = false;
    int runs = 0;
    while (!is_complete) {
      REQUIRE(++runs < kMostRuns);
      const Blow blow = dice.chance(30) ? Blow::nothing : static_cast<Blow>(dice.between(1, 5));
      ++blows[blow];
      const Ended ended = run(directory.file("rough"), trial, blow, dice);
      for (const std::string& name : ended.prepared) {
        ++prepared[name];
      }
      if (blow == Blow::killed) {
        cut_last_line(directory.file("rough"), dice);
      }
      // Points of a throttled GPU, too, are only done when a calm run has come through.
      is_complete = blow == Blow::nothing && ended.result.end == SweepResult::End::complete;
    }
    const std::multimap<std::string, std::string> calm = lines_of(directory.file("calm"));
    const std::multimap<std::string, std::string> rough = lines_of(directory.file("rough"));
    CHECK(calm.size() == trial.plan.points.size());
    std::set<std::string> names;
    for (const auto& [name, what] : rough) {
      names.insert(name);
      // Only a device that was lost twice at one point may leave it without its time.
      if (what.find("the device was lost twice") == std::string::npos) {
        CHECK(calm.find(name) != calm.end());
        CHECK(calm.find(name)->second == what);
      } else {
        CHECK(prepared[name] >= 2);
      }
    }
    CHECK(rough.size() == trial.plan.points.size());
    CHECK(names.size() == trial.plan.points.size());
  }
  // All kinds of them came up.
  CHECK(blows.size() == 6);
}

TEST_CASE("a finished point is measured once however often its sweep is interrupted") {
  for (int seed = 0; seed < kScripts; ++seed) {
    CAPTURE(seed);
    Dice dice(static_cast<std::uint64_t>(seed), "calibration/once");
    const Trial trial = random_trial(dice);
    const TemporaryDirectory directory;
    std::int64_t written = 0;
    for (int runs = 0; runs < kMostRuns; ++runs) {
      const Ended ended =
          run(directory.file("run"), trial, dice.chance(50) ? Blow::stop : Blow::budget, dice);
      for (const auto& [outcome, count] : ended.result.counts) {
        written += count;
      }
      CHECK(written == static_cast<std::int64_t>(trial.plan.points.size()) - ended.result.not_tried);
      if (ended.result.end == SweepResult::End::complete) {
        break;
      }
    }
    CHECK(written == static_cast<std::int64_t>(trial.plan.points.size()));
  }
}

}  // namespace
}  // namespace inferometer
