// Record files of a run that may end at any byte.

#include "calibration/measure/record_journal.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibration/measure/durable_file.hpp"
#include "calibration/record/read_measurements.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer {
namespace {

using test::TemporaryDirectory;

const KernelCall kGemm{KernelFamily::gemm, "bf16", {16, 4096, 4096}};
const KernelCall kLargeGemm{KernelFamily::gemm, "bf16", {4096, 4096, 4096}};
const KernelCall kNorm{KernelFamily::elementwise, "norm", {64, 4096}};
const char* const kGemmFile = "h100-sxm.inferometer.gemm.jsonl";

const char* const kHeaderLine =
    R"({"schema":"inferometer-measurements/1","gpu":"h100-sxm","library":"inferometer","driver_version":"580.1"})"
    "\n";
const char* const kGemmLine =
    R"({"family":"gemm","variant":"bf16","m":16,"n":4096,"k":4096,"time_ns_median":12500,"time_ns_q1":12400,)"
    R"("time_ns_q3":12600,"time_ns_min":12300,"samples":10,"sm_mhz_mean":1980,"verification":"passed",)"
    R"("kernel":"cublaslt"})"
    "\n";

MeasurementHeader header() {
  MeasurementHeader header;
  header.gpu = "h100-sxm";
  header.library = "inferometer";
  header.driver_version = "580.1";
  return header;
}

MeasuredKernel measured(const KernelCall& call, double seconds = 12.5e-6) {
  MeasuredKernel point;
  point.call = call;
  point.seconds = seconds;
  point.kernel = "cublaslt";
  point.statistics = {.q1_seconds = 12.4e-6,
                      .q3_seconds = 12.6e-6,
                      .min_seconds = 12.3e-6,
                      .sm_mhz_mean = 1980,
                      .samples = 10,
                      .verified = true};
  return point;
}

SkippedPoint skipped(const KernelCall& call, PointOutcome outcome) {
  return skipped_point(call, outcome, "so it went");
}

/// What opening the directory throws; "" when it throws nothing.
std::string complaint(const std::string& directory, const MeasurementHeader& with = header()) {
  try {
    const RecordJournal journal(directory, with);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST_CASE("a point is in its family's file as soon as it is appended") {
  const TemporaryDirectory directory;
  RecordJournal journal(directory.file("new/run"), header());
  CHECK_FALSE(journal.is_done(kGemm));
  journal.append(measured(kGemm));
  CHECK(journal.is_done(kGemm));
  CHECK(journal.outcome(kGemm) == PointOutcome::measured);
  CHECK(file_bytes(directory.file(std::string("new/run/") + kGemmFile)) ==
        std::string(kHeaderLine) + kGemmLine);
  CHECK_FALSE(std::filesystem::exists(directory.file("new/run/h100-sxm.inferometer.elementwise.jsonl")));
  journal.append(skipped(kNorm, PointOutcome::wrong_result));
  CHECK(
      file_bytes(directory.file("new/run/h100-sxm.inferometer.elementwise.jsonl")) ==
      std::string(kHeaderLine) +
          R"({"family":"elementwise","variant":"norm","tokens":64,"width":4096,"skipped":"wrong result: so it went"})"
          "\n");
}

TEST_CASE("readers of measurements find what the journal wrote and nothing else") {
  const TemporaryDirectory directory;
  const std::string folder = directory.file("run");
  {
    RecordJournal journal(folder, header());
    journal.append(measured(kGemm));
    journal.append(skipped(kNorm, PointOutcome::out_of_memory));
    journal.append(measured(kLargeGemm, 250e-6));
  }
  // A line that was cut off stays beside, where readers pass it over.
  const std::string file = folder + "/" + kGemmFile;
  write(file, file_bytes(file) + R"({"family":"gemm","variant":"bf16","m":1)");
  { const RecordJournal journal(folder, header()); }
  const std::vector<Measurements> sets = read_measurements({folder}, {});
  REQUIRE(sets.size() == 1);
  REQUIRE(sets.front().points.size() == 2);
  CHECK(sets.front().points[0].call == kGemm);
  CHECK(sets.front().points[0].statistics == measured(kGemm).statistics);
  CHECK(sets.front().points[1].call == kLargeGemm);
  REQUIRE(sets.front().skipped.size() == 1);
  CHECK(sets.front().skipped[0].call == kNorm);
}

TEST_CASE("a journal that is opened again knows what is done and what is not") {
  const TemporaryDirectory directory;
  const std::vector<PointOutcome> outcomes = {PointOutcome::wrong_result,  PointOutcome::unsupported,
                                              PointOutcome::out_of_memory, PointOutcome::throttled,
                                              PointOutcome::device_lost,   PointOutcome::device_lost_twice};
  const auto call_of = [](std::size_t i) {
    return KernelCall{KernelFamily::gemm, "bf16", {static_cast<double>(i + 1), 128, 128}};
  };
  {
    RecordJournal journal(directory.file("run"), header());
    journal.append(measured(kGemm));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      journal.append(skipped(call_of(i), outcomes[i]));
    }
  }
  const RecordJournal journal(directory.file("run"), header());
  CHECK(journal.notes().empty());
  CHECK(journal.is_done(kGemm));
  CHECK_FALSE(journal.outcome(kLargeGemm));
  CHECK_FALSE(journal.is_done(kLargeGemm));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CAPTURE(to_string(outcomes[i]));
    CHECK(journal.outcome(call_of(i)) == outcomes[i]);
    const bool again = outcomes[i] == PointOutcome::throttled || outcomes[i] == PointOutcome::device_lost;
    CHECK(journal.is_done(call_of(i)) == !again);
  }
}

TEST_CASE("a reason of another writer is as good as one of ours") {
  const TemporaryDirectory directory;
  write(directory.file(kGemmFile),
        std::string(kHeaderLine) +
            R"({"family":"gemm","variant":"bf16","m":16,"n":4096,"k":4096,"skipped":"by hand: too slow"})"
            "\n");
  CHECK(RecordJournal(directory.file(""), header()).is_done(kGemm));
}

TEST_CASE("a line that was to be tried again is replaced by what came of it") {
  const TemporaryDirectory directory;
  const std::string folder = directory.file("run");
  const std::string file = folder + "/" + kGemmFile;
  std::string before;
  {
    RecordJournal journal(folder, header());
    journal.append(measured(kLargeGemm));
    before = file_bytes(file);
    journal.append(skipped(kGemm, PointOutcome::throttled));
    journal.append(skipped({KernelFamily::gemm, "bf16", {1, 2, 3}}, PointOutcome::unsupported));
  }
  const std::string last =
      R"({"family":"gemm","variant":"bf16","m":1,"n":2,"k":3,"skipped":"unsupported: so it went"})"
      "\n";
  {
    RecordJournal journal(folder, header());
    journal.append(measured(kGemm));
    CHECK(file_bytes(file) == before + last + kGemmLine);
    // The file goes on behind it.
    journal.append(skipped({KernelFamily::gemm, "bf16", {4, 5, 6}}, PointOutcome::throttled));
  }
  const RecordJournal journal(folder, header());
  CHECK(journal.outcome(kGemm) == PointOutcome::measured);
  CHECK(journal.outcome({KernelFamily::gemm, "bf16", {4, 5, 6}}) == PointOutcome::throttled);
}

TEST_CASE("a file goes on behind a line that was replaced while it was written") {
  const TemporaryDirectory directory;
  const KernelCall hot{KernelFamily::gemm, "bf16", {4, 5, 6}}, last{KernelFamily::gemm, "bf16", {7, 8, 9}};
  { RecordJournal(directory.file(""), header()).append(skipped(hot, PointOutcome::throttled)); }
  {
    RecordJournal journal(directory.file(""), header());
    journal.append(measured(kGemm));
    journal.append(measured(hot));
    journal.append(measured(last));
  }
  const RecordJournal journal(directory.file(""), header());
  for (const KernelCall& call : {kGemm, hot, last}) {
    CHECK(journal.outcome(call) == PointOutcome::measured);
  }
}

TEST_CASE("a file that was cut at any byte of its last line goes on without that line") {
  const TemporaryDirectory directory;
  const std::string file = directory.file(kGemmFile);
  const std::string whole = std::string(kHeaderLine) + kGemmLine;
  std::string second = kGemmLine;
  second.replace(second.find("\"m\":16"), 6, "\"m\":17");
  const KernelCall seventeen{KernelFamily::gemm, "bf16", {17, 4096, 4096}};
  for (std::size_t kept = 1; kept < second.size(); ++kept) {
    CAPTURE(kept);
    write(file, whole + second.substr(0, kept));
    std::filesystem::remove(file + ".torn");
    RecordJournal journal(directory.file(""), header());
    REQUIRE(journal.notes().size() == 1);
    check_says(journal.notes()[0], {kGemmFile, ".torn", "measured again"});
    REQUIRE(journal.is_done(kGemm));
    REQUIRE_FALSE(journal.is_done(seventeen));
    REQUIRE(file_bytes(file) == whole);
    REQUIRE(file_bytes(file + ".torn").find("\n" + second.substr(0, kept) + "\n") != std::string::npos);
    journal.append(measured(seventeen));
    REQUIRE(file_bytes(file) == whole + second);
  }
}

TEST_CASE("a file that was cut in its header begins anew") {
  const TemporaryDirectory directory;
  const std::string text = kHeaderLine;
  for (const std::size_t kept : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 1}) {
    CAPTURE(kept);
    write(directory.file(kGemmFile), text.substr(0, kept));
    RecordJournal journal(directory.file(""), header());
    CHECK(journal.notes().size() == (kept == 0 ? 0 : 1));
    CHECK_FALSE(journal.is_done(kGemm));
    journal.append(measured(kGemm));
    CHECK(file_bytes(directory.file(kGemmFile)) == text + kGemmLine);
  }
}

TEST_CASE("blocks that never reached the disk are taken off like half a line") {
  const TemporaryDirectory directory;
  const std::string zeros(100, '\0');
  for (const std::string& tail : {zeros, zeros + "\n", std::string("\n")}) {
    write(directory.file(kGemmFile), std::string(kHeaderLine) + kGemmLine + tail);
    const RecordJournal journal(directory.file(""), header());
    CHECK(journal.notes().size() == 1);
    CHECK(journal.is_done(kGemm));
    CHECK(file_bytes(directory.file(kGemmFile)) == std::string(kHeaderLine) + kGemmLine);
  }
}

TEST_CASE("lines that no run wrote are refused and left as they are") {
  const TemporaryDirectory directory;
  const std::string whole = std::string(kHeaderLine) + kGemmLine;
  const std::string skipped =
      R"({"family":"gemm","variant":"bf16","m":16,"n":4096,"k":4096,"skipped":"throttled: hot"})"
      "\n";
  const std::string norm =
      R"({"family":"elementwise","variant":"norm","tokens":64,"width":4096,"skipped":"unsupported: so"})"
      "\n";
  const std::string gzip = "\x1f\x8b\x08";
  const std::vector<std::vector<std::string>> cases = {
      {whole + kGemmLine, "gemm.jsonl:3", "m=16 n=4096 k=4096", "already"},  // said twice, alike
      {whole + skipped, "gemm.jsonl:3", "already"},                          // would be tried again for ever
      {whole + norm, "gemm.jsonl:3", "elementwise", "file of gemm"},
      {gzip, "gemm.jsonl", "compressed"},
  };
  for (const std::vector<std::string>& one : cases) {
    CAPTURE(one[0]);
    write(directory.file(kGemmFile), one[0]);
    const std::string message = complaint(directory.file(""));
    CAPTURE(message);
    for (std::size_t i = 1; i < one.size(); ++i) {
      CHECK(message.find(one[i]) != std::string::npos);
    }
    CHECK(file_bytes(directory.file(kGemmFile)) == one[0]);
  }
}

TEST_CASE("a pipe in the place of a record file is refused instead of waited for") {
  const TemporaryDirectory directory;
  REQUIRE(mkfifo(directory.file(kGemmFile).c_str(), 0600) == 0);
  check_says(complaint(directory.file("")), {kGemmFile, "not a regular file"});
}

TEST_CASE("what was cut off before is kept when a file is cut again") {
  const TemporaryDirectory directory;
  const std::string whole = std::string(kHeaderLine) + kGemmLine;
  for (const char* const half : {"{\"family\":\"ge", "{\"fam"}) {
    write(directory.file(kGemmFile), whole + half);
    const RecordJournal journal(directory.file(""), header());
  }
  check_says(file_bytes(directory.file(std::string(kGemmFile) + ".torn")),
             {"\n{\"family\":\"ge\n", "\n{\"fam\n"});
}

TEST_CASE("a damaged line before the last is an error that names it") {
  const TemporaryDirectory directory;
  write(directory.file(kGemmFile), std::string(kHeaderLine) + "{\"family\":\"ge\n" + kGemmLine);
  check_says(complaint(directory.file("")), {std::string(kGemmFile) + ":2"});
  // Nothing was changed.
  CHECK(file_bytes(directory.file(kGemmFile)) == std::string(kHeaderLine) + "{\"family\":\"ge\n" + kGemmLine);
}

TEST_CASE("a file of another set is refused with the first field that differs") {
  const TemporaryDirectory directory;
  { RecordJournal(directory.file(""), header()).append(measured(kGemm)); }
  MeasurementHeader other = header();
  other.driver_version = "590.2";
  other.ecc = "on";
  check_says(complaint(directory.file(""), other),
             {std::string(kGemmFile) + ":1", "driver_version \"580.1\" and \"590.2\"", "another folder"});
  other = header();
  other.power_limit_w = 650;
  check_says(complaint(directory.file(""), other), {"power_limit_w 0 and 650"});
  // What may differ from run to run.
  other = header();
  other.utc = "2026-11-30T05:40:00Z";
  other.temperature_c = 60;
  other.host = "node7";
  CHECK(complaint(directory.file(""), other).empty());
}

TEST_CASE("an unfinished line of another set is left where it is") {
  const TemporaryDirectory directory;
  const std::string text = std::string(kHeaderLine) + kGemmLine + "{\"family\":";
  write(directory.file(kGemmFile), text);
  MeasurementHeader other = header();
  other.driver_version = "590.2";
  check_says(complaint(directory.file(""), other), {"driver_version"});
  CHECK(file_bytes(directory.file(kGemmFile)) == text);
}

TEST_CASE("another GPU writes to files of its own") {
  const TemporaryDirectory directory;
  { RecordJournal(directory.file(""), header()).append(measured(kGemm)); }
  MeasurementHeader other = header();
  other.gpu = "h200-sxm";
  RecordJournal journal(directory.file(""), other);
  CHECK_FALSE(journal.is_done(kGemm));
  journal.append(measured(kGemm));
  CHECK(std::filesystem::exists(directory.file("h200-sxm.inferometer.gemm.jsonl")));
}

TEST_CASE("two runs do not write to one folder at once") {
  const TemporaryDirectory directory, another;
  {
    const RecordJournal journal(directory.file(""), header());
    check_says(complaint(directory.file("")), {"another run is writing to this folder"});
    // The one that was refused has not let the folder go for the first.
    check_says(complaint(directory.file("")), {"another run is writing to this folder"});
    CHECK(complaint(another.file("")).empty());
  }
  CHECK(complaint(directory.file("")).empty());
  CHECK_FALSE(std::filesystem::exists(directory.file(".lock")));
}

TEST_CASE("the lock file of a run that was killed holds nobody up") {
  const TemporaryDirectory directory;
  write(directory.file(".lock"), "");
  CHECK(complaint(directory.file("")).empty());
}

TEST_CASE("a run that is killed leaves its folder and its finished lines to the next") {
  const TemporaryDirectory directory;
  const std::string file = directory.file(kGemmFile);
  const auto call_of = [](int m) { return KernelCall{KernelFamily::gemm, "bf16", {m + 0.0, 128, 128}}; };
  const pid_t run = fork();
  if (run == 0) {
    RecordJournal journal(directory.file(""), header());
    for (int m = 1;; ++m) {
      journal.append(measured(call_of(m)));
    }
  }
  // Until some lines are there; ten seconds are far more than they take.
  for (int tries = 0; tries < 10000 && !(std::filesystem::exists(file) && file_bytes(file).size() > 2000);
       ++tries) {
    usleep(1000);
  }
  check_says(complaint(directory.file("")), {"another run is writing to this folder"});
  REQUIRE(kill(run, SIGKILL) == 0);
  REQUIRE(waitpid(run, nullptr, 0) == run);
  const RecordJournal journal(directory.file(""), header());
  const std::string text = file_bytes(file);
  const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  CHECK(lines > 5);
  for (int m = 1; m < lines; ++m) {
    CHECK(journal.is_done(call_of(m)));
  }
  CHECK_FALSE(journal.is_done(call_of(lines)));
}

TEST_CASE("a GPU that is not built in cannot be recorded") {
  const TemporaryDirectory directory;
  MeasurementHeader unknown = header();
  unknown.gpu = "";
  check_says(complaint(directory.file("run"), unknown), {"a GPU without a name", "h100-sxm"});
  unknown.gpu = "h999";
  check_says(complaint(directory.file("run"), unknown), {"\"h999\"", "h100-sxm"});
  CHECK_FALSE(std::filesystem::exists(directory.file("run")));
}

TEST_CASE("a folder that cannot be one is an error") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("file", "");
  check_says(complaint(file), {file});
}

TEST_CASE("half a replacement of a killed run is removed and the old file holds") {
  const TemporaryDirectory directory;
  write(directory.file(kGemmFile), std::string(kHeaderLine) + kGemmLine);
  const std::string beside = directory.write(std::string(kGemmFile) + ".tmp", kHeaderLine);
  const RecordJournal journal(directory.file(""), header());
  CHECK(journal.is_done(kGemm));
  CHECK_FALSE(std::filesystem::exists(beside));
}

TEST_CASE("a full disk is an error and the file is good when it is opened again") {
  const TemporaryDirectory directory;
  const std::string file = directory.file(kGemmFile);
  {
    RecordJournal journal(directory.file(""), header());
    journal.append(measured(kGemm));
    // The next line fits by half.
    rlimit old = {};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
    rlimit small = old;
    small.rlim_cur = std::filesystem::file_size(file) + 60;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    std::string what;
    try {
      journal.append(measured(kLargeGemm));
    } catch (const ConfigError& error) {
      what = error.what();
    }
    REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
    std::signal(SIGXFSZ, handler);
    check_says(what, {kGemmFile, "cannot write all of it: File too large"});
    CHECK_FALSE(journal.is_done(kLargeGemm));
  }
  RecordJournal journal(directory.file(""), header());
  CHECK(journal.notes().size() == 1);
  CHECK(journal.is_done(kGemm));
  journal.append(measured(kLargeGemm));
  CHECK(journal.is_done(kLargeGemm));
}

TEST_CASE("every outcome but those without a record is read back from its reason") {
  for (const PointOutcome outcome : point_outcomes()) {
    CHECK(outcome_of(skipped_point(kGemm, outcome, "with: colons").reason) == outcome);
  }
  CHECK_FALSE(outcome_of("something else: so it went"));
  CHECK_FALSE(outcome_of(""));
}

TEST_CASE("a point has one line") {
  const TemporaryDirectory directory;
  RecordJournal journal(directory.file(""), header());
  journal.append(measured(kGemm));
  CHECK_THROWS_AS(journal.append(measured(kGemm)), std::logic_error);
  CHECK_THROWS_AS(journal.append(SkippedPoint{kNorm, "no outcome", {}}), std::logic_error);
}

}  // namespace
}  // namespace inferometer
