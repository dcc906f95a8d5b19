#include "sim/study/seed_use.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

/// Of two seeds. What draws anything draws it for each request; after so many alike there will be no other.
constexpr int kRequestsCompared = 1000;

/// Routers that draw nothing. One that is not among them is taken to.
constexpr std::array<std::string_view, 3> kSteadyRouters = {"round_robin", "least_outstanding",
                                                            "least_tokens"};

bool draws(const Values& cluster, const char* key) {
  return cluster.has(key) && std::find(kSteadyRouters.begin(), kSteadyRouters.end(),
                                       cluster.section(key).text("policy")) == kSteadyRouters.end();
}

bool are_alike(const Request& a, const Request& b) {
  return a.arrival == b.arrival && a.prompt == b.prompt && a.output == b.output && a.max_new == b.max_new &&
         a.session == b.session;
}

/// Requests one after the other; each leaves at once, so that closed loops go on.
bool have_same_requests(Workload& a, Workload& b) {
  Request of_a, of_b;
  for (int i = 0; i < kRequestsCompared; ++i) {
    const bool is_more = a.next_arrival().has_value();
    if (is_more != b.next_arrival().has_value()) {
      return false;
    }
    if (!is_more) {
      return true;
    }
    a.take(of_a);
    b.take(of_b);
    if (!are_alike(of_a, of_b)) {
      return false;
    }
    a.finished(of_a.id, of_a.arrival);
    b.finished(of_b.id, of_b.arrival);
  }
  return true;
}

}  // namespace

bool depends_on_seed(const Scenario& scenario) {
  const auto traffic = [&](std::uint64_t seed) {
    return make_workload(scenario.workload(), seed, scenario.trace_directory());
  };
  const std::unique_ptr<Workload> first = traffic(scenario.seed());
  const std::unique_ptr<Workload> second = traffic(scenario.seed() + 1);
  return !have_same_requests(*first, *second) || has_drawing_router(scenario);
}

bool has_drawing_router(const Scenario& scenario) {
  if (!scenario.values.has("cluster")) {
    return false;
  }
  const Values& cluster = scenario.values.section("cluster");
  return draws(cluster, "router") || draws(cluster, "prefill_router") || draws(cluster, "decode_router");
}

}  // namespace inferometer
