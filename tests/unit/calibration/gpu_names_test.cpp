#include "calibration/record/gpu_names.hpp"

#include <set>

#include "tests/support/catch.hpp"

namespace inferometer {

TEST_CASE("every GPU has a name of its driver's, and no two share one", "[gpu_names]") {
  const GpuNames gpus;
  std::set<std::string> seen;
  for (const std::string& name : gpus.names()) {
    INFO(name);
    const GpuSpec* const gpu = gpus.find(name);
    REQUIRE(gpu != nullptr);
    CHECK_FALSE(gpu->device_names.empty());
    for (const std::string& device : gpu->device_names) {
      CHECK(seen.insert(device).second);
      CHECK(gpus.of_device(device) == name);
    }
  }
  CHECK_FALSE(gpus.of_device("NVIDIA H100").has_value());
  CHECK_FALSE(gpus.of_device("").has_value());
  CHECK(gpus.find("h100") == nullptr);
}

TEST_CASE("a path names its GPU by whole words, the last part first", "[gpu_names]") {
  const GpuNames gpus;
  CHECK(gpus.of_path("data/h100_sxm/gemm.csv") == "h100-sxm");
  CHECK(gpus.of_path("network/a100_dgx/all_reduce.csv") == "a100-80gb-sxm");
  CHECK(gpus.of_path("compute/H100/meta-llama/Llama-2-7b-hf/mlp.csv") == "h100-sxm");
  CHECK(gpus.of_path("h100/a100_cpu_overheads.csv") == "a100-80gb-sxm");
  CHECK(gpus.of_path("a100/h100-nvl.gemm.jsonl") == "h100-nvl");
  CHECK(gpus.of_path("a100-40gb-pcie") == "a100-40gb-pcie");
  CHECK(gpus.of_path("l40s/gemm.csv") == "l40s");
  CHECK(gpus.of_path("l4.csv") == "l4");
  CHECK_FALSE(gpus.of_path("l4000/gemm.csv").has_value());
  CHECK_FALSE(gpus.of_path("my-h100/gemm.csv").has_value());
  CHECK_FALSE(gpus.of_path("").has_value());
}

}  // namespace inferometer
