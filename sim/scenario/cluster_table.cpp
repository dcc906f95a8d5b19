#include "sim/scenario/cluster_table.hpp"

#include <utility>

#include "costmodel/cost_options.hpp"

namespace inferometer {
namespace {

Key& add_gpus(Table& table, const std::string& name, const std::string& sentence, const std::string& most) {
  return table.add(name, ValueType::count, sentence).range("1", most);
}

constexpr const char* kAttentionDataDoc =
    "Mixture of experts: ranks of tensor_parallel GPUs that each hold all of attention and the KV cache of "
    "their own sequences, while the routed experts are spread over the GPUs of all ranks; one scheduler "
    "spreads sequences and prompt tokens evenly over the ranks, and blocks are those of all ranks together";
constexpr const char* kExpertDoc =
    "Mixture of experts: groups of GPUs that hold different experts, out of the tensor_parallel * "
    "attention_data_parallel of a stage; 1: every GPU has a slice of all experts";
constexpr const char* kStragglerDoc =
    "How many times as long as the mean GPU the slowest of a replica takes, for which all of them wait";

Table pool_table(const PolicyRegistry& policies, const std::string& name, const std::string& summary) {
  Table table(name, summary);
  table
      .add("replicas", ValueType::count,
           "Replicas, or with autoscaling those that run at the start; 0: there is no such pool")
      .by_default("1")
      .range("0", "4096");
  table.add("gpu", ValueType::text, "A built-in GPU, or a YAML file that describes one")
      .optional("that of the scenario's hardware");
  add_gpus(table, "tensor_parallel", "GPUs over which every layer is split", "64")
      .optional("that of the scenario's hardware");
  add_gpus(table, "pipeline_parallel", "Stages over which the layers are spread", "64")
      .optional("that of the scenario's hardware");
  add_gpus(table, "attention_data_parallel", kAttentionDataDoc, "64")
      .optional("that of the scenario's hardware");
  add_gpus(table, "expert_parallel", kExpertDoc, "512").optional("that of the scenario's hardware");
  table.add("price", ValueType::price_rate, "Price of one GPU")
      .optional("that of the scenario's hardware for its GPU, else the default of the GPU's description")
      .range("0 $/h", "1000 $/h");
  table.add("straggler", ValueType::number, kStragglerDoc)
      .optional("that of the scenario's hardware")
      .range("1", "10");
  table
      .add("node", ValueType::text,
           "A built-in cluster whose nodes the pool's replicas stand on, or a YAML file "
           "that describes one")
      .optional("that of cluster.hardware when it has the pool's GPU, else found by the GPU");
  table
      .add("own_nodes", ValueType::flag,
           "true: on nodes that no other pool uses; false: packed beside the pools before it")
      .by_default("false");
  table.add_section("engine", engine_table(policies), "What differs from the scenario's engine")
      .optional("the scenario's")
      .partial_of("engine");
  table.add_section("cost_model", cost_model_table(), "What differs from the scenario's cost_model")
      .optional("the scenario's")
      .partial_of("cost_model");
  return table;
}

Table pools_table(const PolicyRegistry& policies) {
  Table table("pools", "Replicas of one kind each");
  table
      .add_section("mixed", pool_table(policies, "mixed", "Replicas that prefill and decode"),
                   "Replicas that prefill and decode")
      .optional("one replica, unless there are pools for prefill and decode");
  table
      .add_section("prefill", pool_table(policies, "prefill", "Replicas that compute prompts"),
                   "Replicas that compute prompts and hand their KV cache over")
      .optional("none")
      .described_as("cluster.pools.mixed");
  table
      .add_section("decode", pool_table(policies, "decode", "Replicas that decode"),
                   "Replicas that decode prompts which others have computed")
      .optional("none")
      .described_as("cluster.pools.mixed");
  return table;
}

Table network_table() {
  Table table("network", "How KV caches and weights travel between GPUs");
  table
      .add_choice(
          "model", {"ideal", "simgrid", "none"},
          "ideal: every transfer has its links for itself; simgrid: transfers share links fairly with "
          "all others in flight; none: nothing takes time to cross")
      .by_default("ideal");
  const std::string described = "as the cluster's description has it";
  table
      .add("oversubscription", ValueType::number,
           "What the nodes of a leaf switch can send, over what the leaf's links up can carry")
      .optional(described)
      .range("1", "1000");
  table.add("nodes_per_leaf", ValueType::count, "Nodes that one leaf switch joins")
      .optional(described)
      .range("1", "1024");
  table.add("latency", ValueType::duration, "Of a message from one node's NIC to another's")
      .optional(described)
      .range("0 s", "1 s");
  table.add("nics", ValueType::count, "NICs of a node for the traffic of its GPUs")
      .optional(described)
      .range("1", "64");
  table.add("nic_bandwidth", ValueType::bandwidth, "Of one NIC, in one direction").optional(described);
  table.add("gpu_bandwidth", ValueType::bandwidth, "Of one GPU to the others of its node, in one direction")
      .optional(described);
  table.add("gpu_latency", ValueType::duration, "Of a message between GPUs of one node")
      .optional(described)
      .range("0 s", "1 s");
  table
      .add("storage_bandwidth", ValueType::bandwidth,
           "At which one node reads weights, all its GPUs together")
      .optional(described);
  table.add("set_up", ValueType::duration, "Of one transfer: metadata, registration, the first descriptor")
      .optional(described)
      .range("0 s", "1 min");
  table.add("efficiency", ValueType::number, "Share of a link's rate that the largest messages reach")
      .optional(described)
      .range("", "1")
      .above("0");
  table.add("half_size", ValueType::bytes, "Message that reaches half of that share")
      .optional(described)
      .range("0 B");
  return table;
}

Table admission_table() {
  Table table("admission", "What the cluster turns away as it arrives");
  table
      .add("max_outstanding", ValueType::count,
           "Most requests in the cluster, for each replica that takes requests")
      .optional("as many as come")
      .range("1", "1000000");
  table
      .add("ttft", ValueType::duration,
           "Longest time to first token that is foreseen for a request: prompt tokens before it and its own, "
           "over "
           "the rate at which the chosen replica computes them")
      .optional("however long it takes");
  return table;
}

Table event_table() {
  Table table("events", "Something that befalls a replica");
  table
      .add("at", ValueType::duration,
           "When, from the start of the run; after the last request nothing happens")
      .required()
      .range("0 s", "2400 h");
  table
      .add("fail", ValueType::text, "The replica that fails with all it holds: pool and number, \"decode 0\"")
      .optional("drain is given");
  table
      .add("drain", ValueType::text,
           "The replica that takes no more requests but finishes those it has: pool and number, \"mixed 2\"")
      .optional("fail is given");
  table.set_alternatives({"fail", "drain"});
  table.add("for", ValueType::duration, "After that long the replica starts again")
      .optional("it stays away")
      .range("", "2400 h");
  return table;
}

Table failures_table() {
  Table table("failures", "Replicas that fail or are drained");
  table
      .add_choice("on_failure", {"retry", "lose"},
                  "Requests on a replica that fails are sent to another, from their beginning, or are lost")
      .by_default("retry");
  table.add_section_list("events", event_table(), "What happens, and when");
  return table;
}

Table start_up_table() {
  Table table("start_up", "What a replica needs before it takes requests, once it was told to start");
  // vLLM's log of a start: imports, profiling run and graph capture, each some 5 to 20 s.
  table.add("boot", ValueType::duration, "Process, CUDA graphs: everything but weights")
      .by_default("30 s")
      .range("0 s", "24 h");
  table.add("load_weights", ValueType::flag, "Read the weights over the network after that")
      .by_default("true");
  return table;
}

Table autoscaling_table() {
  Table table("autoscaling", "Keeps the load of the running replicas of a pool near a target");
  table.add_choice("pool", {"mixed", "prefill", "decode"}, "Pool that grows and shrinks").by_default("mixed");
  table.add("target_outstanding", ValueType::number, "Requests per running replica")
      .required()
      .range("", "1000000")
      .above("0");
  table
      .add("tolerance", ValueType::number,
           "Share of the target by which the load may differ before anything is done")
      .by_default("0.1")
      .range("0", "1");
  table.add("min", ValueType::count, "Fewest replicas").by_default("1").range("1", "4096");
  table.add("max", ValueType::count, "Most replicas").required().range("1", "4096");
  table.add("interval", ValueType::duration, "How often the load is looked at")
      .by_default("15 s")
      .range("1 ms", "24 h");
  table
      .add("scale_down_after", ValueType::duration,
           "How long there is too little load before a replica is drained")
      .by_default("300 s")
      .range("0 s", "24 h");
  return table;
}

Table router_section(const RouterRegistry& routers) {
  Table table = router_table(routers);
  table.set_bare_value("policy");
  return table;
}

Table dynamic_split_table() {
  Table table("dynamic_split", "Moves replicas between the pools for prefill and decode");
  table.add("interval", ValueType::duration, "How often loads are looked at")
      .by_default("10 s")
      .range("1 ms", "24 h");
  table
      .add("prefill_backlog", ValueType::duration,
           "A decode replica goes over to prefill when each prefill replica has more than this to work off")
      .by_default("1 s")
      .range("1 ms", "24 h");
  table
      .add("decode_fill", ValueType::number,
           "A prefill replica goes over to decode when a larger share of the decode replicas' KV blocks than "
           "this is held")
      .by_default("0.9")
      .above("0")
      .range("", "1");
  return table;
}

}  // namespace

Table hardware_table() {
  Table table("hardware", "What one replica runs on");
  table.add("gpu", ValueType::text, "A built-in GPU, or a YAML file that describes one").required();
  add_gpus(table, "tensor_parallel", "GPUs over which every layer is split", "64").by_default("1");
  add_gpus(table, "pipeline_parallel", "Stages over which the layers are spread", "64").by_default("1");
  add_gpus(table, "attention_data_parallel", kAttentionDataDoc, "64").optional("1");
  add_gpus(table, "expert_parallel", kExpertDoc, "512").optional("1");
  table
      .add("expert_skew", ValueType::number,
           "Mixture of experts: how much more often some experts are chosen, the i-th most popular in "
           "proportion to i^-expert_skew")
      .optional("all are chosen as often")
      .range("0", "4");
  table.add("price", ValueType::price_rate, "Price of one GPU")
      .optional("the default of the GPU's description")
      .range("0 $/h", "1000 $/h");
  table.add("straggler", ValueType::number, kStragglerDoc).by_default("1").range("1", "10");
  return table;
}

Table cluster_table(const PolicyRegistry& policies, const RouterRegistry& routers) {
  Table table("cluster", "Replicas of the model, what joins them and what befalls them");
  table.add_section("pools", pools_table(policies), "Replicas of one kind each");
  table.add_section("router", router_section(routers),
                    "Who gets a request: of every pool, unless it has its own");
  table.add_section("prefill_router", router_section(routers), "Router of the pool for prefill")
      .optional("that of all pools")
      .described_as("cluster.router");
  table.add_section("decode_router", router_section(routers), "Router of the pool for decode")
      .optional("that of all pools")
      .described_as("cluster.router");
  table
      .add("hardware", ValueType::text,
           "A built-in cluster, or a YAML file that describes one: its nodes, and the fabric between all "
           "nodes")
      .optional("found by the GPU of the first pool");
  table.add("nodes", ValueType::count, "Nodes there are")
      .optional("as many as the replicas need")
      .range("1", "65536");
  table.add_section("network", network_table(), "How KV caches and weights travel between GPUs");
  table.add_section("admission", admission_table(), "What the cluster turns away as it arrives");
  table.add_section("failures", failures_table(), "Replicas that fail or are drained");
  table.add_section("start_up", start_up_table(), "What a replica needs before it takes requests");
  table.add_section_list("autoscaling", autoscaling_table(), "Pools that grow and shrink with their load");
  table.add_section("dynamic_split", dynamic_split_table(), "Replicas that change between prefill and decode")
      .optional("replicas stay in their pools");
  return table;
}

}  // namespace inferometer
