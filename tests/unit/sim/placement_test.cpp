#include "sim/scenario/placement.hpp"

#include <set>
#include <utility>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Gpus = std::vector<GpuPlace>;

/// `count` GPUs of a node from `first` on.
Gpus row(std::int32_t node, std::int32_t first, std::int32_t count) {
  Gpus gpus;
  for (std::int32_t gpu = first; gpu < first + count; ++gpu) {
    gpus.push_back({node, gpu});
  }
  return gpus;
}

Gpus operator+(Gpus a, const Gpus& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_CASE("replicas are packed, and none straddles two nodes that fits into one") {
  const Placement placement = place_replicas({{.replicas = 3, .tensor = 3, .gpus_per_node = 8}});
  const PlacedPool& pool = placement.pools.front();
  REQUIRE(pool.replicas.size() == 3);
  CHECK(pool.replicas[0] == row(0, 0, 3));
  CHECK(pool.replicas[1] == row(0, 3, 3));
  CHECK(pool.replicas[2] == row(1, 0, 3));
  CHECK(pool.tensor_in_node == 3);
  CHECK(placement.kind_of_node.size() == 2);
}

TEST_CASE("pools on nodes of one kind share nodes, those on other nodes do not") {
  const Placement placement = place_replicas({{.tensor = 4, .gpus_per_node = 8, .kind = 0},
                                              {.tensor = 2, .gpus_per_node = 4, .kind = 1},
                                              {.tensor = 4, .gpus_per_node = 8, .kind = 0}});
  CHECK(placement.pools[0].replicas.front() == row(0, 0, 4));
  CHECK(placement.pools[1].replicas.front() == row(1, 0, 2));
  CHECK(placement.pools[2].replicas.front() == row(0, 4, 4));
  CHECK(placement.kind_of_node == std::vector<std::size_t>{0, 1});
}

TEST_CASE("a tensor group larger than a node takes equal parts of the fewest nodes") {
  const Placement sixteen = place_replicas({{.replicas = 2, .tensor = 16, .gpus_per_node = 8}});
  CHECK(sixteen.pools.front().replicas[0] == row(0, 0, 8) + row(1, 0, 8));
  CHECK(sixteen.pools.front().replicas[1] == row(2, 0, 8) + row(3, 0, 8));
  CHECK(sixteen.pools.front().tensor_in_node == 8);
  CHECK(sixteen.pools.front().stages_in_node);  // there is one stage

  const Placement twelve = place_replicas({{.tensor = 12, .gpus_per_node = 8}});
  CHECK(twelve.pools.front().replicas[0] == row(0, 0, 6) + row(1, 0, 6));
  CHECK(twelve.pools.front().tensor_in_node == 6);
}

TEST_CASE("stages of a pipeline share nodes as far as whole stages fit") {
  const Placement one = place_replicas({{.tensor = 4, .pipeline = 2, .gpus_per_node = 8}});
  CHECK(one.pools.front().replicas[0] == row(0, 0, 8));
  CHECK(one.pools.front().stages_in_node);

  const Placement two = place_replicas({{.tensor = 8, .pipeline = 2, .gpus_per_node = 8}});
  CHECK(two.pools.front().replicas[0] == row(0, 0, 8) + row(1, 0, 8));
  CHECK_FALSE(two.pools.front().stages_in_node);
  CHECK(two.pools.front().tensor_in_node == 8);

  // Two stages of three in each node, and what is left of the last node is the next pool's.
  const Placement three =
      place_replicas({{.tensor = 3, .pipeline = 3, .gpus_per_node = 8}, {.tensor = 4, .gpus_per_node = 8}});
  CHECK(three.pools[0].replicas[0] == row(0, 0, 6) + row(1, 0, 3));
  CHECK_FALSE(three.pools[0].stages_in_node);
  CHECK(three.pools[1].replicas[0] == row(1, 3, 4));
}

TEST_CASE("a replica larger than a node begins on a node of its own") {
  const Placement placement =
      place_replicas({{.tensor = 2, .gpus_per_node = 8}, {.tensor = 2, .pipeline = 5, .gpus_per_node = 8}});
  CHECK(placement.pools[1].replicas[0] == row(1, 0, 8) + row(2, 0, 2));
}

TEST_CASE("no GPU is given twice, none that is not there") {
  RandomStream random(1, "placement");
  const auto upto = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(most));
  };
  for (int round = 0; round < 500; ++round) {
    const std::vector<std::int64_t> gpus_per_node = {upto(8), upto(8)};
    std::vector<PlacementRequest> requests;
    for (int pool = 0; pool < 3; ++pool) {
      const std::size_t kind = random.next() % 2;
      requests.push_back({upto(5), upto(20), upto(4), gpus_per_node[kind], kind});
    }
    const Placement placement = place_replicas(requests);
    std::set<std::pair<std::int32_t, std::int32_t>> given;
    for (std::size_t pool = 0; pool < requests.size(); ++pool) {
      const PlacementRequest& request = requests[pool];
      REQUIRE(placement.pools[pool].replicas.size() == static_cast<std::size_t>(request.replicas));
      REQUIRE(request.tensor % placement.pools[pool].tensor_in_node == 0);
      for (const Gpus& gpus : placement.pools[pool].replicas) {
        REQUIRE(gpus.size() == static_cast<std::size_t>(request.tensor * request.pipeline));
        std::set<std::int32_t> nodes;
        for (const GpuPlace& place : gpus) {
          REQUIRE(given.emplace(place.node, place.gpu).second);
          REQUIRE(place.gpu < request.gpus_per_node);
          REQUIRE(placement.kind_of_node.at(static_cast<std::size_t>(place.node)) == request.kind);
          nodes.insert(place.node);
        }
        const bool fits = request.tensor * request.pipeline <= request.gpus_per_node;
        REQUIRE((!fits || nodes.size() == 1));
      }
    }
  }
}

}  // namespace
}  // namespace inferometer
