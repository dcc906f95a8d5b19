// Transfers a second through both networks, with so many in flight all the time: each one that ends is
// followed by another between random GPUs of a DGX-like cluster of eight nodes on two leaves.

#include <cstdint>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/random.hpp"
#include "sim/network/platform.hpp"

namespace inferometer {
namespace {

constexpr std::uint64_t kNodes = 8;
constexpr std::uint64_t kGpus = 8;

Platform bench_platform() {
  const ClusterSpec cluster = load_cluster("dgx-h100");
  Platform platform{.nodes = std::vector<NodeSpec>(kNodes, cluster.node),
                    .fabric = cluster.fabric,
                    .transfer = cluster.transfer};
  platform.fabric.nodes_per_leaf = kNodes / 2;
  platform.fabric.oversubscription = 2;
  return platform;
}

/// KV of a prompt from one GPU to another.
void start_one(Network& network, RandomStream& random, TimePoint now, std::uint32_t id) {
  const auto place = [&] {
    return GpuPlace{static_cast<std::int32_t>(random.below(kNodes)),
                    static_cast<std::int32_t>(random.below(kGpus))};
  };
  const GpuPlace from = place(), to = place();
  const Bytes bytes(10'000'000 + static_cast<std::int64_t>(random.below(500'000'000)));
  network.start(now, {id, {&from, 1}, {&to, 1}, bytes});
}

void keep_in_flight(benchmark::State& state, std::unique_ptr<Network> network) {
  RandomStream random(1, "bench/network");
  for (std::int64_t id = 0; id < state.range(0); ++id) {
    start_one(*network, random, TimePoint(), static_cast<std::uint32_t>(id));
  }
  std::int64_t done = 0;
  for (auto _ : state) {
    const TimePoint now = *network->next_end();
    const std::span<const std::uint32_t> ended = network->ended(now);
    const std::vector<std::uint32_t> ids(ended.begin(), ended.end());
    for (const std::uint32_t id : ids) {
      start_one(*network, random, now, id);
    }
    done += static_cast<std::int64_t>(ids.size());
  }
  state.SetItemsProcessed(done);
}

void ideal_transfers(benchmark::State& state) {
  keep_in_flight(state, make_ideal_network(bench_platform()));
}
BENCHMARK(ideal_transfers)->Arg(1)->Arg(8)->Arg(64)->Arg(512);

void shared_transfers(benchmark::State& state) {
  if (!has_simgrid()) {
    state.SkipWithError("built without SimGrid");
    return;
  }
  keep_in_flight(state, make_simgrid_network(bench_platform()));
}
BENCHMARK(shared_transfers)->Arg(1)->Arg(8)->Arg(64)->Arg(512);

}  // namespace
}  // namespace inferometer
