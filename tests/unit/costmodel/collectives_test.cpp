// What GPUs send to each other, by hand from latency and bandwidth, and beside measurements.

#include "costmodel/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/roofline.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

constexpr GpuLink kNear{BytesPerSecond(100e9), microseconds(1)};
constexpr GpuLink kFar{BytesPerSecond(25e9), microseconds(5)};

Operator all_reduce(std::int64_t gpus, std::int64_t bytes) {
  return {.name = "all-reduce",
          .family = OperatorFamily::collective,
          .link_bytes = Bytes(2 * (gpus - 1) * bytes / gpus),
          .ring_steps = 2 * (gpus - 1)};
}

Operator all_gather(std::int64_t gpus, std::int64_t bytes) {
  return {.name = "all-gather",
          .family = OperatorFamily::collective,
          .link_bytes = Bytes((gpus - 1) * bytes / gpus),
          .ring_steps = gpus - 1};
}

Operator transfer(std::int64_t bytes) {
  return {.name = "send", .family = OperatorFamily::transfer, .link_bytes = Bytes(bytes)};
}

/// A tensor group, so many of it in a node, over the links above.
Parallelism spread(std::int64_t gpus, std::int64_t in_node) {
  return {.tensor = gpus, .tensor_in_node = in_node, .between_nodes = kFar, .in_node = kNear};
}

Duration time_of(const Operator& work, const Parallelism& parallelism, bool fitted = false) {
  return ReplicaLinks(samples::round_gpu(), samples::round_profile(), fitted, parallelism).time(work);
}

/// Doubles may round up a picosecond too much.
void check_time(Duration time, Duration expected) {
  CAPTURE(time.count(), expected.count());
  CHECK(std::abs((time - expected).count()) <= 1);
}

TEST_CASE("all-reduce in a node is a ring over described links") {
  // 2 (n - 1) messages of 8 MB / n: 1 us and 80 us / n each.
  check_time(time_of(all_reduce(2, 8'000'000), spread(2, 2)), microseconds(2 * 41));
  check_time(time_of(all_reduce(4, 8'000'000), spread(4, 4)), microseconds(6 * 21));
  check_time(time_of(all_reduce(8, 8'000'000), spread(8, 8)), microseconds(14 * 11));
}

TEST_CASE("all-reduce over two nodes goes by levels when it is short") {
  // In the nodes 14 x (1 + 10) us; between them twice an eighth of the array in halves: 5 + 20 us. A ring
  // would take 30 x (5 + 5) us.
  check_time(time_of(all_reduce(16, 8'000'000), spread(16, 8)), microseconds(14 * 11 + 2 * 25));
  check_time(time_of(all_gather(16, 8'000'000), spread(16, 8)), microseconds(7 * 11 + 25));
}

TEST_CASE("all-reduce over two nodes goes in rings when it is long") {
  // Levels: 14 x 1001 + 2 x 2005 us. A ring for each NIC: a message of 50 MB takes 500 us in the node, half
  // of that over the eight NICs together.
  check_time(time_of(all_reduce(16, 800'000'000), spread(16, 8)), microseconds(30 * 505));
  check_time(time_of(all_gather(16, 800'000'000), spread(16, 8)), microseconds(15 * 505));
  // With two GPUs and so two NICs in each of eight nodes, these are slower than the links within: 1 ms.
  check_time(time_of(all_reduce(16, 800'000'000), spread(16, 2)), microseconds(30 * 1005));
}

TEST_CASE("with one GPU a node only the links between nodes count") {
  Parallelism apart = spread(4, 1);
  check_time(time_of(all_reduce(4, 8'000'000), apart), microseconds(6 * (5 + 80)));
  apart.in_node.reset();
  check_time(time_of(all_reduce(4, 8'000'000), apart), microseconds(6 * (5 + 80)));
}

TEST_CASE("the fit of a node prices the levels within nodes of a larger group") {
  Parallelism fitted = spread(16, 8);
  fitted.in_node.reset();
  // 7 us and 80 % of 100 GB/s among 8 GPUs: 14 x (0.5 + 12.5) us, and 2 x 25 us between the nodes.
  check_time(time_of(all_reduce(16, 8'000'000), fitted, true), microseconds(14 * 13 + 2 * 25));
  // By the datasheet: no start-up, all of the bandwidth.
  check_time(time_of(all_reduce(16, 8'000'000), fitted, false), microseconds(14 * 10 + 2 * 25));
}

TEST_CASE("within a node the fit of the group prices collectives") {
  // 5 us and half of 100 GB/s among 2.
  CHECK(time_of(all_reduce(2, 1'000'000), in_one_node(2), true) == microseconds(5 + 20));
  CHECK(time_of(all_reduce(8, 8'000'000), in_one_node(8), true) == nanoseconds(7'000 + 175'000));
  CHECK(time_of(all_reduce(8, 8'000'000), in_one_node(8), false) == microseconds(140));
}

TEST_CASE("a stage sends over the link to the next") {
  Parallelism pipeline = spread(1, 1);
  pipeline.pipeline = 2;
  check_time(time_of(transfer(1'000'000), pipeline), microseconds(1 + 10));
  // Levels that stand on kernels know what a send takes before its first byte: 10 us.
  check_time(time_of(transfer(1'000'000), pipeline, true), microseconds(10 + 1 + 10));
  pipeline.stages_in_node = false;
  check_time(time_of(transfer(1'000'000), pipeline), microseconds(5 + 40));
  // NVLink as the description has it, and the 77 % of it that sends reach.
  pipeline.stages_in_node = true;
  pipeline.in_node.reset();
  check_time(time_of(transfer(1'000'000), pipeline), microseconds(10));
  check_time(time_of(transfer(770'000), pipeline, true), microseconds(10 + 10));
}

TEST_CASE("sends within a node beside measured ones") {
  for (const auto& [gpu, file] :
       {std::pair{"a100-80gb-sxm", "a100_dgx"}, std::pair{"h100-sxm", "h100_dgx"}}) {
    std::ifstream input(std::string(INFEROMETER_SHARED_DATA "/vidur/profiling/network/") + file +
                        "/send_recv.csv");
    if (!input) {
      std::cout << "skipped: no measured sends under " INFEROMETER_SHARED_DATA "\n";
      return;
    }
    // index, min, max, mean, median, std in ms, rank, workers, bytes, collective, GPUs in a node
    constexpr std::size_t kMedian = 4, kBytes = 8, kInNode = 10;
    std::map<std::int64_t, double> fastest_ms;  // of both ranks; the other waits longer for its peer
    std::string line;
    std::getline(input, line);
    while (std::getline(input, line)) {
      std::vector<std::string> cells;
      std::stringstream row(line);
      for (std::string cell; std::getline(row, cell, ',');) {
        cells.push_back(cell);
      }
      REQUIRE(cells.size() > kInNode);
      if (cells[kInNode] != "2") {
        continue;
      }
      const double ms = std::stod(cells[kMedian]);
      const auto known = fastest_ms.emplace(std::stoll(cells[kBytes]), ms);
      known.first->second = std::min(known.first->second, ms);
    }
    REQUIRE(fastest_ms.size() > 900);
    Parallelism pipeline = in_one_node(1);
    pipeline.pipeline = 2;
    const ReplicaLinks links(load_gpu(gpu), load_profile(gpu), true, pipeline);
    std::vector<double> ratios;
    for (const auto& [bytes, ms] : fastest_ms) {
      ratios.push_back(to_milliseconds(links.time(transfer(bytes))) / ms);
    }
    std::sort(ratios.begin(), ratios.end());
    std::cout << gpu << ": sends are priced at " << ratios.front() << " to " << ratios.back()
              << " times what was measured, " << ratios[ratios.size() / 2] << " in the median\n";
    CHECK(ratios[ratios.size() / 2] == Approx(1).epsilon(0.2));
    CHECK(ratios.front() > 0.5);
    CHECK(ratios.back() < 2.1);
  }
}

TEST_CASE("a GPU without NVLink talks over PCIe") {
  GpuSpec gpu = samples::round_gpu();
  gpu.nvlink_per_direction.reset();
  gpu.pcie_per_direction = BytesPerSecond(10e9);
  const auto over_pcie = [&gpu](const Parallelism& parallelism) {
    return ReplicaLinks(gpu, samples::round_profile(), false, parallelism);
  };
  CHECK(over_pcie(in_one_node(2)).time(all_reduce(2, 1'000'000)) == microseconds(100));
  Parallelism two_nodes = spread(4, 2);
  two_nodes.in_node.reset();
  // 2 x 50 us in the node, 2 x (5 + 10) us between them; the ring: 6 x (5 + 25) us.
  check_time(over_pcie(two_nodes).time(all_reduce(4, 1'000'000)), microseconds(100 + 30));
}

TEST_CASE("a slow GPU slows everything that it sends") {
  Parallelism pipeline = spread(1, 1);
  pipeline.pipeline = 2;
  Parallelism apart = pipeline;
  apart.stages_in_node = false;
  Parallelism fitted_levels = spread(16, 8);
  fitted_levels.in_node.reset();
  const std::pair<Operator, Parallelism> all[] = {{transfer(1'000'000), pipeline},
                                                  {transfer(1'000'000), apart},
                                                  {all_reduce(8, 8'000'000), in_one_node(8)},
                                                  {all_reduce(8, 8'000'000), spread(8, 8)},
                                                  {all_reduce(16, 8'000'000), spread(16, 8)},
                                                  {all_gather(16, 800'000'000), spread(16, 8)},
                                                  {all_reduce(16, 8'000'000), fitted_levels}};
  for (const bool fitted : {false, true}) {
    for (const auto& [work, parallelism] : all) {
      Parallelism slow = parallelism;
      slow.straggler = 1.5;
      const Duration plain = time_of(work, parallelism, fitted);
      CAPTURE(fitted, work.name, parallelism.tensor, plain.count());
      CHECK(std::abs(to_seconds(time_of(work, slow, fitted)) - 1.5 * to_seconds(plain)) < 4e-12);
    }
  }
}

TEST_CASE("times over links that were not measured are extrapolated") {
  const auto roofline = [](CostLevel level, const Parallelism& parallelism) {
    return Roofline(samples::round_gpu(), samples::round_profile(), level, parallelism);
  };
  const Operator reduce = all_reduce(16, 1'000'000);
  CHECK(roofline(CostLevel::roofline, spread(16, 8)).is_extrapolated(reduce));
  CHECK(roofline(CostLevel::roofline, spread(8, 8)).is_extrapolated(reduce));  // its links are described
  CHECK_FALSE(roofline(CostLevel::roofline, in_one_node(8)).is_extrapolated(reduce));
  CHECK(roofline(CostLevel::roofline, in_one_node(8)).is_extrapolated(transfer(1)));
  CHECK_FALSE(roofline(CostLevel::datasheet, spread(16, 8)).is_extrapolated(reduce));  // nothing there is
  CHECK_FALSE(roofline(CostLevel::roofline, spread(16, 8)).is_extrapolated({.name = "product"}));
}

}  // namespace
}  // namespace inferometer
