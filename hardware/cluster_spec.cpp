#include "hardware/cluster_spec.hpp"

#include <algorithm>

#include "base/config/config_node.hpp"
#include "base/config/table.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "hardware/figure.hpp"

namespace inferometer {
namespace {

constexpr const char* kFolder = "hardware/clusters";

const FigureRange kPositiveRate{.above = "0 GB/s"};
// Far beyond any network, and far from where sums of them overflow.
const FigureRange kAnyDuration{.from = "0 s", .up_to = "1 h"};

/// Adds figures to a table, all of them required.
class Figures {
 public:
  explicit Figures(Table& table) : table_(table) {}
  void add(const char* key, ValueType type, const FigureRange& range, const char* sentence) {
    table_.add_section(key, figure_table(type, range), sentence).required();
  }

 private:
  Table& table_;
};

Table node_table() {
  Table table("node", "A machine with GPUs; bandwidths are of one direction");
  Figures figures(table);
  figures.add("gpus", ValueType::count, {.from = "1", .up_to = "1024"}, "GPUs in one node");
  figures.add("gpu_bandwidth", ValueType::bandwidth, kPositiveRate, "Of one GPU to the others of its node");
  figures.add("gpu_latency", ValueType::duration, kAnyDuration, "Of a message between GPUs of a node");
  figures.add("nics", ValueType::count, {.from = "1", .up_to = "1024"},
              "Network adapters for traffic of GPUs, at most one a GPU");
  figures.add("nic_bandwidth", ValueType::bandwidth, kPositiveRate, "Of one network adapter");
  figures.add("nic_shares_gpu_link", ValueType::flag, {},
              "Whether traffic with other nodes crosses the link that gpu_bandwidth is of");
  figures.add("storage_bandwidth", ValueType::bandwidth, kPositiveRate,
              "At which one node reads weights, all its GPUs together");
  return table;
}

Table fabric_table() {
  Table table("fabric", "The network between nodes: leaf switches and a spine above them");
  Figures figures(table);
  figures.add("nodes_per_leaf", ValueType::count, {.from = "1", .up_to = "1000000"},
              "Nodes that a leaf switch joins");
  figures.add("oversubscription", ValueType::number, {.from = "1", .up_to = "1000"},
              "What a leaf's nodes can send over what its links up carry");
  figures.add("latency", ValueType::duration, kAnyDuration, "Of a message from adapter to adapter");
  return table;
}

Table transfer_table() {
  Table table("transfer", "What transfers of KV caches and weights reach of the rate of a link");
  Figures figures(table);
  figures.add("set_up", ValueType::duration, kAnyDuration, "Once a transfer, before its first byte");
  figures.add("efficiency", ValueType::number, {.from = "0.001", .up_to = "1"},
              "Share of the rate that the largest messages reach");
  figures.add("half_size", ValueType::bytes, {.from = "0 B", .up_to = "1 TB"},
              "Message that reaches half of that share");
  return table;
}

Table cluster_table() {
  Table table("cluster", "Nodes of GPUs and the network between them");
  table.add("title", ValueType::text, "Full name").required();
  table.add("gpu", ValueType::text, "Built-in GPU that its nodes have").required();
  for (Table part : {node_table(), fabric_table(), transfer_table()}) {
    const std::string name = part.name();
    const std::string summary = part.summary();
    table.add_section(name, std::move(part), summary).required();
  }
  return table;
}

NodeSpec node_from(const Values& node) {
  return {.gpus = node.section("gpus").count("value"),
          .gpu_bandwidth = node.section("gpu_bandwidth").bandwidth("value"),
          .gpu_latency = node.section("gpu_latency").duration("value"),
          .nics = node.section("nics").count("value"),
          .nic_bandwidth = node.section("nic_bandwidth").bandwidth("value"),
          .storage_bandwidth = node.section("storage_bandwidth").bandwidth("value"),
          .nic_shares_gpu_link = node.section("nic_shares_gpu_link").flag("value")};
}

void check_node(const NodeSpec& node, const Values& values, Diagnostics& diagnostics) {
  if (node.nics > node.gpus) {
    diagnostics.add(values.section("nics").where("value"),
                    std::to_string(node.nics) + " nics for " + std::to_string(node.gpus) +
                        " gpus; a GPU sends over one of them: describe those that it uses together as one");
  }
}

void check_gpu(const std::string& gpu, const Values& values, Diagnostics& diagnostics) {
  const std::vector<std::string> known = builtin_gpu_names();
  if (std::find(known.begin(), known.end(), gpu) == known.end()) {
    diagnostics.add(values.where("gpu"), "unknown GPU \"" + gpu + "\"" + did_you_mean(gpu, known) +
                                             " (built in: " + join_alternatives(known) + ")");
  }
}

ClusterSpec cluster_from(const std::string& name, const ConfigNode& file) {
  Diagnostics diagnostics;
  const Values values = parse(cluster_table(), file, diagnostics);
  diagnostics.throw_if_any();

  ClusterSpec cluster;
  cluster.name = name;
  cluster.title = values.text("title");
  cluster.gpu = values.text("gpu");
  const Values& node = values.section("node");
  const Values& fabric = values.section("fabric");
  const Values& transfer = values.section("transfer");
  cluster.node = node_from(node);
  cluster.fabric = {.nodes_per_leaf = fabric.section("nodes_per_leaf").count("value"),
                    .oversubscription = fabric.section("oversubscription").number("value"),
                    .latency = fabric.section("latency").duration("value")};
  cluster.transfer = {.set_up = transfer.section("set_up").duration("value"),
                      .efficiency = transfer.section("efficiency").number("value"),
                      .half_size = transfer.section("half_size").bytes("value")};
  read_provenance(node, "node.", cluster.provenance, diagnostics);
  read_provenance(fabric, "fabric.", cluster.provenance, diagnostics);
  read_provenance(transfer, "transfer.", cluster.provenance, diagnostics);
  check_gpu(cluster.gpu, values, diagnostics);
  check_node(cluster.node, node, diagnostics);
  diagnostics.throw_if_any();
  return cluster;
}

}  // namespace

std::vector<std::string> builtin_cluster_names() {
  return described_names(kFolder);
}

ClusterSpec load_cluster(const std::string& name_or_path) {
  return cluster_from(name_or_path, read_yaml_file(description_path(name_or_path, kFolder, "cluster")));
}

ClusterSpec parse_cluster(std::string_view text, const std::string& name) {
  return cluster_from(name, read_yaml_text(text, name));
}

}  // namespace inferometer
