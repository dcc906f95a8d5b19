// The shipped cluster files: figures that fit their GPUs, each with its source; and what is said about a
// wrong file.

#include "hardware/cluster_spec.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "base/data_path.hpp"
#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer {
namespace {

std::string file_text(const std::string& cluster) {
  std::ifstream input(data_directory("hardware/clusters") / (cluster + ".yaml"));
  return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

/// What load_cluster says about a file of this text.
std::string complaint(const std::string& text) {
  const test::TemporaryDirectory directory;
  try {
    load_cluster(directory.write("mine.yaml", text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("clusters with NVSwitch and with PCIe are built in") {
  const std::vector<std::string> names = builtin_cluster_names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (const char* name : {"aws-p4d", "dgx-a100", "dgx-b200", "dgx-h100", "dgx-h200", "h200-ethernet",
                           "pcie-a100-8", "pcie-l40s-8"}) {
    CAPTURE(name);
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  }
}

TEST_CASE("figures of DGX H100 as its documents have them") {
  const ClusterSpec cluster = load_cluster("dgx-h100");
  CHECK(cluster.name == "dgx-h100");
  CHECK(cluster.gpu == "h100-sxm");
  CHECK(cluster.node.gpus == 8);
  CHECK(cluster.node.gpu_bandwidth.count() == 450e9);
  CHECK(cluster.node.nics == 8);
  // 400 Gb/s are 50 GB/s.
  CHECK(cluster.node.nic_bandwidth.count() == 50e9);
  CHECK_FALSE(cluster.node.nic_shares_gpu_link);
  CHECK(cluster.node.storage_bandwidth.count() == 40e9);
  CHECK(cluster.fabric.nodes_per_leaf == 32);
  CHECK(cluster.fabric.oversubscription == 1.0);
  CHECK(cluster.transfer.efficiency == 0.85);
  CHECK(cluster.transfer.half_size == Bytes(256 << 10));
}

TEST_CASE("the links of a node are those of its GPU") {
  for (const std::string& name : builtin_cluster_names()) {
    CAPTURE(name);
    const ClusterSpec cluster = load_cluster(name);
    const GpuSpec gpu = load_gpu(cluster.gpu);
    const BytesPerSecond link =
        cluster.node.nic_shares_gpu_link ? gpu.pcie_per_direction : gpu.nvlink_per_direction.value();
    CHECK(cluster.node.gpu_bandwidth == link);
    // No adapter is faster than the PCI Express of its GPU.
    CHECK(cluster.node.nic_bandwidth <= gpu.pcie_per_direction);
  }
}

TEST_CASE("every figure of every cluster has a source and a date") {
  for (const std::string& name : builtin_cluster_names()) {
    CAPTURE(name);
    const ClusterSpec cluster = load_cluster(name);
    REQUIRE(cluster.provenance.size() == 13);
    CHECK(cluster.provenance.front().first == "node.gpus");
    CHECK(cluster.provenance.back().first == "transfer.half_size");
    for (const auto& [key, origin] : cluster.provenance) {
      CAPTURE(key);
      CHECK(origin.source.size() > 15);
      CHECK(origin.date.substr(0, 5) == "2026-");
    }
  }
}

TEST_CASE("figures of a cluster that cannot be are refused with their place") {
  const std::string good = file_text("dgx-h100");
  REQUIRE(complaint(good).empty());
  const auto with = [&](const std::string& what, const std::string& by) {
    return complaint(replaced(good, what, by));
  };
  check_says(with("value: 450 GB/s", "value: 0 GB/s"), {"mine.yaml:11:12", "node.gpu_bandwidth.value"});
  check_says(with("value: 450 GB/s", "value: -1 GB/s"), {"mine.yaml:11:12"});
  check_says(with("value: 450 GB/s", "value: 450"), {"mine.yaml:11:12"});
  check_says(with("value: 5 us", "value: -5 us"), {"mine.yaml:"});
  check_says(with("value: 0.85", "value: 0"), {"mine.yaml:"});
  check_says(with("value: 0.85", "value: 1.01"), {"mine.yaml:"});
  CHECK(with("value: 0.85", "value: 1").empty());
  CHECK(with("value: 256 KiB", "value: 0 B").empty());
  CHECK(with("value: 50 us", "value: 0 s").empty());
  check_says(with("value: 32", "value: 0"), {"mine.yaml:"});
  check_says(with("gpu_latency:", "gpu_latencies:"), {"gpu_latencies", "gpu_latency"});
  check_says(with("gpu: h100-sxm", "gpu: h100-sxn"), {"unknown GPU", "did you mean \"h100-sxm\"?"});
  check_says(with("fabric:", "fabrics:"), {"fabrics", "fabric"});
  check_says(complaint("just text"), {"mine.yaml"});
  check_says(complaint(good + "title: again\n"), {"title"});
}

TEST_CASE("more adapters than GPUs are refused") {
  const std::string good = file_text("dgx-h100");
  const std::string nics = "nics:\n    value: 8";
  check_says(complaint(replaced(good, nics, "nics:\n    value: 9")), {"9 nics for 8 gpus"});
  CHECK(complaint(replaced(good, nics, "nics:\n    value: 1")).empty());
}

TEST_CASE("a figure of a cluster without source or date is refused") {
  const std::string good = file_text("dgx-h100");
  check_says(complaint(replaced(good, "date: 2026-11", "date: 2026-13")), {"is not a date"});
  check_says(complaint(replaced(good, "    date: 2026-11\n", "")), {"date"});
}

TEST_CASE("an unknown cluster is named with the nearest one") {
  try {
    load_cluster("dgx-h10");
    FAIL("not refused");
  } catch (const ConfigError& error) {
    check_says(error.what(), {"unknown cluster \"dgx-h10\"", "did you mean \"dgx-h100\"?", "pcie-l40s-8"});
  }
  CHECK_THROWS_AS(load_cluster("no/such/file.yaml"), ConfigError);
  CHECK_THROWS_AS(load_cluster(""), ConfigError);
}

}  // namespace
}  // namespace inferometer
