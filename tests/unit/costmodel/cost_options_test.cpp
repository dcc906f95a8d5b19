#include "costmodel/cost_options.hpp"

#include "base/config/config_node.hpp"
#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

CostOptions read(const std::string& yaml) {
  Diagnostics diagnostics;
  const Values values = parse(cost_model_table(), read_yaml_text(yaml, "scenario.yaml"), diagnostics);
  diagnostics.throw_if_any();
  return cost_options_from(values);
}

TEST_CASE("an empty section gives the documented defaults") {
  const CostOptions options = read("{}");
  CHECK(options.level == CostLevel::calibrated);
  CHECK(options.kernels == "vllm");
  CHECK(options.host_fixed == microseconds(500));
  CHECK(options.host_per_sequence == microseconds(5));
  CHECK(options.host_per_prefill_token == Duration());
  CHECK(options.frontend_latency == Duration());
  CHECK_FALSE(options.host_overlap);
  CHECK(options.cuda_graphs);
  CHECK_FALSE(options.gemm_compute_efficiency.has_value());
  CHECK_FALSE(options.link_efficiency.has_value());
}

TEST_CASE("every key is read into its place") {
  const CostOptions options = read(
      "level: datasheet\nhost_fixed: 2 ms\nhost_per_sequence: 0 us\nhost_overlap: true\n"
      "host_per_prefill_token: 250 ns\nfrontend_latency: 3 ms\ncuda_graphs: false\n"
      "gemm_compute_efficiency: 0.1\ngemm_bandwidth_efficiency: 0.2\nattention_compute_efficiency: 0.3\n"
      "attention_bandwidth_efficiency: 0.4\nlink_efficiency: 1\n");
  CHECK(options.level == CostLevel::datasheet);
  CHECK(options.host_fixed == milliseconds(2));
  CHECK(options.host_per_sequence == Duration());
  CHECK(options.host_overlap);
  CHECK(options.host_per_prefill_token == nanoseconds(250));
  CHECK(options.frontend_latency == milliseconds(3));
  CHECK_FALSE(options.cuda_graphs);
  const Profile profile = overridden(samples::round_profile(), options);
  CHECK(profile.gemm.compute_efficiency == 0.1);
  CHECK(profile.gemm.bandwidth_efficiency == 0.2);
  CHECK(profile.prefill_attention.compute_efficiency == 0.3);
  CHECK(profile.decode_attention.compute_efficiency == 0.3);
  CHECK(profile.prefill_attention.bandwidth_efficiency == 0.4);
  CHECK(profile.decode_attention.bandwidth_efficiency == 0.4);
  CHECK(profile.all_reduce[2].link_efficiency == 1);
  CHECK(profile.elementwise.bandwidth_efficiency == 0.8);  // not overridable
  CHECK(profile.gemm.start_up == microseconds(4));
}

TEST_CASE("efficiencies of zero or above one and unknown levels are refused") {
  CHECK_THROWS_AS(read("gemm_compute_efficiency: 0"), ConfigError);
  CHECK_THROWS_AS(read("gemm_compute_efficiency: 1.01"), ConfigError);
  CHECK_THROWS_AS(read("link_efficiency: -0.5"), ConfigError);
  CHECK_THROWS_AS(read("level: measured"), ConfigError);
  CHECK_THROWS_AS(read("host_fixed: -1 us"), ConfigError);
  CHECK_THROWS_AS(read("host_fixed: 500"), ConfigError);
}

TEST_CASE("efficiencies belong to the level roofline") {
  for (const char* share :
       {"gemm_compute_efficiency", "gemm_bandwidth_efficiency", "attention_compute_efficiency",
        "attention_bandwidth_efficiency", "link_efficiency"}) {
    CAPTURE(share);
    const std::string given = std::string(share) + ": 0.5\n";
    CHECK(read(given).level == CostLevel::roofline);
    CHECK(read("level: roofline\n" + given).level == CostLevel::roofline);
    CHECK(read("level: datasheet\n" + given).level == CostLevel::datasheet);
    std::string message;
    try {
      read("level: calibrated\n" + given);
    } catch (const ConfigError& error) {
      message = error.what();
    }
    CHECK(message == "scenario.yaml:2:" + std::to_string(given.find("0.5") + 1) + ": cost_model." + share +
                         " has no meaning at level calibrated, whose kernels were measured; write level: "
                         "roofline");
  }
}

TEST_CASE("the library of measured kernels is one of two") {
  CHECK(read("kernels: tensorrt-llm").kernels == "tensorrt-llm");
  CHECK_THROWS_AS(read("kernels: sglang"), ConfigError);
}

TEST_CASE("a level's name reads back") {
  CHECK(to_string(CostLevel::calibrated) == "calibrated");
  CHECK(to_string(CostLevel::datasheet) == "datasheet");
  CHECK(to_string(CostLevel::roofline) == "roofline");
}

}  // namespace
}  // namespace inferometer
