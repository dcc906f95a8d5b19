#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/config/values_json.hpp"
#include "sim/scenario/cluster_config.hpp"
#include "sim/scenario/deployment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

const std::string kTail = "workload: {preset: azure-conversation, rate: 1 req/s, requests: 10}\n";

const std::string kSplit =
    "model: llama-3-8b\n"
    "hardware: {gpu: h100-sxm, price: 3 $/h}\n"
    "engine:\n"
    "  policy: disaggregated\n"
    "  max_num_seqs: 64\n"
    "  max_num_batched_tokens: 1024\n"
    "cluster:\n"
    "  pools:\n"
    "    prefill: {replicas: 2, engine: {max_num_batched_tokens: 4096}}\n"
    "    decode: {gpu: a100-80gb-sxm, engine: {policy: sarathi}}\n" +
    kTail;

const std::string kMixed =
    "model: llama-3-8b\nhardware: {gpu: h100-sxm}\ncluster:\n  pools: {mixed: {replicas: 3}}\n" + kTail;

Scenario load(const std::string& text, const std::vector<std::string>& changes = {}) {
  return load_scenario_text(text, "a.yaml", {changes, {}});
}

Deployment deploy(const std::string& text, const std::vector<std::string>& changes = {}) {
  return make_deployment(load(text, changes));
}

std::vector<Diagnostic> mistakes_of(const std::string& text, const std::vector<std::string>& changes = {}) {
  try {
    deploy(text, changes);
  } catch (const ConfigError& error) {
    return error.diagnostics();
  }
  return {};
}

TEST_CASE("a scenario without a cluster is one mixed pool of one replica") {
  const Scenario scenario =
      load("model: llama-3-8b\nhardware: {gpu: h100-sxm, tensor_parallel: 2}\n" + kTail);
  CHECK_FALSE(scenario.values.has("cluster"));
  CHECK_FALSE(scenario.nodes);
  const Deployment deployment = make_deployment(scenario);
  CHECK(deployment.is_single);
  REQUIRE(deployment.pools.size() == 1);
  CHECK(deployment.front().spec.role == PoolRole::mixed);
  CHECK(deployment.replicas(0) == 1);
  CHECK(deployment.front().parallelism.tensor == 2);
  CHECK_FALSE(deployment.cluster->make_network);
}

TEST_CASE("a pool says what differs from the scenario, and the rest is the scenario's") {
  const Scenario scenario = load(kSplit);
  REQUIRE(scenario.pools.size() == 2);
  const PoolSpec& prefill = scenario.pools[0];
  CHECK(prefill.role == PoolRole::prefill);
  CHECK(prefill.replicas == 2);
  CHECK(prefill.gpu.name == "h100-sxm");
  CHECK(prefill.gpu.price.count() == 3);
  CHECK(prefill.engine.text("policy") == "chunked_prefill");
  CHECK(prefill.engine.count("max_num_batched_tokens") == 4096);
  CHECK(prefill.engine.count("max_num_seqs") == 64);
  // Where each value is written, and the section itself.
  CHECK(to_string(prefill.engine.where()) == "a.yaml:9:36");
  CHECK(to_string(prefill.engine.where("max_num_batched_tokens")) == "a.yaml:9:61");
  CHECK(to_string(prefill.engine.where("max_num_seqs")) == "a.yaml:5:17");

  const PoolSpec& decode = scenario.pools[1];
  CHECK(decode.replicas == 1);
  CHECK(decode.gpu.name == "a100-80gb-sxm");
  CHECK(decode.gpu.price.count() == load_gpu("a100-80gb-sxm").price.count());  // 3 $/h is the H100's
  CHECK(decode.engine.text("policy") == "sarathi");
  CHECK(decode.engine.count("max_num_seqs") == 64);
  CHECK_FALSE(decode.engine.has("max_num_batched_tokens"));
  REQUIRE(scenario.notes.size() == 1);
  CHECK(scenario.notes[0] ==
        "left out of pool decode, whose engine makes another choice: max_num_batched_tokens");
}

TEST_CASE("the resolved scenario shows every pool's engine whole") {
  const auto json = values_json(load(kSplit).values);
  const auto& pools = json.at("cluster").at("pools");
  CHECK_FALSE(pools.contains("mixed"));
  CHECK(pools.at("prefill").at("engine").at("policy") == "chunked_prefill");
  CHECK(pools.at("prefill").at("engine").at("block_size") == 16);
  CHECK(pools.at("decode").at("engine").at("chunk_size") == 512);
  CHECK_FALSE(pools.at("decode").contains("cost_model"));
  CHECK(json.at("engine").at("policy") == "disaggregated");
  CHECK(json.at("engine").at("batch_policy") == "chunked_prefill");
  CHECK(json.at("engine").at("abort_after") == "8 min");  // the system's
  CHECK(json.at("cluster").at("router").at("policy") == "round_robin");
  CHECK(json.at("cluster").at("autoscaling") == nlohmann::ordered_json::array());
}

TEST_CASE("a mistake in the scenario's engine is told once, whatever the pools") {
  const std::vector<Diagnostic> mistakes = mistakes_of(kSplit, {"engine.max_num_seqs=none"});
  REQUIRE(mistakes.size() == 1);
  CHECK(to_string(mistakes[0].where) == "--set engine.max_num_seqs=none");
  check_says(mistakes[0].message, {"engine.max_num_seqs"});

  const std::vector<Diagnostic> both =
      mistakes_of(kSplit, {"engine.block_sise=8", "cluster.pools.prefill.engine.max_num_seqs=-1"});
  REQUIRE(both.size() == 2);
  for (const Diagnostic& mistake : both) {
    CHECK((mistake.message.find("unknown key \"engine.block_sise\"") == 0 ||
           mistake.message.find("cluster.pools.prefill.engine.max_num_seqs: -1") == 0));
  }
}

TEST_CASE("formats of numbers are a pool's own, and KV caches must agree") {
  const Deployment deployment = deploy(kSplit, {"cluster.pools.prefill.engine.quantization=fp8"});
  CHECK(deployment.pools[0].memory.weights < deployment.pools[1].memory.weights);
  const std::vector<Diagnostic> mistakes =
      mistakes_of(kSplit, {"cluster.pools.decode.engine.kv_cache_dtype=fp8"});
  REQUIRE(mistakes.size() == 1);
  // Llama 3 8B: 2 x 32 layers x 8 heads x 128, in 2 bytes and in 1.
  check_says(mistakes[0].message, {"131072 B a token in pool prefill", "65536 B a token in pool decode"});
}

TEST_CASE("a router has a word, or a section, and pools may have their own") {
  CHECK(load(kMixed, {"cluster.router=least_tokens"})
            .values.section("cluster")
            .section("router")
            .text("policy") == "least_tokens");
  const Deployment deployment = deploy(
      kSplit,
      {"cluster.router={policy: power_of_two, state_interval: 50 ms}", "cluster.decode_router=random"});
  CHECK(deployment.cluster->state_interval == milliseconds(50));
  CHECK(deployment.cluster->pools[0].make_router());
  CHECK(deployment.cluster->pools[1].make_router());
}

TEST_CASE("replicas are numbered pool by pool, and those that may come count") {
  const Deployment deployment = deploy(
      kSplit, {"cluster.autoscaling=[{pool: prefill, target_outstanding: 5, min: 1, max: 4, interval: 2 s}]",
               "cluster.failures.events=[{at: 9 s, drain: decode 0, for: 3 s}, {at: 2 s, fail: prefill 3}]"});
  const ClusterSetup& cluster = *deployment.cluster;
  REQUIRE(cluster.pools.size() == 2);
  CHECK(cluster.pools[0].replicas == 4);
  CHECK(cluster.pools[0].at_start == 2);
  CHECK(cluster.pools[0].places.size() == 4);
  CHECK(cluster.pools[1].replicas == 1);
  REQUIRE(cluster.failures.events.size() == 2);  // by time
  CHECK(cluster.failures.events[0].at.since_start() == seconds(2));
  CHECK(cluster.failures.events[0].kind == ReplicaEvent::Kind::fail);
  CHECK(cluster.failures.events[0].replica == 3);
  CHECK_FALSE(cluster.failures.events[0].lasts);
  CHECK(cluster.failures.events[1].kind == ReplicaEvent::Kind::drain);
  CHECK(cluster.failures.events[1].replica == 4);
  CHECK(cluster.failures.events[1].lasts == seconds(3));
  REQUIRE(cluster.autoscaling.size() == 1);
  CHECK(cluster.autoscaling[0].pool == PoolRole::prefill);
  CHECK(cluster.autoscaling[0].fewest == 1);
  CHECK(cluster.autoscaling[0].most == 4);
  CHECK(cluster.autoscaling[0].interval == seconds(2));
  CHECK(cluster.autoscaling[0].target_outstanding == 5);
}

TEST_CASE("admission and start-up are read, and nothing is turned away by default") {
  const Deployment plain = deploy(kMixed);
  CHECK_FALSE(plain.cluster->admission.max_outstanding);
  CHECK_FALSE(plain.cluster->admission.ttft);
  CHECK(plain.cluster->failures.retry);
  CHECK_FALSE(plain.cluster->disaggregation);
  CHECK_FALSE(plain.cluster->dynamic_split);
  const Deployment strict =
      deploy(kMixed, {"cluster.admission={max_outstanding: 8, ttft: 2 s}", "cluster.failures.on_failure=lose",
                      "cluster.start_up={boot: 4 s, load_weights: false}"});
  CHECK(strict.cluster->admission.max_outstanding == 8);
  CHECK(strict.cluster->admission.ttft == seconds(2));
  CHECK_FALSE(strict.cluster->failures.retry);
  CHECK(strict.cluster->start_up.boot == seconds(4));
  CHECK_FALSE(strict.cluster->start_up.loads_weights);
}

TEST_CASE("nodes come from the description, found by the GPU, with the scenario's figures over it") {
  const Scenario plain = load(kSplit);
  REQUIRE(plain.nodes);
  CHECK(plain.nodes->nodes[0].name == "dgx-h100");
  CHECK(plain.nodes->nodes[1].name == "dgx-a100");
  CHECK(plain.nodes->fabric.oversubscription == 1);
  const Scenario changed = load(
      kSplit,
      {"cluster.network={oversubscription: 4, nic_bandwidth: 100 Gb/s, efficiency: 0.5, half_size: 0 B}"});
  CHECK(changed.nodes->fabric.oversubscription == 4);
  CHECK(changed.nodes->nodes[0].node.nic_bandwidth.count() == 12.5e9);
  CHECK(changed.nodes->nodes[1].node.nic_bandwidth.count() == 12.5e9);
  CHECK(changed.nodes->transfer.efficiency == 0.5);
  CHECK(changed.nodes->transfer.half_size.count() == 0);
  // Both descriptions are inputs of the run.
  for (const char* name : {"dgx-h100", "dgx-a100"}) {
    CHECK(std::any_of(plain.inputs.begin(), plain.inputs.end(),
                      [&](const Scenario::Input& input) { return input.name == name; }));
  }
}

TEST_CASE("a GPU that no description has stands on assumed nodes, with a note") {
  const Deployment deployment = deploy(kMixed, {"hardware.gpu=mi300x"});
  CHECK(std::any_of(deployment.notes.begin(), deployment.notes.end(), [](const std::string& note) {
    return note.find("no cluster is described with mi300x") == 0;
  }));
}

TEST_CASE("the cluster's nodes are counted, and too few are an error that says how many it takes") {
  CHECK(mistakes_of(kMixed, {"hardware.tensor_parallel=4", "cluster.nodes=2"}).empty());
  const std::vector<Diagnostic> mistakes =
      mistakes_of(kMixed, {"hardware.tensor_parallel=4", "cluster.nodes=1"});
  REQUIRE(mistakes.size() == 1);
  CHECK(mistakes[0].message == "cluster.nodes: 1 are too few for mixed 3 x 4 GPUs, which take 2");
}

// Eight adapters of 50 GB/s among eight GPUs, 5 us: hardware/clusters/dgx-h100.yaml.
TEST_CASE("a tensor group over two nodes talks over their adapters") {
  const Deployment deployment = deploy(
      "model: llama-3.1-405b\nhardware: {gpu: h100-sxm, tensor_parallel: 16}\n"
      "engine: {max_model_len: 4096}\n" +
      kTail);
  const Parallelism& parallelism = deployment.front().parallelism;
  CHECK(parallelism.tensor_in_node == 8);
  REQUIRE(parallelism.between_nodes);
  CHECK(parallelism.between_nodes->bandwidth.count() == 50e9);
  CHECK(parallelism.between_nodes->latency == microseconds(5));
  const Deployment pipeline = deploy(
      "model: llama-3.1-405b\nhardware: {gpu: h100-sxm, tensor_parallel: 8, pipeline_parallel: 2, straggler: "
      "1.1}\n"
      "engine: {max_model_len: 4096}\n" +
      kTail);
  CHECK(pipeline.front().pricers.size() == 2);
  CHECK_FALSE(pipeline.front().parallelism.stages_in_node);
  CHECK(pipeline.front().parallelism.straggler == 1.1);
  CHECK(pipeline.cluster->pools[0].pipeline == 2);
  CHECK_FALSE(pipeline.is_single);
}

TEST_CASE("a pool stands beside the one before it, or on nodes of its own") {
  const std::vector<std::string> h100 = {"cluster.pools.decode.gpu=h100-sxm"};
  CHECK(deploy(kSplit, h100).cluster->pools[1].places.at(0).at(0) == GpuPlace{0, 2});
  CHECK(
      deploy(kSplit, {h100[0], "cluster.pools.decode.own_nodes=true"}).cluster->pools[1].places.at(0).at(0) ==
      GpuPlace{1, 0});
  CHECK(deploy(kSplit, {h100[0], "cluster.pools.prefill.own_nodes=true"})
            .cluster->pools[1]
            .places.at(0)
            .at(0) == GpuPlace{1, 0});
}

TEST_CASE("a pool of no replicas is none") {
  const Deployment deployment =
      deploy(kSplit, {"engine.policy=sarathi", "cluster.pools.prefill={replicas: 0, engine: {}}",
                      "cluster.pools.prefill.engine={policy: sarathi}", "cluster.pools.decode.replicas=0",
                      "cluster.pools.mixed.replicas=3"});
  REQUIRE(deployment.pools.size() == 1);
  CHECK(deployment.front().spec.role == PoolRole::mixed);
  CHECK(deployment.replicas(0) == 3);
  check_says(mistakes_of(kSplit, {"cluster.pools.decode.replicas=0"}).at(0).message,
             {"there is no cluster.pools.decode"});
}

TEST_CASE("a pool's setup says what transfers carry and how fast prompts are computed") {
  const Deployment deployment = deploy(kSplit);
  const PoolSetup& prefill = deployment.cluster->pools[0];
  CHECK(prefill.kv_bytes_per_token.count() == 131'072);
  CHECK(prefill.layers == 32);
  CHECK(prefill.weights.count() == Approx(16.06e9).epsilon(0.01));
  // One full step of 4096 tokens, over and over.
  const std::vector<ChunkShape> chunk = {{4096, 0}};
  const double step = to_seconds(deployment.pools[0].pricers.front()->price({0, 0, 1, chunk}).total());
  CHECK(prefill.prefill_tokens_per_second == Approx(4096 / step));
  CHECK(deployment.cluster->make_network);
  CHECK_FALSE(deploy(kSplit, {"cluster.network.model=none"}).cluster->make_network);
}

TEST_CASE("all pools take what the least of them holds") {
  const Deployment deployment = deploy(kSplit, {"cluster.pools.decode.engine.num_gpu_blocks=100"});
  CHECK(deployment.pools[0].limits.max_model_len == deployment.pools[1].limits.max_model_len);
  CHECK(deployment.pools[1].limits.max_model_len < 1601);
  CHECK(std::any_of(deployment.notes.begin(), deployment.notes.end(), [](const std::string& note) {
    return note.find("in all pools, as in pool decode") != std::string::npos;
  }));
}

TEST_CASE("a router that counts cached blocks where no prompt is computed is noted") {
  const auto notes_it = [](const std::string& routers) {
    const Deployment deployment = deploy(
        kSplit, {"workload={generator: constant, rate: 1 req/s, lengths: azure-conversation, sessions: "
                 "{turns: 2}}",
                 "cluster=" + routers});
    return std::any_of(deployment.notes.begin(), deployment.notes.end(), [](const std::string& note) {
      return note.find("overlap_weight: 0") != std::string::npos;
    });
  };
  CHECK(notes_it("{decode_router: kv_aware}"));
  CHECK(notes_it("{router: kv_aware}"));
  CHECK_FALSE(notes_it("{decode_router: {policy: kv_aware, overlap_weight: 0}}"));
  CHECK_FALSE(notes_it("{router: kv_aware, decode_router: least_outstanding}"));
  CHECK_FALSE(notes_it("{prefill_router: kv_aware}"));
}

TEST_CASE("pools that nobody sends to and pools that are missing are mistakes of the scenario") {
  check_says(mistakes_of(kMixed, {"engine.policy=disaggregated"}).at(0).message, {"cluster.pools.prefill"});
  check_says(mistakes_of(kSplit, {"engine.policy=chunked_prefill"}).at(0).message,
             {"cluster.pools.prefill goes with engine.policy disaggregated, not with chunked_prefill"});
  check_says(mistakes_of(kSplit, {"cluster.pools.mixed={}"}).at(0).message, {"overflow_tokens"});
  CHECK(mistakes_of(kSplit, {"cluster.pools.mixed={}", "engine.system=splitwise"}).empty());
}

}  // namespace
}  // namespace inferometer
