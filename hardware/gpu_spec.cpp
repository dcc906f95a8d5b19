#include "hardware/gpu_spec.hpp"

#include "base/config/config_node.hpp"
#include "base/config/table.hpp"
#include "base/error.hpp"
#include "hardware/figure.hpp"

namespace inferometer {
namespace {

constexpr const char* kFolder = "hardware/gpus";

Table gpu_table() {
  Table table("gpu", "Datasheet figures of one GPU");
  table.add("title", ValueType::text, "Full product name").required();
  table
      .add_list("device_names", ValueType::text, "What the driver calls the GPU, as in files of measurements")
      .optional("files of measurements cannot name it");
  const auto figure = [&table](const char* key, ValueType type, const char* zero,
                               const char* sentence) -> Key& {
    return table.add_section(key, figure_table(type, {.above = zero}), sentence);
  };
  figure("bf16_peak", ValueType::compute_rate, "0 TFLOPS", "Dense bf16 tensor peak").required();
  figure("fp8_peak", ValueType::compute_rate, "0 TFLOPS", "Dense fp8 tensor peak")
      .optional("the GPU has no fp8 unit");
  figure("int8_peak", ValueType::compute_rate, "0 TFLOPS", "Dense int8 tensor peak")
      .optional("the GPU has no int8 unit");
  figure("hbm_capacity", ValueType::bytes, "0 GB", "Nominal memory").required();
  figure("hbm_usable", ValueType::bytes, "0 GB", "Memory that a process sees").required();
  figure("hbm_bandwidth", ValueType::bandwidth, "0 GB/s", "Peak memory bandwidth").required();
  figure("l2_cache", ValueType::bytes, "0 GB", "Last-level cache").required();
  figure("nvlink_per_direction", ValueType::bandwidth, "0 GB/s", "NVLink to all peers together, one way")
      .optional("the GPU has no NVLink");
  figure("pcie_per_direction", ValueType::bandwidth, "0 GB/s", "PCI Express, one way").required();
  figure("tdp", ValueType::power, "0 W", "Board power limit").required();
  figure("sm_count", ValueType::count, "0", "Streaming multiprocessors (compute units on AMD)").required();
  figure("boost_clock", ValueType::frequency, "0 MHz", "Highest clock").required();
  figure("price", ValueType::price_rate, "0 $/h", "Default rental price of one GPU").required();
  return table;
}

/// Vendors count memory in GiB and sell it as GB, so that a process may see up to 7.4 % more than the number
/// on the box; ECC and reservations take up to a tenth away. Anything beyond that is a slip of the pen.
void check_usable_memory(const GpuSpec& gpu, const Values& values, Diagnostics& diagnostics) {
  const double ratio =
      static_cast<double>(gpu.hbm_usable.count()) / static_cast<double>(gpu.hbm_capacity.count());
  if (ratio < 0.85 || ratio > 1.075) {
    diagnostics.add(values.section("hbm_usable").where("value"),
                    "hbm_usable " + to_text(gpu.hbm_usable) + " does not go with hbm_capacity " +
                        to_text(gpu.hbm_capacity) + "; allowed are 85 % to 107.5 % of it");
  }
}

GpuSpec read_gpu(const std::string& name, const std::string& path) {
  Diagnostics diagnostics;
  const Values values = parse(gpu_table(), read_yaml_file(path), diagnostics);
  diagnostics.throw_if_any();

  GpuSpec gpu;
  gpu.name = name;
  gpu.title = values.text("title");
  if (values.has("device_names")) {
    gpu.device_names = values.texts("device_names");
  }
  gpu.bf16_peak = values.section("bf16_peak").compute_rate("value");
  if (values.has("fp8_peak")) {
    gpu.fp8_peak = values.section("fp8_peak").compute_rate("value");
  }
  if (values.has("int8_peak")) {
    gpu.int8_peak = values.section("int8_peak").compute_rate("value");
  }
  gpu.hbm_capacity = values.section("hbm_capacity").bytes("value");
  gpu.hbm_usable = values.section("hbm_usable").bytes("value");
  gpu.hbm_bandwidth = values.section("hbm_bandwidth").bandwidth("value");
  gpu.l2_cache = values.section("l2_cache").bytes("value");
  if (values.has("nvlink_per_direction")) {
    gpu.nvlink_per_direction = values.section("nvlink_per_direction").bandwidth("value");
  }
  gpu.pcie_per_direction = values.section("pcie_per_direction").bandwidth("value");
  gpu.tdp = values.section("tdp").power("value");
  gpu.sm_count = values.section("sm_count").count("value");
  gpu.boost_clock = values.section("boost_clock").frequency("value");
  gpu.price = values.section("price").price_rate("value");
  read_provenance(values, "", gpu.provenance, diagnostics);
  check_usable_memory(gpu, values, diagnostics);
  diagnostics.throw_if_any();
  return gpu;
}

}  // namespace

std::vector<std::string> builtin_gpu_names() {
  return described_names(kFolder);
}

GpuSpec load_gpu(const std::string& name_or_path) {
  return read_gpu(name_or_path, description_path(name_or_path, kFolder, "GPU"));
}

}  // namespace inferometer
