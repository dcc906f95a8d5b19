#include "sim/scenario/kv_offload.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {
namespace {

/// Which policies take it, or a setting of this one that stands in its way; empty: nothing does.
std::string obstacle_in_engine(const Values& engine) {
  const std::string& name = engine.text("policy");
  const PolicyEntry* const policy = policy_registry().find(name);
  if (policy == nullptr || !policy->takes_host_kv) {
    std::vector<std::string> able;
    for (const PolicyEntry& entry : policy_registry().entries()) {
      if (entry.takes_host_kv) {
        able.push_back(entry.name);
      }
    }
    return "is not modelled with policy " + name + ", only with " + join_alternatives(able, "and");
  }
  if (!policy->caches_prefixes || !policy->caches_prefixes(engine)) {
    return "keeps what the prefix cache loses: it needs engine.enable_prefix_caching: true";
  }
  if (engine.text("admission") != "full_isl") {
    return "needs engine.admission: full_isl: a prompt is brought back when all of it has room";
  }
  if (!engine.flag("enable_chunked_prefill")) {
    return "needs engine.enable_chunked_prefill: true";
  }
  return "";
}

/// That fit into a size in bytes. Throws ConfigError when not one does: `whose` it is, up to what it takes.
std::int64_t blocks_in(const Values& section, const std::string& key, const std::string& place, Bytes block,
                       const std::string& whose) {
  const std::int64_t blocks = section.bytes(key).count() / block.count();
  if (blocks < 1) {
    throw ConfigError(section.where(key), place + "." + key + " is " +
                                              std::to_string(section.bytes(key).count()) + " B for each " +
                                              whose + " takes " + std::to_string(block.count()) + " B");
  }
  return blocks;
}

Duration copy_time(Bytes bytes, BytesPerSecond bandwidth) {
  return std::max(Duration(1), bytes / bandwidth);
}

/// `block`: what one GPU has of it, over its share of a PCIe link.
KvTierConfig host_tier(const Values& section, const PoolSpec& pool, Bytes block) {
  KvTierConfig tier;
  tier.blocks =
      blocks_in(section, "cpu_memory", "engine.kv_offload", block, "GPU, but its part of one KV block");
  const std::int64_t sharing = std::min(section.count("gpus_per_pcie_link"), pool.gpus_per_replica());
  tier.block_write = copy_time(block * sharing, pool.gpu.pcie_per_direction);
  tier.block_read = tier.block_write;
  return tier;
}

/// `block`: over all GPUs of a replica.
KvTierConfig disk_tier(const Values& section, Bytes block) {
  const std::string place = "engine.kv_offload.disk";
  KvTierConfig tier;
  tier.blocks = blocks_in(section, "capacity", place, block, "replica, but one KV block");
  tier.write_buffer = blocks_in(section, "write_buffer", place, block, "replica, but one KV block");
  tier.block_write = copy_time(block, section.bandwidth("write_bandwidth"));
  tier.block_read = copy_time(block, section.bandwidth("read_bandwidth"));
  return tier;
}

}  // namespace

void check_kv_offload(const PoolSpec& pool, Diagnostics& diagnostics) {
  if (!pool.engine.has("kv_offload")) {
    return;
  }
  const Position at = pool.engine.section("kv_offload").where();
  if (const std::string obstacle = obstacle_in_engine(pool.engine); !obstacle.empty()) {
    diagnostics.add(at, "engine.kv_offload " + obstacle);
  }
  if (pool.pipeline_parallel > 1) {
    diagnostics.add(at, "engine.kv_offload needs pipeline_parallel 1, not " +
                            std::to_string(pool.pipeline_parallel) +
                            ": copies for stages that are at different steps are not modelled");
  }
  if (pool.role != PoolRole::mixed) {
    diagnostics.add(at,
                    "engine.kv_offload is not modelled with engine.policy disaggregated, where KV already "
                    "comes from another replica");
  }
  if (pool.speculation && pool.speculation->rule.recomputes_last_hit) {
    diagnostics.add(at,
                    "engine.kv_offload is not modelled with a drafter that needs hidden states (eagle, mtp): "
                    "host memory keeps none");
  }
}

std::optional<KvOffloadConfig> kv_offload_of(const PoolSpec& pool, const MemoryFootprint& memory) {
  if (!pool.engine.has("kv_offload")) {
    return std::nullopt;
  }
  const Values& section = pool.engine.section("kv_offload");
  const Bytes block = memory.kv_bytes_per_token * memory.block_size;
  KvOffloadConfig config;
  config.tiers.push_back(host_tier(section, pool, block));
  if (section.has("disk")) {
    config.tiers.push_back(disk_tier(section.section("disk"), block * pool.gpus_per_replica()));
  }
  config.write = section.text("write") == "on_release" ? KvOffloadConfig::Write::on_release
                                                       : KvOffloadConfig::Write::on_evict;
  const std::string& load = section.text("load");
  config.load = load == "always"  ? KvOffloadConfig::Load::always
                : load == "never" ? KvOffloadConfig::Load::never
                                  : KvOffloadConfig::Load::by_cost;
  return config;
}

}  // namespace inferometer
