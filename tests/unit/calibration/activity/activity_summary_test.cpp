// Phases and figures of a few samples, worked by hand.

#include "calibration/activity/activity_summary.hpp"

#include "base/error.hpp"
#include "calibration/activity/activity_comparison.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

std::vector<PhaseWindow> windows_of(const std::string& text) {
  LineSource lines(bytes_in_memory(text), "p.csv");
  return read_phase_windows(lines);
}

std::string complaint_about(const std::string& text) {
  try {
    windows_of(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// One sample a row.
GpuLog log_of(const std::string& name, const std::vector<std::pair<double, double>>& shares) {
  GpuLog log{name, 0, {}};
  for (const auto& [sm, dram] : shares) {
    log.samples.push_back({log.rows++, sm, dram});
  }
  return log;
}

std::vector<std::string> phase_names(const GpuActivity& gpu) {
  std::vector<std::string> names;
  for (const PhaseActivity& phase : gpu.phases) {
    names.push_back(phase.phase);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("a sample tells its phase on both sides of each limit") {
  CHECK(phase_of({0, 0.049, 0.9}) == kIdlePhase);
  CHECK(phase_of({0, 0.05, 0.0}) == kPrefillPhase);
  CHECK(phase_of({0, 0.8, 0.399}) == kPrefillPhase);
  CHECK(phase_of({0, 0.8, 0.4}) == kDecodePhase);
}

// Samples of 100 ms: row 9 has its middle at 0.95 s, row 10 at 1.05 s.
TEST_CASE("windows hold samples by their middle") {
  const std::vector<PhaseWindow> windows = windows_of("start_s,end_s,name\n0.95,1.05,a\n1.05,2,b\n");
  CHECK(phase_of({8, 1, 1}, 0.1, windows) == kOutsidePhase);
  CHECK(phase_of({9, 1, 1}, 0.1, windows) == "a");
  CHECK(phase_of({10, 1, 1}, 0.1, windows) == "b");
  CHECK(phase_of({19, 1, 1}, 0.1, windows) == "b");
  CHECK(phase_of({20, 1, 1}, 0.1, windows) == kOutsidePhase);
}

TEST_CASE("figures of a GPU by its own phases") {
  // Eleven of decode with SM 0.90, 0.91, ... 1.00: the k-th is the (k / 10)-quantile. One of each other kind.
  std::vector<std::pair<double, double>> shares = {{0.01, 0.0}, {0.9, 0.3}};
  for (int i = 0; i <= 10; ++i) {
    shares.emplace_back(0.9 + 0.01 * (10 - i), 0.7);
  }
  GpuLog log = log_of("GPU 0", shares);
  log.rows += 2;
  const std::vector<GpuActivity> gpus = summarize_activity({log}, {});
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0].missing == 2);
  CHECK(phase_names(gpus[0]) == Names{"all", "idle", "prefill-like", "decode-like"});
  const PhaseActivity& all = gpus[0].phases[0];
  CHECK(all.samples == 13);
  CHECK(all.time_share == 1);
  CHECK(all.dram.mean == Approx((0.3 + 11 * 0.7) / 13));
  const PhaseActivity& decode = gpus[0].phases[3];
  CHECK(decode.samples == 11);
  CHECK(decode.time_share == Approx(11.0 / 13));
  CHECK(decode.sm.mean == Approx(0.95));
  CHECK(decode.sm.p10 == Approx(0.91));
  CHECK(decode.sm.p50 == Approx(0.95));
  CHECK(decode.sm.p90 == Approx(0.99));
  CHECK(decode.dram.p90 == Approx(0.7));
}

TEST_CASE("windows of one name are one phase and the rest lies outside") {
  const ActivitySettings settings{1.0, windows_of("name,start_s,end_s\nload,0,1\nrest,1,2\n\"load\",3,4\n")};
  const std::vector<GpuActivity> gpus =
      summarize_activity({log_of("GPU 0", {{0.2, 0.1}, {0.3, 0.1}, {0.4, 0.1}, {0.6, 0.1}})}, settings);
  CHECK(phase_names(gpus[0]) == Names{"all", "load", "rest", "outside"});
  CHECK(gpus[0].phases[1].sm.mean == Approx(0.4));
  CHECK(gpus[0].phases[3].sm.mean == 0.4);
}

TEST_CASE("a GPU without samples has no phases") {
  const std::vector<GpuActivity> gpus = summarize_activity({{"GPU 1", 4, {}}}, {});
  CHECK(gpus[0].phases.empty());
  CHECK(gpus[0].missing == 4);
}

TEST_CASE("wrong phase files") {
  CHECK(complaint_about("start_s,end_s,name\n2,1,a\nx,3,b\n-1,3,b\n3,4,\n3,4\n5,6,c\n5.5,7,d\n8,9,all\n") ==
        "p.csv:2:3: the phase ends at 1 s, not after its start at 2 s\n"
        "p.csv:3:1: start_s is a number of seconds from 0 on; found \"x\"\n"
        "p.csv:4:1: start_s is a number of seconds from 0 on; found \"-1\"\n"
        "p.csv:5:5: a phase without a name\n"
        "p.csv:6: expected 3 fields, found 2\n"
        "p.csv:8:1: the phase starts at 5.5 s, before the one above ends at 6 s\n"
        "p.csv:9:5: a row of its own is called \"all\"; choose another name");
  CHECK(complaint_about("start,end_s,name\n1,2,a\n") ==
        "p.csv:1: no column start_s; expected start_s,end_s,name");
  CHECK(complaint_about("start_s,end_s,name,name\n") ==
        "p.csv:1: two columns name\np.csv:1: more columns than start_s, end_s and name");
  CHECK(complaint_about("start_s,end_s,name\n") ==
        "p.csv: holds no phase; expected a line \"start_s,end_s,name\" and one a phase");
  CHECK(complaint_about("start_s,end_s,name\n0,inf,a\n") ==
        "p.csv:2:3: end_s is a number of seconds from 0 on; found \"inf\"");
}

TEST_CASE("measured and simulated GPUs are partners by name or else in order") {
  const auto busy = [](const std::string& name) {
    return summarize_activity({log_of(name, {{0.9, 0.7}})}, {}).front();
  };
  const GpuActivity idle = summarize_activity({log_of("GPU 1", {{0.0, 0.0}})}, {}).front();
  const ActivityComparison named = compare_activity({busy("GPU 0"), idle}, {busy("GPU 2"), busy("GPU 1")});
  CHECK(named.notes == Names{"GPU 0: measured only", "GPU 2: simulated only"});
  REQUIRE(named.pairs.size() == 3);
  CHECK(named.pairs[0].gpu == "GPU 1");
  CHECK(named.pairs[0].phase == "all");
  CHECK(named.pairs[1].phase == "idle");
  CHECK(!named.pairs[1].simulated);
  CHECK(named.pairs[2].phase == "decode-like");
  CHECK(!named.pairs[2].measured);

  const ActivityComparison ordered = compare_activity({busy("GPU 4"), busy("GPU 5")}, {busy("GPU 0")});
  CHECK(ordered.notes == Names{"GPU 5: measured only"});
  CHECK(ordered.pairs.front().gpu == "GPU 4 / GPU 0");
}

}  // namespace
}  // namespace inferometer
