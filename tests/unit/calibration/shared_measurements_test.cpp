// The published tables themselves, where they lie beside the project: every row is a point, a suspect or left
// out with a note, and what the tables say at a few places is what is read.

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <zlib.h>

#include "tests/unit/calibration/measurement_test_support.hpp"

namespace inferometer {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(INFEROMETER_SHARED_DATA);

bool is_absent(const fs::path& folder) {
  if (fs::is_directory(folder)) {
    return false;
  }
  std::cout << "skipped: no measured data at " << folder << "\n";
  return true;
}

/// As `zcat FILE | wc -l` counts.
std::int64_t line_count(const fs::path& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  REQUIRE(file != nullptr);
  std::int64_t count = 0;
  for (int byte = gzgetc(file); byte >= 0; byte = gzgetc(file)) {
    count += byte == '\n' ? 1 : 0;
  }
  gzclose(file);
  return count;
}

/// N of each "...: N rows left out: ..."
std::int64_t left_out(const Measurements& set) {
  std::int64_t count = 0;
  for (const std::string& note : set.notes) {
    const std::size_t words = note.find(" left out: ");
    if (words != std::string::npos) {
      count += std::atoll(note.c_str() + note.rfind(": ", words) + 2);
    }
  }
  return count;
}

std::int64_t rows_of(const std::vector<Measurements>& sets) {
  std::int64_t count = 0;
  for (const Measurements& set : sets) {
    count += static_cast<std::int64_t>(set.points.size() + set.suspects.size()) + left_out(set);
  }
  return count;
}

std::vector<fs::path> files_under(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(ending)) {
      files.push_back(entry.path());
    }
  }
  return files;
}

}  // namespace

TEST_CASE("every row of aiconfigurator's tables is accounted for", "[shared_measurements]") {
  if (is_absent(kData / "aiconfigurator")) {
    return;
  }
  for (const fs::path& file : files_under(kData / "aiconfigurator", ".csv.gz")) {
    INFO(file.string());
    // Less the constants and the header.
    CHECK(rows_of(read_measurements({file.string()}, {})) == line_count(file) - 2);
  }
}

TEST_CASE("hardly any row of the tables is faster than its GPU", "[shared_measurements]") {
  if (is_absent(kData / "aiconfigurator")) {
    return;
  }
  std::size_t points = 0;
  std::size_t suspects = 0;
  for (const Measurements& set : read_measurements({(kData / "aiconfigurator").string()}, {})) {
    points += set.points.size();
    suspects += set.suspects.size();
  }
  CHECK(points > 1'000'000);
  CHECK(suspects * 10'000 < points);
}

TEST_CASE("rows of Vidur's attention table are one point each", "[shared_measurements]") {
  const fs::path file = kData / "vidur/history/a100_attention_ee3dec76.csv";
  if (is_absent(kData / "vidur")) {
    return;
  }
  const std::vector<Measurements> sets = read_measurements({file.string()}, {});
  CHECK(rows_of(sets) == line_count(file) - 1);
  REQUIRE(sets.size() == 1);
  // The first row: 32 cached tokens, Llama-2-70B on two GPUs, 15 us.
  CHECK(to_string(sets[0].points[0].call) ==
        "decode_attention bf16 batch=1 context=33 heads=32 kv_heads=4 head_dim=128 window=0");
  CHECK(sets[0].points[0].seconds == 0.015 / 1e3);
}

TEST_CASE("rows of Vidur's layer tables are ten operators each", "[shared_measurements]") {
  if (is_absent(kData / "vidur")) {
    return;
  }
  for (const fs::path& file : files_under(kData / "vidur/profiling", "mlp.csv")) {
    INFO(file.string());
    CHECK(rows_of(read_measurements({file.string()}, {})) == 10 * (line_count(file) - 1));
  }
}

TEST_CASE("rows of Vidur's collectives are one point each", "[shared_measurements]") {
  if (is_absent(kData / "vidur")) {
    return;
  }
  for (const fs::path& file : files_under(kData / "vidur/profiling/network", ".csv")) {
    INFO(file.string());
    CHECK(rows_of(read_measurements({file.string()}, {})) == line_count(file) - 1);
  }
}

}  // namespace inferometer
