// Flows that share links, in closed form: max-min fairness worked by hand. Only SimGrid's network has it.

#include <algorithm>

#include "tests/unit/network/network_fixture.hpp"

namespace inferometer {
namespace {

using namespace testing;

std::unique_ptr<Network> contended(const Platform& platform) {
  return make_simgrid_network(platform);
}

/// From GPU `from` of node 0 to GPU `to` of node 1.
void send(Network& network, TimePoint now, std::uint32_t id, GpuPlace from, GpuPlace to, std::int64_t bytes) {
  network.start(now, {id, {&from, 1}, {&to, 1}, Bytes(bytes)});
}

TimePoint at_us(std::int64_t us) {
  return TimePoint(microseconds(us));
}

TEST_CASE("equal flows over one link share it equally") {
  for (const std::int64_t flows : {2, 3, 8, 64}) {
    const std::unique_ptr<Network> network = contended(plain_platform(2));
    for (std::int64_t id = 0; id < flows; ++id) {
      const auto number = static_cast<std::int32_t>(id);
      send(*network, TimePoint(), static_cast<std::uint32_t>(id), {0, 0}, {1, number % 4}, 50'000'000);
    }
    // All leave by one adapter of 50 GB/s: flows x 1 ms.
    for (const TimePoint end : run_all(*network, static_cast<std::size_t>(flows))) {
      check_time(end.since_start(), microseconds(5 + 1000 * flows), picoseconds(200));
    }
  }
}

TEST_CASE("flows that share no link do not notice each other") {
  const std::unique_ptr<Network> network = contended(plain_platform(4));
  send(*network, TimePoint(), 0, {0, 0}, {1, 0}, 50'000'000);
  send(*network, TimePoint(), 1, {0, 1}, {1, 1}, 50'000'000);
  send(*network, TimePoint(), 2, {1, 0}, {0, 0}, 50'000'000);   // the other way
  send(*network, TimePoint(), 3, {0, 0}, {0, 1}, 400'000'000);  // NVLink, not the adapter
  const std::vector<TimePoint> ends = run_all(*network, 4);
  for (std::size_t id = 0; id < 3; ++id) {
    check_time(ends[id].since_start(), microseconds(1005));
  }
  check_time(ends[3].since_start(), microseconds(1002));
}

TEST_CASE("a flow that joins late takes its share from then on") {
  const std::unique_ptr<Network> network = contended(plain_platform(2));
  // A: 100 MB from 5 us on. B: 50 MB, its bytes begin at 1005 us, when A has 50 MB left. Both at 25 GB/s
  // until B is done at 3005 us, and so is A.
  send(*network, TimePoint(), 0, {0, 0}, {1, 0}, 100'000'000);
  send(*network, at_us(1000), 1, {0, 0}, {1, 1}, 50'000'000);
  std::vector<TimePoint> ends = run_all(*network, 2);
  check_time(ends[0].since_start(), microseconds(3005));
  check_time(ends[1].since_start(), microseconds(3005));

  // A longer: after B it has 50 MB left, at the full rate.
  const TimePoint later = at_us(10'000);
  send(*network, later, 0, {0, 0}, {1, 0}, 150'000'000);
  send(*network, later + microseconds(1000), 1, {0, 0}, {1, 1}, 50'000'000);
  ends = run_all(*network, 2);
  check_time(ends[1] - later, microseconds(3005));
  check_time(ends[0] - later, microseconds(4005));
}

TEST_CASE("a flow with the longer latency gets the same share") {
  Platform platform = plain_platform(2);
  for (NodeSpec& node : platform.nodes) {
    node.nic_shares_gpu_link = true;
    node.gpu_bandwidth = BytesPerSecond(50e9);
    node.gpu_latency = microseconds(1);
  }
  platform.fabric.latency = microseconds(100);
  const std::unique_ptr<Network> network = contended(platform);
  // Both leave GPU 0 by its PCIe link; the one within the node begins 99 us earlier and has 4.95 MB less to
  // go. Then half the rate each: (45.05 MB) / 25 GB/s = 1802 us, and the other has 50 - 45.05 MB left: 99 us.
  send(*network, TimePoint(), 0, {0, 0}, {0, 1}, 50'000'000);
  send(*network, TimePoint(), 1, {0, 0}, {1, 1}, 50'000'000);
  const std::vector<TimePoint> ends = run_all(*network, 2);
  check_time(ends[0].since_start(), microseconds(1902));
  check_time(ends[1].since_start(), microseconds(2001));
}

TEST_CASE("what one flow cannot use is left to the others") {
  const std::unique_ptr<Network> network = contended(plain_platform(4));
  // Into GPU 0 of node 1: A from node 0, B from node 2; A also shares its adapter with C and D. Max-min: A, C
  // and D get 50 / 3 each, B the rest of the adapter in: 100 / 3.
  send(*network, TimePoint(), 0, {0, 0}, {1, 0}, 50'000'000);
  send(*network, TimePoint(), 1, {2, 0}, {1, 0}, 100'000'000);
  send(*network, TimePoint(), 2, {0, 0}, {1, 1}, 50'000'000);
  send(*network, TimePoint(), 3, {0, 0}, {1, 2}, 50'000'000);
  for (const TimePoint end : run_all(*network, 4)) {
    check_time(end.since_start(), microseconds(3005));
  }
}

TEST_CASE("a cancelled flow frees its links at once") {
  const std::unique_ptr<Network> network = contended(plain_platform(2));
  send(*network, TimePoint(), 0, {0, 0}, {1, 0}, 100'000'000);
  send(*network, TimePoint(), 1, {0, 0}, {1, 1}, 100'000'000);
  // At 2005 us each has sent 50 MB; A goes on alone and has the other 50 MB over after 1 ms.
  network->cancel(at_us(2005), 1);
  check_time(network->next_end()->since_start(), microseconds(3005));
  CHECK(run_all(*network, 2)[1] == TimePoint());
  // The adapter carried A whole and half of B.
  CHECK(carried(*network, "node0 nic0 out", at_us(3005)).count() >= 149'999'990);
  CHECK(carried(*network, "node0 nic0 out", at_us(3005)).count() <= 150'000'010);
}

TEST_CASE("a transfer cancelled before its first byte leaves no trace") {
  for (const MakeNetwork& make : {MakeNetwork(make_ideal_network), MakeNetwork(make_simgrid_network)}) {
    const std::unique_ptr<Network> network = make(plain_platform(2));
    send(*network, TimePoint(), 0, {0, 0}, {1, 0}, 50'000'000);
    send(*network, TimePoint(), 1, {0, 0}, {1, 0}, 50'000'000);
    network->cancel(at_us(4), 1);
    check_time(run_all(*network, 2)[0].since_start(), microseconds(1005));
    CHECK(carried(*network, "node0 nic0 out", at_us(1005)) == Bytes(50'000'000));
  }
}

TEST_CASE("an id is free again after its end and after a cancel") {
  for (const MakeNetwork& make : {MakeNetwork(make_ideal_network), MakeNetwork(make_simgrid_network)}) {
    const std::unique_ptr<Network> network = make(plain_platform(2));
    send(*network, TimePoint(), 7, {0, 0}, {1, 0}, 50'000'000);
    CHECK_THROWS_AS(send(*network, TimePoint(), 7, {0, 1}, {1, 1}, 1), std::logic_error);
    network->cancel(at_us(100), 7);
    send(*network, at_us(100), 7, {0, 0}, {1, 0}, 50'000'000);
    check_time(run_all(*network, 8)[7].since_start(), microseconds(1105));
    send(*network, at_us(2000), 7, {0, 0}, {1, 0}, 50'000'000);
    check_time(run_all(*network, 8)[7].since_start(), microseconds(3005));
  }
}

TEST_CASE("a transfer that has ended may be cancelled until it was told of") {
  for (const MakeNetwork& make : {MakeNetwork(make_ideal_network), MakeNetwork(make_simgrid_network)}) {
    const std::unique_ptr<Network> network = make(plain_platform(2));
    send(*network, TimePoint(), 0, {0, 0}, {1, 0}, 50'000'000);
    send(*network, TimePoint(), 1, {0, 1}, {1, 1}, 50'000'000);
    TimePoint end;
    while (end < at_us(1005)) {
      end = *network->next_end();
      if (end < at_us(1005)) {
        CHECK(network->ended(end).empty());
      }
    }
    network->cancel(end, 1);
    CHECK(network->next_end() == end);
    const std::span<const std::uint32_t> told = network->ended(end);
    REQUIRE(told.size() == 1);
    CHECK(told[0] == 0);
    CHECK_FALSE(network->next_end().has_value());
    CHECK_THROWS_AS(network->cancel(end, 0), std::logic_error);
  }
}

TEST_CASE("ends of one moment are told together by ascending id") {
  for (const MakeNetwork& make : {MakeNetwork(make_ideal_network), MakeNetwork(make_simgrid_network)}) {
    const std::unique_ptr<Network> network = make(plain_platform(2));
    for (const std::uint32_t id : {3u, 1u, 2u, 0u}) {
      const auto gpu = static_cast<std::int32_t>(id);
      send(*network, TimePoint(), id, {0, gpu}, {1, gpu}, 50'000'000);
    }
    std::span<const std::uint32_t> told;
    while (told.empty()) {
      told = network->ended(*network->next_end());
    }
    CHECK(std::vector<std::uint32_t>(told.begin(), told.end()) == std::vector<std::uint32_t>{0, 1, 2, 3});
  }
}

TEST_CASE("oversubscription of the leaf's links shows in completion times") {
  // Two nodes a leaf send from all their adapters to the other leaf: 400 GB/s, of which 1 / ratio goes up.
  for (const std::int64_t ratio : {1, 2, 4, 8}) {
    Platform platform = plain_platform(4);
    platform.fabric.oversubscription = static_cast<double>(ratio);
    const std::unique_ptr<Network> network = contended(platform);
    for (std::int32_t node = 0; node < 2; ++node) {
      const std::vector<GpuPlace> from = gpus_of(node), to = gpus_of(node + 2);
      network->start(TimePoint(), {static_cast<std::uint32_t>(node), from, to, Bytes(200'000'000)});
    }
    const std::vector<GpuPlace> from = gpus_of(1), to = gpus_of(0);
    // Beside them traffic within the leaf, the other way: it takes the adapters in, which are free.
    network->start(TimePoint(), {2, to, to, Bytes(1)});
    const std::vector<TimePoint> ends = run_all(*network, 3);
    check_time(ends[0].since_start(), microseconds(5 + 1000 * ratio), picoseconds(20));
    check_time(ends[1].since_start(), microseconds(5 + 1000 * ratio), picoseconds(20));
    const double use = static_cast<double>(carried(*network, "leaf0 up", ends[0]).count()) /
                       (400e9 / static_cast<double>(ratio) * to_seconds(ends[0].since_start()));
    CHECK(use == Approx(1000.0 * static_cast<double>(ratio) / (5 + 1000 * static_cast<double>(ratio))));
  }
}

TEST_CASE("storage is shared by the transfers of a node and not by those of others") {
  const std::unique_ptr<Network> network = contended(plain_platform(2));
  const std::vector<GpuPlace> first = gpus_of(0, 2), second = gpus_of(0, 2, 2), other = gpus_of(1);
  // 20 GB/s of node 0 for two transfers of 40 MB: 4 ms. Node 1 alone: 2 ms.
  network->start(TimePoint(), {0, {}, first, Bytes(40'000'000)});
  network->start(TimePoint(), {1, {}, second, Bytes(40'000'000)});
  network->start(TimePoint(), {2, {}, other, Bytes(40'000'000)});
  const std::vector<TimePoint> ends = run_all(*network, 3);
  check_time(ends[0].since_start(), microseconds(4005));
  check_time(ends[1].since_start(), microseconds(4005));
  check_time(ends[2].since_start(), microseconds(2005));
  CHECK(carried(*network, "node0 storage", ends[0]) == Bytes(80'000'000));
}

TEST_CASE("a ring all-reduce of chained transfers takes 2 (n - 1) (alpha + S / n B)") {
  // In each of 2 (n - 1) rounds every GPU sends its neighbour S / n bytes.
  constexpr std::int32_t kGpus = 8;
  Platform platform = plain_platform(1);
  platform.nodes[0].gpus = kGpus;
  platform.nodes[0].nics = kGpus;
  const std::unique_ptr<Network> network = contended(platform);
  constexpr std::int64_t kBytes = 64'000'000;
  TimePoint now;
  for (int round = 0; round < 2 * (kGpus - 1); ++round) {
    for (std::int32_t gpu = 0; gpu < kGpus; ++gpu) {
      send(*network, now, static_cast<std::uint32_t>(gpu), {0, gpu}, {0, (gpu + 1) % kGpus}, kBytes / kGpus);
    }
    for (const TimePoint end : run_all(*network, kGpus)) {
      now = std::max(now, end);
    }
  }
  // 14 rounds of 2 us + 8 MB / 400 GB/s = 20 us: 308 us.
  check_time(now.since_start(), microseconds(308), picoseconds(14));
}

TEST_CASE("inflated bytes of an inefficient transfer weigh on the link") {
  Platform platform = plain_platform(2);
  platform.transfer.efficiency = 0.5;
  const std::unique_ptr<Network> network = contended(platform);
  send(*network, TimePoint(), 0, {0, 0}, {1, 0}, 25'000'000);
  send(*network, TimePoint(), 1, {0, 0}, {1, 1}, 25'000'000);
  // 50 MB of link time each, two of them at 50 GB/s: 2 ms. Carried is what was sent: half.
  for (const TimePoint end : run_all(*network, 2)) {
    check_time(end.since_start(), microseconds(2005));
  }
  const std::vector<LinkUse> use = network->link_use(at_us(2005));
  const auto found =
      std::find_if(use.begin(), use.end(), [](const LinkUse& link) { return link.name == "node0 nic0 out"; });
  REQUIRE(found != use.end());
  CHECK(found->bytes == Bytes(50'000'000));
  CHECK(found->utilization == Approx(0.5 * 2000 / 2005));
}

TEST_CASE("links are named node by node and then leaf by leaf") {
  Platform platform = plain_platform(3);
  for (NodeSpec& node : platform.nodes) {
    node.gpus = 1;
    node.nics = 1;
  }
  std::vector<std::string> names;
  const std::unique_ptr<Network> ideal = make_ideal_network(platform);
  for (const LinkUse& use : ideal->link_use(TimePoint())) {
    names.push_back(use.name);
    CHECK(use.bytes == Bytes(0));
    CHECK(use.utilization == 0);
  }
  CHECK(names == std::vector<std::string>{
                     "node0 gpu0 out", "node0 gpu0 in", "node0 nic0 out", "node0 nic0 in", "node0 storage",
                     "node1 gpu0 out", "node1 gpu0 in", "node1 nic0 out", "node1 nic0 in", "node1 storage",
                     "node2 gpu0 out", "node2 gpu0 in", "node2 nic0 out", "node2 nic0 in", "node2 storage",
                     "leaf0 up", "leaf0 down", "leaf1 up", "leaf1 down"});
  const std::vector<LinkUse> shared = contended(platform)->link_use(TimePoint());
  REQUIRE(shared.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(shared[i].name == names[i]);
  }
  // The last leaf has one node of one adapter.
  CHECK(shared[15].capacity.count() == 100e9);
  CHECK(shared[17].capacity.count() == 50e9);
}

TEST_CASE("flows under way count with what they have carried") {
  for (const MakeNetwork& make : {MakeNetwork(make_ideal_network), MakeNetwork(make_simgrid_network)}) {
    const std::unique_ptr<Network> network = make(plain_platform(2));
    send(*network, TimePoint(), 0, {0, 0}, {1, 0}, 50'000'000);
    CHECK(network->ended(at_us(255)).empty());
    const std::int64_t bytes = carried(*network, "node1 nic0 in", at_us(255)).count();
    CHECK(bytes >= 12'499'990);
    CHECK(bytes <= 12'500'010);
  }
}

}  // namespace
}  // namespace inferometer
