#include "sim/validation/host_fit/host_parameters.hpp"

#include "base/error.hpp"
#include "costmodel/cost_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

constexpr const char* kScenario =
    "model: llama-3-8b\nhardware: {gpu: h100-sxm}\n"
    "workload: {generator: constant, rate: 1 req/s, requests: 1, prompt: {distribution: fixed, tokens: 9}, "
    "output: {distribution: fixed, tokens: 9}}\n";

TEST_CASE("host times go into a scenario and come back, at the ends of their ranges too") {
  const std::vector<HostParameter>& all = host_parameters();
  for (const double share : {0.0, 0.5, 1.0}) {
    std::vector<double> values;
    for (const HostParameter& parameter : all) {
      values.push_back(share * static_cast<double>(parameter.most.count()) /
                       static_cast<double>(parameter.typical.count()));
    }
    ScenarioOverrides overrides;
    overrides.assignments = host_assignments(all, values);
    const Scenario scenario = load_scenario_text(kScenario, "host.yaml", overrides);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(scenario.values.section("cost_model").duration(all[i].key) == host_duration(all[i], values[i]));
      CHECK(host_values(scenario, all)[i] == values[i]);
    }
  }
}

TEST_CASE("the default of half a millisecond is one unit of host_fixed") {
  const Scenario scenario = load_scenario_text(kScenario, "host.yaml");
  CHECK(host_values(scenario, host_parameters_named("host_fixed")) == std::vector<double>{1});
  CHECK(host_assignments(host_parameters_named("host_per_sequence"), {2}) ==
        std::vector<std::string>{"cost_model.host_per_sequence=10000000 ps"});
}

TEST_CASE("names are chosen in the order of the table, and wrong ones refused") {
  const std::vector<HostParameter> chosen = host_parameters_named("frontend_latency, host_fixed");
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[0].key == "host_fixed");
  CHECK(chosen[1].key == "frontend_latency");
  CHECK_THROWS_AS(host_parameters_named(""), ConfigError);
  CHECK_THROWS_AS(host_parameters_named("host_fixed,"), ConfigError);
  CHECK_THROWS_AS(host_parameters_named("host_fixed,host_fixed"), ConfigError);
  CHECK_THROWS_AS(host_parameters_named("host_fixd"), ConfigError);
}

}  // namespace
}  // namespace inferometer
