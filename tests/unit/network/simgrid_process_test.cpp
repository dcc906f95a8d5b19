// SimGrid is one of a kind in a process and takes liberties with it: what our network makes of that.

#include <csignal>
#include <thread>

#include "sim/network/simgrid_engine.hpp"
#include "tests/unit/network/child_process.hpp"
#include "tests/unit/network/network_fixture.hpp"

namespace inferometer {
namespace {

using namespace testing;

Duration one_transfer(Network& network) {
  return time_alone(network, {{0, 0}}, {{1, 0}}, Bytes(50'000'000));
}

// First, since SimGrid is configured once, and tells of that.
TEST_CASE("nothing is written to stderr") {
  const ChildOutcome found = run_in_child([] {
    double sum_s = 0;
    for (int i = 0; i < 2; ++i) {
      const std::unique_ptr<Network> network = make_simgrid_network(plain_platform(4));
      sum_s += to_seconds(one_transfer(*network));
      const std::vector<GpuPlace> from = gpus_of(0), to = gpus_of(1);
      const TimePoint now(seconds(1));
      network->start(now, {0, from, to, Bytes(1'000'000'000)});
      network->start(now, {1, {}, to, Bytes(1'000'000'000)});
      CHECK(network->ended(now + milliseconds(1)).empty());
      network->cancel(now + milliseconds(1), 0);
    }
    return std::vector<double>{sum_s};
  });
  CHECK(found.ended_well);
  CHECK(found.numbers.size() == 1);
  CHECK(found.stderr_text.empty());
}

TEST_CASE("networks one after the other start at zero each") {
  for (int i = 0; i < 50; ++i) {
    Platform platform = plain_platform(2);
    check_time(one_transfer(*make_simgrid_network(platform)), microseconds(1005));
    platform.fabric.latency = Duration();  // the first byte goes at the first call
    check_time(one_transfer(*make_simgrid_network(platform)), microseconds(1000));
  }
}

TEST_CASE("the engine reaches its target past the ends of flows") {
  // GPU 0 of node 0 to GPU 0 of node 1: 1.1 MB at 50 GB/s are 22 us, 3 us before the target.
  const LinkMap map(plain_platform(2));
  const GpuPlace from{0, 0}, to{1, 0};
  const Flow flow = map.flows({0, {&from, 1}, {&to, 1}, Bytes(1'100'000)}).at(0);
  SimgridEngine engine(map);
  const double start_s = engine.clock();
  engine.start(42, flow);
  CHECK(engine.next_end().value() - start_s == Approx(22e-6).epsilon(1e-9));
  engine.run_to(start_s + 25e-6);
  CHECK(engine.clock() - start_s == Approx(25e-6).epsilon(1e-9));
  CHECK(engine.take_ended() == std::vector<std::uint64_t>{42});
  CHECK(engine.idle());
  engine.run_to(start_s);  // past: stays
  CHECK(engine.clock() - start_s == Approx(25e-6).epsilon(1e-9));
}

TEST_CASE("a network may end with transfers under way") {
  for (int i = 0; i < 3; ++i) {
    const std::unique_ptr<Network> network = make_simgrid_network(plain_platform(2));
    const std::vector<GpuPlace> from = gpus_of(0), to = gpus_of(1);
    network->start(TimePoint(), {0, from, to, Bytes(1'000'000'000)});
    CHECK(network->ended(TimePoint(milliseconds(1))).empty());
    network->start(TimePoint(milliseconds(1)), {1, from, to, Bytes(1'000'000'000)});
  }
  const std::unique_ptr<Network> network = make_simgrid_network(plain_platform(2));
  check_time(one_transfer(*network), microseconds(1005));
}

TEST_CASE("there is one network of SimGrid at a time") {
  const std::unique_ptr<Network> network = make_simgrid_network(plain_platform(2));
  CHECK_THROWS_AS(make_simgrid_network(plain_platform(2)), std::logic_error);
  check_time(one_transfer(*network), microseconds(1005));
}

TEST_CASE("a platform that is refused does not stand in the way of the next") {
  Platform broken = plain_platform(2);
  broken.nodes[0].nics = 0;
  CHECK_THROWS_AS(make_simgrid_network(broken), std::logic_error);
  const std::unique_ptr<Network> network = make_simgrid_network(plain_platform(2));
  check_time(one_transfer(*network), microseconds(1005));
}

TEST_CASE("a network may be made and used by another thread than the first") {
  for (int i = 0; i < 3; ++i) {
    Duration time{};
    std::thread([&] { time = one_transfer(*make_simgrid_network(plain_platform(2))); }).join();
    check_time(time, microseconds(1005));
  }
}

volatile std::sig_atomic_t g_interrupts = 0;

void note_interrupt(int) {
  g_interrupts = g_interrupts + 1;
}

TEST_CASE("signal handlers are left as they were") {
  std::signal(SIGINT, note_interrupt);
  struct sigaction crash_before {};
  sigaction(SIGSEGV, nullptr, &crash_before);
  {
    const std::unique_ptr<Network> network = make_simgrid_network(plain_platform(2));
    std::raise(SIGINT);
    CHECK(g_interrupts == 1);
    one_transfer(*network);
    std::raise(SIGINT);
    CHECK(g_interrupts == 2);
  }
  std::raise(SIGINT);
  CHECK(g_interrupts == 3);
  struct sigaction crash_after {};
  sigaction(SIGSEGV, nullptr, &crash_after);
  CHECK(crash_after.sa_handler == crash_before.sa_handler);
  std::signal(SIGINT, SIG_DFL);
}

TEST_CASE("after eleven days without a pause times are right to a nanosecond") {
  Platform platform = plain_platform(3);
  platform.nodes[2].nic_bandwidth = BytesPerSecond(1'000'000);
  const std::unique_ptr<Network> network = make_simgrid_network(platform);
  const std::vector<GpuPlace> from{{0, 0}}, to{{1, 0}}, slow{{2, 0}}, beside{{0, 1}};
  network->start(TimePoint(), {1, slow, beside, Bytes(2'000'000'000'000)});
  const TimePoint late(seconds(1'000'000));
  CHECK(network->ended(late).empty());
  network->start(late, {0, from, to, Bytes(50'000'000)});
  check_time(run_all(*network, 2, late + seconds(1))[0] - late, microseconds(1005), nanoseconds(1));
  // The slow one had to go on all the time: 2 TB at 1 MB/s, on a clock of 0.23 ns.
  check_time(run_all(*network, 2, TimePoint(seconds(3'000'000)))[1].since_start(),
             seconds(2'000'000) + microseconds(5), nanoseconds(2));
}

}  // namespace
}  // namespace inferometer
