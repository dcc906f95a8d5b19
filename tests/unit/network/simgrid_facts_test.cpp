// What SimGrid does that its headers do not say and sim/network/simgrid_engine.cpp is built around. A newer
// SimGrid that does otherwise shows here which of its measures are to be looked at again. Each fact is found
// out in a process of its own, since configuration and clock are the process's.

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include "tests/support/check_says.hpp"
#include "tests/unit/network/child_process.hpp"

namespace inferometer {
namespace {

using namespace testing;
namespace s4u = simgrid::s4u;

const std::vector<std::string> kOurOptions = {"network/model:CM02", "network/crosstraffic:0",
                                              "network/TCP-gamma:1e30", "network/optim:Lazy"};

/// Two hosts whose links meet in the middle: both ways have half of the latency at each end.
struct TwoHosts {
  std::unique_ptr<s4u::Engine> engine;
  s4u::NetZone* zone = nullptr;
  std::vector<s4u::Host*> hosts;

  s4u::Host* add_host(double bytes_per_s, double latency_s) {
    const std::string number = std::to_string(hosts.size());
    s4u::Host* host = zone->create_host("host" + number, 1.0)->seal();
    s4u::Link* out = zone->create_link("out" + number, bytes_per_s)->set_latency(latency_s)->seal();
    s4u::Link* in = zone->create_link("in" + number, bytes_per_s)->set_latency(latency_s)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {s4u::LinkInRoute(out)}, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(in)}, false);
    hosts.push_back(host);
    return host;
  }
};

TwoHosts two_hosts(const std::vector<std::string>& options, double bytes_per_s, double latency_s) {
  xbt_log_control_set("root.threshold:error");
  TwoHosts made;
  made.engine = std::make_unique<s4u::Engine>("facts");
  for (const std::string& option : options) {
    s4u::Engine::set_config(option);
  }
  made.zone = s4u::create_star_zone("zone");
  made.add_host(bytes_per_s, latency_s);
  made.add_host(bytes_per_s, latency_s);
  return made;
}

void seal(TwoHosts& made) {
  made.zone->seal();
  made.engine->seal_platform();
}

std::vector<double>& ends() {
  static std::vector<double> found;
  static const bool listening = [] {
    s4u::Activity::on_completion_cb([](const s4u::Activity&) { found.push_back(s4u::Engine::get_clock()); });
    return true;
  }();
  (void)listening;
  return found;
}

s4u::CommPtr send(s4u::Host* from, s4u::Host* to, std::uint64_t bytes) {
  s4u::CommPtr comm = s4u::Comm::sendto_init(from, to);
  comm->set_payload_size(bytes);
  comm->start();
  return comm;
}

void run_to(const s4u::Engine& engine, double clock) {
  while (s4u::Engine::get_clock() < clock) {
    engine.run_until(clock);
  }
}

/// 2 us of latency and 20 us of bytes: 22 us.
constexpr std::uint64_t kTwentyMicroseconds = 1'000'000;

TEST_CASE("SimGrid returns as soon as it is within 10 us of its target") {
  const ChildOutcome found = run_in_child([] {
    TwoHosts made = two_hosts(kOurOptions, 50e9, 1e-6);
    seal(made);
    const s4u::CommPtr comm = send(made.hosts[0], made.hosts[1], kTwentyMicroseconds);
    made.engine->run_until(25e-6);
    const double first = s4u::Engine::get_clock();
    made.engine->run_until(25e-6);
    return std::vector<double>{first, s4u::Engine::get_clock()};
  });
  REQUIRE(found.numbers.size() == 2);
  CHECK(found.numbers[0] == Approx(22e-6).epsilon(1e-9));
  CHECK(found.numbers[1] == Approx(25e-6).epsilon(1e-9));
}

TEST_CASE("SimGrid aborts when its target is past") {
  const ChildOutcome found = run_in_child([] {
    TwoHosts made = two_hosts(kOurOptions, 50e9, 1e-6);
    seal(made);
    run_to(*made.engine, 1.0);
    made.engine->run_until(0.5);
    return std::vector<double>{};
  });
  CHECK_FALSE(found.ended_well);
  check_says(found.stderr_text, {"past"});
}

TEST_CASE("SimGrid needs the pointer of a communication until its end") {
  const ChildOutcome found = run_in_child([] {
    TwoHosts made = two_hosts(kOurOptions, 50e9, 1e-6);
    seal(made);
    send(made.hosts[0], made.hosts[1], kTwentyMicroseconds);  // and lets it go
    run_to(*made.engine, 1.0);
    return std::vector<double>{1.0};
  });
  CHECK_FALSE(found.ended_well);
}

TEST_CASE("a flow's rate is capped by a TCP window unless its gamma is huge") {
  const auto time_with = [](const std::string& gamma) {
    const ChildOutcome found = run_in_child([&] {
      std::vector<std::string> options = {"network/model:CM02", "network/crosstraffic:0"};
      if (!gamma.empty()) {
        options.push_back("network/TCP-gamma:" + gamma);
      }
      TwoHosts made = two_hosts(options, 500e9, 5e-6);
      seal(made);
      ends();
      const s4u::CommPtr comm = send(made.hosts[0], made.hosts[1], 1'000'000'000);
      run_to(*made.engine, 1.0);
      return ends();
    });
    REQUIRE(found.numbers.size() == 1);
    return found.numbers[0];
  };
  CHECK(time_with("1e30") == Approx(10e-6 + 1e9 / 500e9).epsilon(1e-9));
  // 4 MiB a round trip of 20 us: 209.7 GB/s.
  CHECK(time_with("") == Approx(10e-6 + 1e9 / (4194304 / 20e-6)).epsilon(1e-6));
}

TEST_CASE("by default acknowledgements take a twentieth of the way back") {
  const auto time_with = [](const std::string& crosstraffic) {
    const ChildOutcome found = run_in_child([&] {
      TwoHosts made = two_hosts({"network/model:CM02", "network/crosstraffic:" + crosstraffic}, 50e9, 0);
      seal(made);
      ends();
      const s4u::CommPtr there = send(made.hosts[0], made.hosts[1], 1'000'000'000);
      const s4u::CommPtr back = send(made.hosts[1], made.hosts[0], 1'000'000'000);
      run_to(*made.engine, 1.0);
      return ends();
    });
    REQUIRE(found.numbers.size() == 2);
    return found.numbers[0];
  };
  CHECK(time_with("0") == Approx(1e9 / 50e9).epsilon(1e-9));
  CHECK(time_with("1") == Approx(1.05 * 1e9 / 50e9).epsilon(1e-6));
}

TEST_CASE("a flow of twice the latency gets half the rate") {
  const ChildOutcome found = run_in_child([] {
    TwoHosts made = two_hosts(kOurOptions, 50e9, 0.5e-6);
    s4u::Host* far = made.add_host(50e9, 1.5e-6);
    seal(made);
    const s4u::CommPtr near_flow = send(made.hosts[0], made.hosts[1], 1'000'000'000);  // 1 us
    const s4u::CommPtr far_flow = send(made.hosts[0], far, 1'000'000'000);             // 2 us
    run_to(*made.engine, 6e-3);
    return std::vector<double>{1e9 - near_flow->get_remaining(), 1e9 - far_flow->get_remaining()};
  });
  REQUIRE(found.numbers.size() == 2);
  CHECK(found.numbers[0] / found.numbers[1] == Approx(2).epsilon(1e-3));
}

TEST_CASE("flows without latency share equally") {
  const ChildOutcome found = run_in_child([] {
    TwoHosts made = two_hosts(kOurOptions, 50e9, 0);
    s4u::Host* third = made.add_host(50e9, 0);
    seal(made);
    const s4u::CommPtr one = send(made.hosts[0], made.hosts[1], 1'000'000'000);
    const s4u::CommPtr other = send(made.hosts[0], third, 1'000'000'000);
    run_to(*made.engine, 6e-3);
    return std::vector<double>{one->get_remaining(), other->get_remaining()};
  });
  REQUIRE(found.numbers.size() == 2);
  CHECK(found.numbers[0] == Approx(850'000'000).epsilon(1e-9));
  CHECK(found.numbers[1] == Approx(850'000'000).epsilon(1e-9));
}

TEST_CASE("moments within surf precision are one and ends come early") {
  const auto ended_at = [](const std::vector<std::string>& more_options, double before_s) {
    const ChildOutcome found = run_in_child([&] {
      std::vector<std::string> options = kOurOptions;
      options.insert(options.end(), more_options.begin(), more_options.end());
      TwoHosts made = two_hosts(options, 50e9, 0);
      seal(made);
      ends();
      const s4u::CommPtr comm = send(made.hosts[0], made.hosts[1], 50'000'000);
      run_to(*made.engine, 1e-3 - before_s);
      return std::vector<double>{static_cast<double>(ends().size())};
    });
    REQUIRE(found.numbers.size() == 1);
    return found.numbers[0];
  };
  CHECK(ended_at({}, 2e-9) == 0);
  CHECK(ended_at({}, 0.9e-9) == 1);
  CHECK(ended_at({"surf/precision:1e-15"}, 0.9e-9) == 0);
  CHECK(ended_at({"surf/precision:1e-15"}, 1e-12) == 0);
  CHECK(ended_at({"surf/precision:1e-15"}, 0) == 1);
}

TEST_CASE("a cancelled flow keeps its share until the engine runs") {
  const ChildOutcome found = run_in_child([] {
    TwoHosts made = two_hosts(kOurOptions, 50e9, 0);
    seal(made);
    const auto next = [&] {
      double earliest_s = -1;
      for (simgrid::kernel::resource::Model* model : made.engine->get_all_models()) {
        const double delta = model->next_occurring_event(s4u::Engine::get_clock());
        earliest_s = delta >= 0 && (earliest_s < 0 || delta < earliest_s) ? delta : earliest_s;
      }
      return earliest_s;
    };
    const s4u::CommPtr stays = send(made.hosts[0], made.hosts[1], 1'000'000'000);
    const s4u::CommPtr leaves = send(made.hosts[0], made.hosts[1], 2'000'000'000);
    const double both = next();
    leaves->cancel();
    const double cancelled = next();
    made.engine->run_until(s4u::Engine::get_clock());
    return std::vector<double>{both, cancelled, next(), s4u::Engine::get_clock()};
  });
  REQUIRE(found.numbers.size() == 4);
  CHECK(found.numbers[0] == Approx(0.04));
  CHECK(found.numbers[1] == Approx(0.04));
  CHECK(found.numbers[2] == Approx(0.02));
  CHECK(found.numbers[3] == 0);
}

TEST_CASE("a second engine goes on at the clock of the first") {
  const ChildOutcome found = run_in_child([] {
    TwoHosts made = two_hosts(kOurOptions, 50e9, 0);
    seal(made);
    run_to(*made.engine, 1.5);
    made.engine.reset();
    made = two_hosts({}, 50e9, 0);
    return std::vector<double>{s4u::Engine::get_clock()};
  });
  REQUIRE(found.numbers.size() == 1);
  CHECK(found.numbers[0] == 1.5);
}

TEST_CASE("the network model is set once in a process") {
  const ChildOutcome found = run_in_child([] {
    TwoHosts made = two_hosts(kOurOptions, 50e9, 0);
    seal(made);
    made.engine.reset();
    made = two_hosts(kOurOptions, 50e9, 0);
    return std::vector<double>{1.0};
  });
  CHECK_FALSE(found.ended_well);
}

TEST_CASE("SimGrid's engine takes over Ctrl-C") {
  const ChildOutcome found = run_in_child([] {
    std::signal(SIGINT, SIG_IGN);
    const s4u::Engine engine("facts");
    struct sigaction action {};
    sigaction(SIGINT, nullptr, &action);
    return std::vector<double>{action.sa_handler == SIG_IGN ? 0.0 : 1.0};
  });
  REQUIRE(found.numbers.size() == 1);
  CHECK(found.numbers[0] == 1);
}

}  // namespace
}  // namespace inferometer
