// The shipped GPU files: figures that fit together, each with its source; and what is said about a wrong
// file.

#include "hardware/gpu_spec.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "base/data_path.hpp"
#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

std::string file_text(const std::string& gpu) {
  std::ifstream input(data_directory("hardware/gpus") / (gpu + ".yaml"));
  return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

/// What load_gpu says about a file of this text.
std::string complaint(const std::string& text) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("inferometer_gpu_spec_test_" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(path) << text;
  std::string what;
  try {
    load_gpu(path.string());
  } catch (const ConfigError& error) {
    what = error.what();
  }
  std::filesystem::remove(path);
  return what;
}

}  // namespace

TEST_CASE("every GPU of the reference table is built in") {
  const std::vector<std::string> expected = {
      "a100-40gb-pcie", "a100-40gb-sxm", "a100-80gb-pcie", "a100-80gb-sxm", "a10g", "b200-sxm",
      "h100-nvl",       "h100-pcie",     "h100-sxm",       "h200-sxm",      "l4",   "l40s",
      "mi300x"};
  CHECK(builtin_gpu_names() == expected);
}

TEST_CASE("compute peaks are SMs x FLOP per clock and SM x clock") {
  struct Row {
    const char* gpu;
    double flop_per_clock_and_sm;
    double clock_hz;  // at which the datasheet's peak holds
  };
  // FLOP per clock and SM: 8th of a 2:1 pattern aside, 4th generation tensor cores do 4096 dense bf16, third
  // 2048, Ada 1024, GA102 512; MI300X does 2048 per compute unit.
  for (const Row& row : {Row{"a100-40gb-sxm", 2048, 1.41e9}, Row{"a100-80gb-sxm", 2048, 1.41e9},
                         Row{"a100-80gb-pcie", 2048, 1.41e9}, Row{"h100-sxm", 4096, 1.83e9},
                         Row{"h200-sxm", 4096, 1.83e9}, Row{"h100-pcie", 4096, 1.62e9},
                         Row{"l4", 1024, 2.04e9}, Row{"a10g", 512, 1.71e9}, Row{"mi300x", 2048, 2.1e9}}) {
    const GpuSpec gpu = load_gpu(row.gpu);
    INFO(row.gpu);
    const double peak = static_cast<double>(gpu.sm_count) * row.flop_per_clock_and_sm * row.clock_hz;
    CHECK(gpu.bf16_peak.count() == Approx(peak).epsilon(0.002));
    CHECK(gpu.boost_clock.count() >= row.clock_hz);
  }
}

TEST_CASE("ridge points of the theory") {
  CHECK(load_gpu("a100-80gb-sxm").ridge_point() == Approx(312e12 / 2.039e12).epsilon(1e-12));
  CHECK(load_gpu("a100-80gb-sxm").ridge_point() == Approx(153.0).epsilon(0.001));
  CHECK(load_gpu("h100-sxm").ridge_point() == Approx(295.2).epsilon(0.001));
}

TEST_CASE("figures of H100 SXM as the datasheet has them") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  CHECK(gpu.name == "h100-sxm");
  CHECK(gpu.title == "NVIDIA H100 SXM5 80 GB");
  CHECK(gpu.bf16_peak.count() == 989e12);
  REQUIRE(gpu.fp8_peak.has_value());
  CHECK(gpu.fp8_peak->count() == 1979e12);
  REQUIRE(gpu.int8_peak.has_value());
  CHECK(gpu.int8_peak->count() == 1979e12);
  CHECK(gpu.hbm_capacity == Bytes(80'000'000'000));
  CHECK(gpu.hbm_bandwidth.count() == 3.35e12);
  CHECK(gpu.l2_cache == Bytes(50'000'000));
  REQUIRE(gpu.nvlink_per_direction.has_value());
  CHECK(gpu.nvlink_per_direction->count() == 450e9);
  CHECK(gpu.tdp.count() == 700.0);
  CHECK(gpu.sm_count == 132);
  CHECK(gpu.boost_clock.count() == 1.98e9);
  CHECK(gpu.price.count() == 2.95);
  // An 80 GB card shows a process 79.1 to 79.6 GiB.
  CHECK(gpu.hbm_usable >= Bytes(84'900'000'000));
  CHECK(gpu.hbm_usable <= Bytes(85'500'000'000));
}

TEST_CASE("what a chip lacks is absent, not zero") {
  CHECK_FALSE(load_gpu("a100-80gb-sxm").fp8_peak.has_value());
  CHECK_FALSE(load_gpu("l4").nvlink_per_direction.has_value());
}

TEST_CASE("every figure of every GPU has a source and a date") {
  for (const std::string& name : builtin_gpu_names()) {
    const GpuSpec gpu = load_gpu(name);
    INFO(name);
    const std::size_t absent =
        (gpu.fp8_peak ? 0u : 1u) + (gpu.int8_peak ? 0u : 1u) + (gpu.nvlink_per_direction ? 0u : 1u);
    CHECK(gpu.provenance.size() == 13 - absent);
    for (const auto& [key, origin] : gpu.provenance) {
      INFO(key);
      CHECK(origin.source.size() > 10);
      CHECK(origin.date.substr(0, 5) == "2026-");
    }
    if (gpu.fp8_peak) {
      CHECK(gpu.fp8_peak->count() / gpu.bf16_peak.count() == Approx(2.0).epsilon(0.02));
    }
    CHECK(static_cast<double>(gpu.hbm_usable.count()) > 0.9 * static_cast<double>(gpu.hbm_capacity.count()));
  }
}

TEST_CASE("a figure without source, without date or with a wrong one is refused") {
  const std::string good = file_text("l4");
  REQUIRE(complaint(good).empty());
  const std::string tdp = "tdp:\n  value: 72 W\n  source: \"NVIDIA L4 datasheet\"\n  date: 2026-11\n";
  const auto with_tdp = [&](const std::string& lines) {
    return complaint(replaced(good, tdp, "tdp:\n" + lines));
  };

  check_says(with_tdp("  value: 72 W\n  date: 2026-11\n"), {"source"});
  check_says(with_tdp("  value: 72 W\n  source: sheet\n"), {"date"});
  check_says(with_tdp("  value: 72 W\n  source: \"\"\n  date: 2026-11\n"), {"source of tdp is empty"});
  for (const char* date : {"2026-13", "26-11", "2026/11", "soon", "2026-00"}) {
    check_says(with_tdp(std::string("  value: 72 W\n  source: sheet\n  date: ") + date + "\n"),
               {"is not a date"});
  }
}

TEST_CASE("figures that cannot be are refused with their place") {
  const std::string good = file_text("l4");
  check_says(complaint(replaced(good, "72 W", "0 W")), {".yaml:"});
  check_says(complaint(replaced(good, "72 W", "-72 W")), {".yaml:"});
  check_says(complaint(replaced(good, "72 W", "72")), {".yaml:"});
  check_says(complaint(replaced(good, "value: 58", "value: 0")), {".yaml:"});
  check_says(complaint(replaced(good, "value: 58", "value: 58.5")), {".yaml:"});
  check_says(complaint(replaced(good, "23.84 GB", "26 GB")), {"hbm_usable 26 GB"});
  CHECK(complaint(replaced(good, "23.84 GB", "25.7 GB")).empty());
  check_says(complaint(replaced(good, "tdp:", "power:")), {"power", "tdp"});
}

TEST_CASE("an unknown GPU is named with the nearest one") {
  try {
    load_gpu("h100-sxn");
    FAIL("not refused");
  } catch (const ConfigError& error) {
    check_says(error.what(), {"unknown GPU \"h100-sxn\"", "did you mean \"h100-sxm\"?", "mi300x"});
  }
  CHECK_THROWS_AS(load_gpu("no/such/file.yaml"), ConfigError);
  CHECK_THROWS_AS(load_gpu(""), ConfigError);
}

}  // namespace inferometer
