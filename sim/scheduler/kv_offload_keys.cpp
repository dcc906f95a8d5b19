#include "sim/scheduler/kv_offload_keys.hpp"

namespace inferometer {

Table kv_offload_table() {
  Table table("kv_offload", "Host memory that keeps the KV of cached prefixes when GPUs lose it");
  table.add("cpu_memory", ValueType::bytes, "Host memory for each GPU of a replica").required();
  table
      .add_choice("write", {"on_evict", "on_release"},
                  "When blocks are copied: as the GPU takes them for something else, or already when no "
                  "sequence holds them any more")
      .by_default("on_evict");
  table
      .add_choice("load", {"by_cost", "always"},
                  "What is brought back of a prompt: what comes sooner, the wait for the link included, than "
                  "its tokens could be computed, or all there is")
      .by_default("by_cost");
  table
      .add("gpus_per_pcie_link", ValueType::count,
           "GPUs of a replica that share a PCIe link to the host, and its bandwidth")
      .by_default("1")
      .range("1", "16");
  return table;
}

}  // namespace inferometer
