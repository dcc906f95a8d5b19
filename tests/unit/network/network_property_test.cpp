// Random starts and cancels on random platforms: what must hold whatever happens.

#include <algorithm>
#include <map>

#include "tests/support/dice.hpp"
#include "tests/unit/network/network_fixture.hpp"

namespace inferometer {
namespace {

using namespace testing;

Platform random_platform(Dice& dice) {
  Platform platform;
  const std::int64_t nodes = dice.between(1, 6);
  for (std::int64_t i = 0; i < nodes; ++i) {
    NodeSpec node;
    node.gpus = dice.one_of({1, 2, 4, 8});
    node.nics = dice.between(1, node.gpus);
    node.gpu_bandwidth = BytesPerSecond(static_cast<double>(dice.one_of({25, 300, 450})) * 1e9);
    node.gpu_latency = nanoseconds(dice.between(0, 10'000));
    node.nic_bandwidth = BytesPerSecond(static_cast<double>(dice.between(1'000'000, 50'000'000'000)));
    node.storage_bandwidth = BytesPerSecond(static_cast<double>(dice.between(1, 40)) * 1e9);
    node.nic_shares_gpu_link = dice.chance(50);
    platform.nodes.push_back(node);
  }
  platform.fabric = {.nodes_per_leaf = dice.between(1, 3),
                     .oversubscription = static_cast<double>(dice.between(10, 80)) / 10,
                     .latency = nanoseconds(dice.between(0, 20'000))};
  platform.transfer = {.set_up = nanoseconds(dice.one_of({0, 1, 50'000})),
                       .efficiency = static_cast<double>(dice.between(1, 100)) / 100,
                       .half_size = Bytes(dice.one_of({0, 1, 262'144}))};
  return platform;
}

std::vector<GpuPlace> random_group(Dice& dice, const Platform& platform, std::int64_t size_max) {
  std::vector<GpuPlace> places;
  const auto node =
      static_cast<std::int32_t>(dice.between(0, static_cast<std::int64_t>(platform.nodes.size()) - 1));
  const std::int64_t gpus = platform.nodes[static_cast<std::size_t>(node)].gpus;
  const std::int64_t size = dice.between(1, std::min(gpus, size_max));
  const std::int64_t first = dice.between(0, gpus - size);
  for (std::int64_t gpu = first; gpu < first + size; ++gpu) {
    places.push_back({node, static_cast<std::int32_t>(gpu)});
  }
  return places;
}

TEST_CASE("alone both networks give a transfer the same time") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Dice dice(seed, "alone");
    const Platform platform = random_platform(dice);
    const std::unique_ptr<Network> ideal = make_ideal_network(platform);
    const std::unique_ptr<Network> shared = make_simgrid_network(platform);
    TimePoint now;
    for (int i = 0; i < 20; ++i) {
      now = now + picoseconds(dice.between(0, 1'000'000'000'000));
      const std::vector<GpuPlace> from =
          dice.chance(20) ? std::vector<GpuPlace>{} : random_group(dice, platform, 8);
      const std::vector<GpuPlace> to = random_group(dice, platform, 8);
      const Transfer transfer{0, from, to, Bytes(dice.between(1, 10'000'000))};
      ideal->start(now, transfer);
      shared->start(now, transfer);
      const TimePoint expected = run_all(*ideal, 1)[0];
      const TimePoint found = run_all(*shared, 1)[0];
      check_time(found - now, expected - now);
      now = std::max(found, expected);
    }
  }
}

/// Starts and cancels at random moments, the ends in order as they are told.
class RandomTraffic {
 public:
  RandomTraffic(std::uint64_t seed, const MakeNetwork& make)
      : dice_(seed, "traffic"), platform_(random_platform(dice_)), network_(make(platform_)) {}

  /// (id, end) of all that ended. Checks the promises of next_end() on the way.
  std::vector<std::pair<std::uint32_t, TimePoint>> run(int transfers) {
    TimePoint event;
    while (started_ < transfers || !in_flight_.empty()) {
      const bool more = started_ < transfers;
      if (!more) {
        serve_until(std::nullopt);
        break;
      }
      event = std::max(event, now_) + picoseconds(dice_.between(0, 2'000'000'000));
      serve_until(event);
      now_ = event;
      if (!in_flight_.empty() && dice_.chance(20)) {
        cancel_one();
      } else {
        start_one();
      }
    }
    CHECK(in_flight_.empty());
    CHECK_FALSE(network_->next_end().has_value());
    return ends_;
  }

  [[nodiscard]] const Network& network() const { return *network_; }
  [[nodiscard]] TimePoint now() const { return now_; }

 private:
  void serve_until(std::optional<TimePoint> limit) {
    for (auto next = network_->next_end(); next && (!limit || *next <= *limit); next = network_->next_end()) {
      REQUIRE(*next >= now_);
      // Nothing ends before.
      if (dice_.chance(30) && *next > now_) {
        REQUIRE(network_->ended(*next - picoseconds(1)).empty());
        REQUIRE(network_->next_end() == next);
      }
      now_ = *next;
      for (const std::uint32_t id : network_->ended(now_)) {
        REQUIRE(in_flight_.erase(id) == 1);
        ends_.emplace_back(id, now_);
      }
      const auto after = network_->next_end();
      REQUIRE((!after || *after > now_));
      REQUIRE(after.has_value() == !in_flight_.empty());
    }
  }

  void start_one() {
    const std::vector<GpuPlace> from =
        dice_.chance(10) ? std::vector<GpuPlace>{} : random_group(dice_, platform_, 8);
    const std::vector<GpuPlace> to = random_group(dice_, platform_, 8);
    const auto id = static_cast<std::uint32_t>(started_++);
    network_->start(now_, {id, from, to, Bytes(dice_.between(1, 50'000'000))});
    in_flight_[id] = now_;
  }

  void cancel_one() {
    auto chosen = in_flight_.begin();
    std::advance(chosen, dice_.between(0, static_cast<std::int64_t>(in_flight_.size()) - 1));
    network_->cancel(now_, chosen->first);
    in_flight_.erase(chosen);
  }

  Dice dice_;
  Platform platform_;
  std::unique_ptr<Network> network_;
  TimePoint now_;
  int started_ = 0;
  std::map<std::uint32_t, TimePoint> in_flight_;
  std::vector<std::pair<std::uint32_t, TimePoint>> ends_;
};

void check_promises(const MakeNetwork& make, double utilization_max) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    RandomTraffic traffic(seed, make);
    CHECK(traffic.run(60).size() > 20);
    for (const LinkUse& use : traffic.network().link_use(traffic.now())) {
      CAPTURE(use.name);
      CHECK(use.bytes >= Bytes(0));
      CHECK(use.utilization <= utilization_max);
    }
  }
}

TEST_CASE("next_end of the ideal network is kept under random starts and cancels") {
  check_promises(make_ideal_network, 1e9);
}

TEST_CASE("next_end of shared links is kept under random starts and cancels") {
  check_promises(make_simgrid_network, 1 + 1e-9);
}

TEST_CASE("contention never makes a transfer faster") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Dice dice(seed, "never faster");
    const Platform platform = random_platform(dice);
    const std::unique_ptr<Network> ideal = make_ideal_network(platform);
    const std::unique_ptr<Network> shared = make_simgrid_network(platform);
    std::vector<std::vector<GpuPlace>> groups;
    constexpr std::size_t kTransfers = 40;
    for (std::uint32_t id = 0; id < kTransfers; ++id) {
      const std::vector<GpuPlace> from = random_group(dice, platform, 8);
      const std::vector<GpuPlace> to = random_group(dice, platform, 8);
      const Transfer transfer{id, from, to, Bytes(dice.between(1, 50'000'000))};
      ideal->start(TimePoint(), transfer);
      shared->start(TimePoint(), transfer);
    }
    const std::vector<TimePoint> alone = run_all(*ideal, kTransfers), together = run_all(*shared, kTransfers);
    for (std::size_t id = 0; id < kTransfers; ++id) {
      CHECK(together[id] + picoseconds(2) >= alone[id]);
    }
  }
}

TEST_CASE("the same calls give the same times") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CHECK(RandomTraffic(seed, make_ideal_network).run(100) ==
          RandomTraffic(seed, make_ideal_network).run(100));
    // A second engine of the process starts at the clock of the first: the same to a few picoseconds.
    const auto first = RandomTraffic(seed, make_simgrid_network).run(100);
    const auto second = RandomTraffic(seed, make_simgrid_network).run(100);
    REQUIRE(first.size() == second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      CHECK(first[i].first == second[i].first);
      check_time(second[i].second.since_start(), first[i].second.since_start(), picoseconds(20));
    }
  }
}

}  // namespace
}  // namespace inferometer
