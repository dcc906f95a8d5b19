#include "sim/scheduler/kv_offload_keys.hpp"

namespace inferometer {
namespace {

// Bandwidths are those of one data-centre SSD with four PCIe 4.0 lanes, sequential: Samsung PM9A3 in a U.2
// case, as announced in May 2020. The buffer is assumed: about a second of writing.
Table disk_table() {
  Table table("disk", "A disk behind host memory, of each replica");
  table.add("capacity", ValueType::bytes, "What a replica may keep on it").required();
  table
      .add("read_bandwidth", ValueType::bandwidth,
           "From disk to host memory, for all GPUs of a replica together")
      .by_default("6.5 GB/s");
  table.add("write_bandwidth", ValueType::bandwidth, "From host memory to disk, likewise")
      .by_default("3.5 GB/s");
  table
      .add(
          "write_buffer", ValueType::bytes,
          "Memory of a replica, beside cpu_memory, in which blocks wait to be written; what finds it full is "
          "lost")
      .by_default("4 GB");
  return table;
}

}  // namespace

Table kv_offload_table() {
  Table table("kv_offload", "Host memory that keeps the KV of cached prefixes when GPUs lose it");
  table.add("cpu_memory", ValueType::bytes, "Host memory for each GPU of a replica").required();
  table
      .add_choice("write", {"on_evict", "on_release"},
                  "When blocks are copied: as the GPU takes them for something else, or already when no "
                  "sequence holds them any more")
      .by_default("on_evict");
  table
      .add_choice(
          "load", {"by_cost", "always", "never"},
          "What is brought back of a prompt: what comes sooner, the wait for links included, than its "
          "tokens could be computed; all there is; or nothing, to see what writing costs")
      .by_default("by_cost");
  table
      .add("gpus_per_pcie_link", ValueType::count,
           "GPUs of a replica that share a PCIe link to the host, and its bandwidth")
      .by_default("1")
      .range("1", "16");
  table.add_section("disk", disk_table(), "A disk of each replica that keeps what its host memory drops")
      .optional("what host memory drops is lost");
  return table;
}

}  // namespace inferometer
