#include <filesystem>
#include <fstream>
#include <iterator>
#include <locale>
#include <sstream>

#include <sys/stat.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "sim/report/progress_bar.hpp"
#include "sim/report/requests_csv.hpp"
#include "sim/report/results_json.hpp"
#include "sim/report/terminal_summary.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/sim/report_fixture.hpp"

namespace inferometer {
namespace {

namespace fs = std::filesystem;
using test::arrive;
using test::at_ms;
using test::replay_four_requests;
using test::report_of_four;

std::string csv_of(const MetricsRecorder& recorder) {
  std::ostringstream out;
  write_requests_csv(recorder, out);
  return out.str();
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name)
      : path_(fs::temp_directory_path() / ("inferometer_" + name)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(path_), {}); }

 private:
  fs::path path_;
};

/// Numbers as Germans write them, for everything that asks the locale.
class GermanNumbers : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_CASE("requests.csv of four requests, byte by byte") {
  MetricsRecorder recorder;
  replay_four_requests(recorder);
  CHECK(
      csv_of(recorder) ==
      "id,session,status,arrival_s,prompt_tokens,output_tokens,queue_ms,ttft_ms,tpot_ms,e2el_ms,preemptions,"
      "cached_tokens\n"
      "0,7,finished,0,100,3,0,30,15,60,0,0\n"
      "1,,finished,0.01,200,1,20,40,,40,0,0\n"
      "2,7,finished,0.02,50,2,10,30,10,40,0,0\n"
      "3,,finished,0.08,10,1,0,20,,20,0,0\n");
}

TEST_CASE("requests.csv keeps every picosecond and puts rejected requests in their place") {
  MetricsRecorder recorder;
  const auto at = [](std::int64_t ps) { return TimePoint(picoseconds(ps)); };
  arrive(recorder, 0, at(0), 9, 1);
  arrive(recorder, 1, at(1), 9, 1);
  arrive(recorder, 2, at(1'000'000'000'001), 9, 3);
  arrive(recorder, 3, at(1'000'000'000'002), 9, 3);
  recorder.on_rejected({3, at(1'000'000'000'002), at(1'000'000'000'002), 9, "no room"});
  recorder.on_finished({2, -1, at(1'000'000'000'001), at(1'000'000'000'001), at(1'001'000'000'011),
                        at(1'001'000'000'014), 9, 3, 2});
  recorder.on_rejected({0, at(0), at(5), 9, "no room"});
  recorder.on_finished({1, -1, at(1), at(1'500'000'001), at(2'000'000'001), at(2'000'000'001), 9, 1, 0});
  CHECK(
      csv_of(recorder) ==
      "id,session,status,arrival_s,prompt_tokens,output_tokens,queue_ms,ttft_ms,tpot_ms,e2el_ms,preemptions,"
      "cached_tokens\n"
      "0,,rejected,0,9,,,,,,,\n"
      "1,,finished,0.000000000001,9,1,1.5,2,,2,0,0\n"
      "2,,finished,1.000000000001,9,3,0,1.00000001,0.000000002,1.000000013,2,0\n"  // TPOT 1.5 ps, rounded up
      "3,,rejected,1.000000000002,9,,,,,,,\n");
}

TEST_CASE("no output depends on the locale") {
  MetricsRecorder recorder;
  replay_four_requests(recorder);
  const Report report = report_of_four();
  const std::string csv = csv_of(recorder);
  const std::string json = results_json(report);
  const std::string text = terminal_summary(report, false);
  // The locale owns the facet.
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  std::ostringstream probe;
  probe << 1234.5;
  const bool is_german = probe.str() == "1.234,5";
  const bool same =
      csv_of(recorder) == csv && results_json(report) == json && terminal_summary(report, false) == text;
  std::locale::global(before);
  CHECK(is_german);
  CHECK(same);
}

TEST_CASE("a committed file is there whole, and nothing beside it") {
  const TemporaryFolder folder("atomic_commit");
  write_file(folder / "a.txt", "first");
  write_file(folder / "a.txt", "second\n");
  CHECK(contents(folder / "a.txt") == "second\n");
  CHECK(folder.files() == 1);
}

TEST_CASE("a file that was not committed leaves the old one and no trace") {
  const TemporaryFolder folder("atomic_abandon");
  write_file(folder / "a.txt", "old");
  {
    AtomicFile file(folder / "a.txt");
    file.stream() << "new";
    file.stream().flush();
    CHECK(contents(folder / "a.txt") == "old");
    CHECK(folder.files() == 2);
  }
  CHECK(contents(folder / "a.txt") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a place that cannot be written is the user's mistake") {
  const TemporaryFolder folder("atomic_fail");
  const fs::path missing = folder / "missing/a.txt";
  REQUIRE_THROWS_AS(write_file(missing, "x"), ConfigError);
  REQUIRE_THROWS_WITH(write_file(missing, "x"),
                      missing.string() + ": cannot write: No such file or directory");
  fs::create_directories(folder / "taken/full");
  REQUIRE_THROWS_WITH(write_file(folder / "taken", "x"),
                      (folder / "taken").string() + ": cannot put it in its place: Is a directory");
  CHECK(folder.files() == 1);
}

TEST_CASE("no file takes the place of a pipe") {
  const TemporaryFolder folder("atomic_pipe");
  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE_THROWS_WITH(write_file(pipe, "x"), pipe.string() + ": is not a regular file (a pipe or a device)");
  CHECK(fs::is_fifo(pipe));
  CHECK(folder.files() == 1);
}

TEST_CASE("the line of the progress bar") {
  Progress progress{2.0, seconds(183), "", 2500, 10'000};
  // 1250 requests a second; 7500 are left: 6 s. The bar takes a third of 90 columns: 30, a quarter full.
  CHECK(progress_line(progress, 90) ==
        "[#######.......................]  25 %  183.0 s simulated  1,250 req/s  6 s left");
  progress.requests_in_all.reset();
  CHECK(progress_line(progress, 90) == "2,500 requests  183.0 s simulated  1,250 req/s");
  progress.requests_in_all = 10'000'000;
  CHECK(progress_line(progress, 30).size() == 30);
  CHECK(progress_line(progress, 200).find("2 h 13 min left") != std::string::npos);  // 7998 s
  progress.requests_in_all.reset();
  progress.doing = "3 of 32 re-runs";
  CHECK(progress_line(progress, 90) == "2,500 requests  3 of 32 re-runs  1,250 req/s");
}

TEST_CASE("a progress bar appears after a second, ten times a second, on terminals") {
  std::ostringstream out;
  ProgressBar bar(out, true);
  bar.clear();
  bar.update({0.99, seconds(1), "", 1, 10});
  CHECK(out.str().empty());
  bar.update({1.0, seconds(1), "", 1, 10});
  const std::string first = out.str();
  CHECK(first.find("10 %") != std::string::npos);
  bar.update({1.05, seconds(1), "", 2, 10});
  CHECK(out.str() == first);
  bar.update({1.1, seconds(1), "", 2, 10});
  CHECK(out.str().size() > first.size());
  bar.clear();
  CHECK(out.str().substr(out.str().size() - 4) == "\r\x1b[K");

  std::ostringstream pipe;
  ProgressBar quiet(pipe, false);
  quiet.update({5, seconds(1), "", 1, 10});
  quiet.clear();
  CHECK(pipe.str().empty());
}

TEST_CASE("a progress bar is taken off the terminal when an error ends what it shows") {
  std::ostringstream out;
  try {
    ProgressBar bar(out, true);
    bar.update({1.0, seconds(1), "", 1, 10});
    throw 0;
  } catch (int) {
    out << "error";
  }
  CHECK(out.str().ends_with("\r\x1b[Kerror"));
}

}  // namespace
}  // namespace inferometer
