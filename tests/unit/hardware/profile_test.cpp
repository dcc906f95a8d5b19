#include "hardware/profile.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// Writes a file that is gone at the end of the test.
class ScratchFile {
 public:
  ScratchFile(const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path() / name) {
    std::ofstream(path_) << text;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST_CASE("H100 profile holds the fitted constants") {
  const Profile profile = load_profile("h100-sxm");
  const GpuSpec gpu = load_gpu("h100-sxm");
  CHECK(profile.gpu == "h100-sxm");
  CHECK(profile.assumed_sections.empty());
  CHECK(profile.gemm.start_up == nanoseconds(3'700));
  // Fits of aiconfigurator measurements: 788 TFLOPS, 2.90 TB/s; attention 3.12 TB/s and 660 TFLOPS.
  CHECK(profile.gemm.compute_efficiency * gpu.bf16_peak.count() == Approx(788e12).epsilon(0.002));
  CHECK(profile.gemm.bandwidth_efficiency * gpu.hbm_bandwidth.count() == Approx(2.90e12).epsilon(0.002));
  CHECK(profile.decode_attention.start_up == nanoseconds(11'500));
  CHECK(profile.decode_per_sequence_head == nanoseconds(25));
  CHECK(profile.decode_attention.bandwidth_efficiency * gpu.hbm_bandwidth.count() ==
        Approx(3.12e12).epsilon(0.002));
  CHECK(profile.prefill_attention.compute_efficiency * gpu.bf16_peak.count() ==
        Approx(660e12).epsilon(0.002));
  CHECK(profile.overhang_tokens == 1090);
  // Rate of an all-reduce among n GPUs: 2 (n - 1) / n of the array over the link: 273, 201, 215 GB/s.
  const double link = 450e9;
  CHECK(link_efficiency(profile, 2).link_efficiency * link / 1.0 == Approx(273e9).epsilon(0.002));
  CHECK(link_efficiency(profile, 4).link_efficiency * link / 1.5 == Approx(201e9).epsilon(0.002));
  CHECK(link_efficiency(profile, 8).link_efficiency * link / 1.75 == Approx(215e9).epsilon(0.002));
  CHECK(link_efficiency(profile, 8).start_up == nanoseconds(5'400));
}

TEST_CASE("A100, H200, B200 and L40S keep the fitted GEMM rates") {
  struct Fit {
    const char* gpu;
    double tflops, terabytes_per_s;
    std::int64_t start_up_ns;
  };
  for (const Fit& fit : {Fit{"a100-80gb-sxm", 233, 1.48, 6000}, Fit{"h200-sxm", 788, 3.93, 3900},
                         Fit{"b200-sxm", 1580, 6.07, 3400}, Fit{"l40s", 215, 0.67, 1300}}) {
    const Profile profile = load_profile(fit.gpu);
    const GpuSpec gpu = load_gpu(fit.gpu);
    CAPTURE(fit.gpu);
    CHECK(profile.gemm.compute_efficiency * gpu.bf16_peak.count() ==
          Approx(fit.tflops * 1e12).epsilon(0.005));
    CHECK(profile.gemm.bandwidth_efficiency * gpu.hbm_bandwidth.count() ==
          Approx(fit.terabytes_per_s * 1e12).epsilon(0.005));
    CHECK(profile.gemm.start_up == nanoseconds(fit.start_up_ns));
    const auto& assumed = profile.assumed_sections;
    CHECK(std::find(assumed.begin(), assumed.end(), "gemm") == assumed.end());
  }
}

TEST_CASE("every built-in GPU has a profile of its own, every section with a source") {
  for (const std::string& name : builtin_gpu_names()) {
    CAPTURE(name);
    const Profile profile = load_profile(name);
    CHECK(profile.gpu == name);
    REQUIRE(profile.provenance.size() == 5);
    for (const auto& [section, provenance] : profile.provenance) {
      CHECK(provenance.source.size() > 20);
      CHECK(provenance.date.size() == 10);
    }
  }
}

TEST_CASE("a GPU of the user's own gets the generic profile, which says that it is assumed") {
  for (const char* name : {"my-gpu", "folder/my-gpu.yaml", "../gpus/h100-sxm"}) {
    const Profile profile = load_profile(name);
    CHECK(profile.gpu == "generic");
    CHECK(profile.assumed_sections ==
          std::vector<std::string>{"gemm", "decode_attention", "prefill_attention", "all_reduce"});
  }
}

TEST_CASE("groups between the tabulated ones use the next larger") {
  Profile profile;
  profile.all_reduce = {LinkEfficiency{microseconds(1), 0.1}, LinkEfficiency{microseconds(2), 0.2},
                        LinkEfficiency{microseconds(3), 0.3}};
  CHECK(link_efficiency(profile, 2).start_up == microseconds(1));
  CHECK(link_efficiency(profile, 3).start_up == microseconds(2));
  CHECK(link_efficiency(profile, 5).start_up == microseconds(3));
  CHECK_THROWS_AS(link_efficiency(profile, 1), std::logic_error);
  CHECK_THROWS_AS(link_efficiency(profile, 9), std::logic_error);
}

TEST_CASE("a broken profile is reported with all its mistakes") {
  const ScratchFile file("inferometer_broken_profile.yaml",
                         "gpu: x\ngemm: {start_up: 3 us, compute_efficiency: 1.2, bandwidth_efficiency: 0.5, "
                         "source: s, date: \"2026-01-01\", asumed: true}\n");
  try {
    read_profile(file.path());
    FAIL("accepted");
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    CHECK(text.find("asumed") != std::string::npos);
    CHECK(text.find("assumed") != std::string::npos);
    CHECK(text.find("compute_efficiency") != std::string::npos);
    CHECK(text.find("prefill_attention") != std::string::npos);
  }
}

}  // namespace
}  // namespace inferometer
