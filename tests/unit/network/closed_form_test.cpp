// One transfer on an idle network, in closed form: set-up + latency + bytes / rate of the narrowest link.
// Both networks have to agree with it; the times are worked by hand beside each case.

#include "tests/unit/network/network_fixture.hpp"

namespace inferometer {
namespace {

using namespace testing;

std::vector<MakeNetwork> networks() {
  std::vector<MakeNetwork> makers{make_ideal_network};
  if (has_simgrid()) {
    makers.emplace_back(make_simgrid_network);
  }
  return makers;
}

void check_alone(const Platform& platform, const std::vector<GpuPlace>& from, const std::vector<GpuPlace>& to,
                 Bytes bytes, Duration expected) {
  for (const MakeNetwork& make : networks()) {
    const std::unique_ptr<Network> network = make(platform);
    check_time(time_alone(*network, from, to, bytes), expected);
    CHECK_FALSE(network->next_end().has_value());
  }
}

TEST_CASE("within a node a transfer takes latency and bytes over the GPU's link") {
  // 2 us + 400 MB / 400 GB/s = 1 ms.
  check_alone(plain_platform(2), {{0, 0}}, {{0, 3}}, Bytes(400'000'000), microseconds(1002));
}

TEST_CASE("between nodes a transfer takes latency and bytes over the adapter") {
  // 5 us + 50 MB / 50 GB/s = 1 ms, on the same leaf and across.
  check_alone(plain_platform(4), {{0, 0}}, {{1, 0}}, Bytes(50'000'000), microseconds(1005));
  check_alone(plain_platform(4), {{0, 0}}, {{3, 2}}, Bytes(50'000'000), microseconds(1005));
}

TEST_CASE("a transfer takes as long on the last day of simulated time as on the first") {
  constexpr TimePoint kLate(seconds(9'150'000));
  const std::vector<GpuPlace> from = {{0, 0}};
  const std::vector<GpuPlace> to = {{1, 0}};
  for (const MakeNetwork& make : networks()) {
    const std::unique_ptr<Network> network = make(plain_platform(2));
    network->start(kLate, {0, from, to, Bytes(50'000'000)});
    const TimePoint end = run_all(*network, 1, TimePoint(seconds(9'200'000))).at(0);
    check_time(end - kLate, microseconds(1005), nanoseconds(10));
  }
}

TEST_CASE("set-up and efficiency of the size come on top") {
  Platform platform = plain_platform(2);
  platform.transfer = {.set_up = microseconds(100), .efficiency = 0.5, .half_size = Bytes(1'000'000)};
  // 105 us + (4 MB + 1 MB) / 0.5 / 50 GB/s = 200 us.
  check_alone(platform, {{0, 0}}, {{1, 0}}, Bytes(4'000'000), microseconds(305));
  // A message of half_size reaches half: 1 MB at 0.25 of 50 GB/s = 80 us.
  check_alone(platform, {{0, 0}}, {{1, 0}}, Bytes(1'000'000), microseconds(185));
}

TEST_CASE("one byte takes a fiftieth of a nanosecond") {
  check_alone(plain_platform(2), {{0, 0}}, {{1, 0}}, Bytes(1), microseconds(5) + picoseconds(20));
}

TEST_CASE("groups of the same size carry a share each") {
  // Four pairs over four adapters: 200 MB / 4 / 50 GB/s = 1 ms.
  check_alone(plain_platform(2), gpus_of(0), gpus_of(1), Bytes(200'000'000), microseconds(1005));
}

TEST_CASE("shares are rounded up") {
  // 201 bytes in four pairs: 51 each, 1.02 ns.
  check_alone(plain_platform(2), gpus_of(0), gpus_of(1), Bytes(201), microseconds(5) + picoseconds(1020));
}

TEST_CASE("a group of two sends to one of four over its two adapters") {
  // Two pairs leave by each adapter: 100 MB / 2 / 50 GB/s = 1 ms.
  const Platform platform = plain_platform(2);
  check_alone(platform, gpus_of(0, 2), gpus_of(1), Bytes(100'000'000), microseconds(1005));
  const TimePoint end(microseconds(1005));
  for (const MakeNetwork& make : networks()) {
    const std::unique_ptr<Network> network = make(platform);
    time_alone(*network, gpus_of(0, 2), gpus_of(1), Bytes(100'000'000));
    for (const char* link : {"node0 nic0 out", "node0 nic1 out"}) {
      CHECK(carried(*network, link, end) == Bytes(50'000'000));
    }
    CHECK(carried(*network, "node0 nic2 out", end) == Bytes(0));
    for (const char* link : {"node1 nic0 in", "node1 nic1 in", "node1 nic2 in", "node1 nic3 in"}) {
      CHECK(carried(*network, link, end) == Bytes(25'000'000));
    }
  }
}

TEST_CASE("a group shares the adapters that its nodes have") {
  // Four pairs over one adapter, which all bytes pass: 100 MB / 50 GB/s = 2 ms.
  Platform platform = plain_platform(2);
  for (NodeSpec& node : platform.nodes) {
    node.nics = 1;
  }
  check_alone(platform, gpus_of(0), gpus_of(1), Bytes(100'000'000), microseconds(2005));
}

TEST_CASE("three ranks send to two as the larger group's rank i to i x 2 / 3") {
  for (const MakeNetwork& make : networks()) {
    const std::unique_ptr<Network> network = make(plain_platform(2));
    const Duration time = time_alone(*network, gpus_of(0, 3), gpus_of(1, 2), Bytes(30'000'000));
    const TimePoint end = TimePoint(time);
    CHECK(carried(*network, "node0 nic0 out", end) == Bytes(10'000'000));
    CHECK(carried(*network, "node0 nic1 out", end) == Bytes(10'000'000));
    CHECK(carried(*network, "node0 nic2 out", end) == Bytes(10'000'000));
    CHECK(carried(*network, "node1 nic0 in", end) == Bytes(20'000'000));
    CHECK(carried(*network, "node1 nic1 in", end) == Bytes(10'000'000));
  }
}

TEST_CASE("GPUs that share an adapter use the one of their number") {
  Platform platform = plain_platform(2);
  for (NodeSpec& node : platform.nodes) {
    node.nics = 2;
  }
  // GPU g uses adapter g * 2 / 4.
  for (const MakeNetwork& make : networks()) {
    const std::unique_ptr<Network> network = make(platform);
    const TimePoint end(time_alone(*network, {{0, 1}}, {{1, 2}}, Bytes(1000)));
    CHECK(carried(*network, "node0 nic0 out", end) == Bytes(1000));
    CHECK(carried(*network, "node1 nic1 in", end) == Bytes(1000));
    CHECK(carried(*network, "node1 nic0 in", end) == Bytes(0));
  }
}

TEST_CASE("storage is read at a node's rate by all its ranks together") {
  // Four ranks of one node: 80 MB / 20 GB/s = 4 ms.
  check_alone(plain_platform(2), {}, gpus_of(0), Bytes(80'000'000), microseconds(4005));
  // Eight on two nodes: each node reads 40 MB.
  std::vector<GpuPlace> both = gpus_of(0);
  for (const GpuPlace& place : gpus_of(1)) {
    both.push_back(place);
  }
  check_alone(plain_platform(2), {}, both, Bytes(80'000'000), microseconds(2005));
}

TEST_CASE("one rank reads storage no faster than its adapter") {
  Platform platform = plain_platform(1);
  platform.nodes[0].storage_bandwidth = BytesPerSecond(500e9);
  // 50 MB / 50 GB/s = 1 ms.
  check_alone(platform, {}, {{0, 0}}, Bytes(50'000'000), microseconds(1005));
}

TEST_CASE("a transfer to the same GPUs takes the latency alone") {
  Platform platform = plain_platform(1);
  platform.transfer.set_up = microseconds(100);
  check_alone(platform, gpus_of(0), gpus_of(0), Bytes(1'000'000'000), microseconds(2));
}

TEST_CASE("ranks that change places wait for those that do not stand still") {
  Platform platform = plain_platform(1);
  // Rank 0 stays on GPU 0; rank 1 goes from GPU 1 to GPU 2: 400 MB / 400 GB/s.
  check_alone(platform, {{0, 0}, {0, 1}}, {{0, 0}, {0, 2}}, Bytes(800'000'000), microseconds(1002));
}

TEST_CASE("over PCIe the adapter can be wider than the GPU's link") {
  Platform platform = plain_platform(2);
  for (NodeSpec& node : platform.nodes) {
    node.gpu_bandwidth = BytesPerSecond(25e9);
  }
  // The adapter hangs beside the GPU's link: 50 MB / 50 GB/s. Behind it: at 25 GB/s.
  check_alone(platform, {{0, 0}}, {{1, 0}}, Bytes(50'000'000), microseconds(1005));
  for (NodeSpec& node : platform.nodes) {
    node.nic_shares_gpu_link = true;
  }
  check_alone(platform, {{0, 0}}, {{1, 0}}, Bytes(50'000'000), microseconds(2005));
}

TEST_CASE("a leaf's links up hold back even one transfer when they are narrow enough") {
  Platform platform = plain_platform(4);
  // A leaf of two nodes sends 400 GB/s; a sixteenth of it goes up: 25 GB/s.
  platform.fabric.oversubscription = 16;
  check_alone(platform, {{0, 0}}, {{2, 0}}, Bytes(50'000'000), microseconds(2005));
  check_alone(platform, {{0, 0}}, {{1, 0}}, Bytes(50'000'000), microseconds(1005));
}

TEST_CASE("a transfer that starts late ends late") {
  for (const MakeNetwork& make : networks()) {
    const std::unique_ptr<Network> network = make(plain_platform(2));
    const TimePoint start(seconds(100'000) + picoseconds(7));
    const std::vector<GpuPlace> from{{0, 0}}, to{{1, 0}};
    network->start(start, {0, from, to, Bytes(50'000'000)});
    check_time(run_all(*network, 1).at(0) - start, microseconds(1005));
  }
}

TEST_CASE("what would take years ends when time does") {
  Platform platform = plain_platform(2);
  platform.nodes[0].nic_bandwidth = BytesPerSecond(1);
  for (const MakeNetwork& make : networks()) {
    const std::unique_ptr<Network> network = make(platform);
    const std::vector<GpuPlace> from{{0, 0}}, to{{1, 0}};
    network->start(TimePoint(), {0, from, to, Bytes(1'000'000'000'000)});
    while (*network->next_end() < TimePoint(seconds(1))) {
      CHECK(network->ended(*network->next_end()).empty());
    }
    CHECK(network->next_end() == TimePoint(seconds(9'200'000)));
    network->cancel(*network->next_end(), 0);
    CHECK_FALSE(network->next_end().has_value());
  }
}

TEST_CASE("links of collectives are those of a node and of a GPU's share of its adapters") {
  NodeSpec node = plain_platform(1).nodes[0];
  const FabricSpec fabric = plain_platform(1).fabric;
  CHECK(node_link(node).bandwidth.count() == 400e9);
  CHECK(node_link(node).latency == microseconds(2));
  node.nics = 2;
  CHECK(fabric_link(node, fabric).bandwidth.count() == 25e9);
  CHECK(fabric_link(node, fabric).latency == microseconds(5));
  node.gpu_bandwidth = BytesPerSecond(10e9);
  CHECK(fabric_link(node, fabric).bandwidth.count() == 25e9);
  node.nic_shares_gpu_link = true;
  CHECK(fabric_link(node, fabric).bandwidth.count() == 10e9);
}

TEST_CASE("figures that no file may have are caught") {
  const auto refused = [](const std::function<void(Platform&)>& change) {
    Platform platform = plain_platform(2);
    change(platform);
    for (const MakeNetwork& make : networks()) {
      CHECK_THROWS_AS(make(platform), std::logic_error);
    }
  };
  refused([](Platform& platform) { platform.nodes[1].nic_bandwidth = BytesPerSecond(0); });
  refused([](Platform& platform) { platform.nodes[1].gpu_bandwidth = BytesPerSecond(0); });
  refused([](Platform& platform) { platform.nodes[1].storage_bandwidth = BytesPerSecond(-1); });
  refused([](Platform& platform) { platform.nodes[0].nics = 0; });
  refused([](Platform& platform) { platform.fabric.nodes_per_leaf = 0; });
  refused([](Platform& platform) { platform.fabric.oversubscription = 0.5; });
  refused([](Platform& platform) { platform.transfer.efficiency = 0; });
}

TEST_CASE("transfers between GPUs that are not there are caught") {
  for (const MakeNetwork& make : networks()) {
    const std::unique_ptr<Network> network = make(plain_platform(2));
    const std::vector<GpuPlace> here{{0, 0}}, no_node{{2, 0}}, no_gpu{{0, 4}}, nobody;
    CHECK_THROWS_AS(network->start(TimePoint(), {0, here, no_node, Bytes(1)}), std::logic_error);
    CHECK_THROWS_AS(network->start(TimePoint(), {1, no_gpu, here, Bytes(1)}), std::logic_error);
    CHECK_THROWS_AS(network->start(TimePoint(), {2, here, nobody, Bytes(1)}), std::logic_error);
    CHECK_THROWS_AS(network->start(TimePoint(), {3, here, here, Bytes(0)}), std::logic_error);
    CHECK_THROWS_AS(network->cancel(TimePoint(), 7), std::logic_error);
  }
}

}  // namespace
}  // namespace inferometer
