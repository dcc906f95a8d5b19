#include "sim/scenario/load_plugin.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sim/metrics/recorder.hpp"
#include "sim/plugin/plugin.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/run_summary.hpp"
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr const char* kPlugin = INFEROMETER_TEST_PLUGIN;

/// What loading the plugin with such a fault says; "" when it is loaded.
std::string refusal(const std::string& fault, const std::string& file = kPlugin) {
  REQUIRE(setenv("INFEROMETER_TEST_PLUGIN_FAULT", fault.c_str(), 1) == 0);
  const std::vector<std::string> policies = policy_registry().names();
  const std::vector<std::string> routers = router_registry().names();
  try {
    load_plugin(file);
    return "";
  } catch (const ConfigError& error) {
    CHECK(policy_registry().names() == policies);
    CHECK(router_registry().names() == routers);
    CHECK(error.diagnostics().front().where.file == "--plugin");
    const std::string& message = error.diagnostics().front().message;
    REQUIRE(message.starts_with(file + " "));
    return message.substr(file.size() + 1);
  }
}

/// Whatever other cases have run in this process.
void load_good_plugin() {
  static const std::string said = refusal("");
  REQUIRE(said == "");
}

Scenario scenario_with(const std::string& changes) {
  return load_scenario_text(
      "model: llama-3-8b\nhardware: {gpu: h100-sxm}\n"
      "workload: {generator: all_at_once, requests: 3, prompt: {distribution: fixed, tokens: 100}, "
      "output: {distribution: fixed, tokens: 5}}\n" +
          changes,
      "scenario");
}

/// What is wrong with the scenario.
std::string mistake_in(const std::string& changes) {
  try {
    scenario_with(changes);
    return "";
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  }
}

TEST_CASE("who names what is not there hears of plugins", "[plugin]") {
  const std::string hint = " (--plugin FILE loads others)";
  CHECK(mistake_in("engine: {policy: chunked}").ends_with(hint));
  CHECK(mistake_in("engine: {policy: disaggregated, batch_policy: chunked}\n"
                   "cluster: {pools: {prefill: {replicas: 1}, decode: {replicas: 1}}}")
            .ends_with(hint));
  CHECK(mistake_in("cluster: {router: roundrobin}").ends_with(hint));
  CHECK(mistake_in("cluster: {router: {policy: roundrobin}}").ends_with(hint));
  // Not of other words, nor of other mistakes at these keys.
  CHECK_FALSE(mistake_in("engine: {kv_cache_dtype: fp7}").ends_with(hint));
  CHECK_FALSE(mistake_in("engine: {policy: [chunked_prefill]}").ends_with(hint));
  CHECK_FALSE(mistake_in("engine: {policy: \"\"}").ends_with(hint));
  CHECK_FALSE(mistake_in("engine: {policy: chunked_prefill, polisy: chunked}").ends_with(hint));
}

TEST_CASE("a plugin's policy and router serve scenarios", "[plugin]") {
  load_good_plugin();
  const Scenario scenario = scenario_with(
      "engine: {policy: one_by_one}\n"
      "cluster: {pools: {mixed: {replicas: 3}}, network: {model: ideal}, router: last_replica}");
  const auto plugin =
      std::find_if(scenario.inputs.begin(), scenario.inputs.end(), [](const Scenario::Input& input) {
        return input.name == "plugin " + std::filesystem::path(kPlugin).filename().string();
      });
  REQUIRE(plugin != scenario.inputs.end());
  CHECK(std::filesystem::equivalent(plugin->path, kPlugin));

  const Deployment deployment = make_deployment(scenario);
  MetricsRecorder recorder = make_recorder(scenario, true);
  Simulation simulation = make_simulation(scenario, deployment, recorder);
  simulation.run();
  // All at once to the last replica, which has one request at a time: the third waits for both others.
  REQUIRE(recorder.finished().size() == 3);
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(recorder.finished()[i].admitted == recorder.finished()[i - 1].finished);
    CHECK(recorder.finished()[i].replica == 2);
  }
}

TEST_CASE("a scenario of built-in policies does not depend on plugins", "[plugin]") {
  load_good_plugin();
  for (const Scenario::Input& input : scenario_with("").inputs) {
    CHECK_FALSE(input.name.starts_with("plugin"));
  }
}

TEST_CASE("what a plugin's policy throws at the user reaches the user", "[plugin]") {
  REQUIRE(refusal("config error") == "");
  const Scenario scenario = scenario_with("engine: {policy: hard_to_please}");
  CHECK_THROWS_AS(make_deployment(scenario), ConfigError);
  CHECK_THROWS_WITH(make_deployment(scenario), "scenario:4:18: nothing pleases it");
}

TEST_CASE("a plugin may have keys that a scenario must give", "[plugin]") {
  REQUIRE(refusal("required key") == "");
  CHECK(mistake_in("engine: {policy: with_required_key}") ==
        "missing key \"engine.patience\" (a duration such as \"500 ms\")");
}

TEST_CASE("a plugin of another build is refused", "[plugin]") {
  CHECK(refusal("interface") ==
        "was built for version " + std::to_string(kPluginInterface + 1) +
            " of the interface of plugins, and this program has version " + std::to_string(kPluginInterface) +
            "; build it anew against the package that was installed with this program");
  CHECK(refusal("standard library") == std::string("was built with libstdc++ 3, and this program with ") +
                                           kPluginStandardLibrary + "; both need the same");
  CHECK(refusal("sources") ==
        "was built from the sources of another inferometer than this program; build it anew against the "
        "package "
        "that was installed with this program");
}

TEST_CASE("a plugin that fails as it registers registers nothing", "[plugin]") {
  CHECK(refusal("throws") == "failed as it registered what it has: no licence found");
  CHECK(refusal("throws a number") == "failed as it registered what it has");
  const std::string twice = refusal("twice");
  CHECK(twice.starts_with("failed as it registered what it has: "));
  CHECK(twice.find("registered twice: faulty") != std::string::npos);
  CHECK(refusal("nothing") == "registers neither a policy nor a router");
}

TEST_CASE("names that are taken or no names are refused", "[plugin]") {
  CHECK(refusal("name static") == "has a policy \"static\", which is built in; give it another name");
  CHECK(refusal("name disaggregated") ==
        "has a policy \"disaggregated\", which is built in; give it another name");
  CHECK(refusal("name ") == "has a policy \"\", which is no name: letters, digits, _ and - make one");
  CHECK(refusal("name a policy") ==
        "has a policy \"a policy\", which is no name: letters, digits, _ and - make one");
  REQUIRE(refusal("name mine") == "");
  CHECK(refusal("name mine") == "has a policy \"mine\", which comes from " +
                                    std::filesystem::absolute(kPlugin).lexically_normal().string() +
                                    "; give it another name");
}

TEST_CASE("entries that are not complete are refused", "[plugin]") {
  CHECK(refusal("no make") == "has a policy \"faulty\" without a function `make`");
  CHECK(refusal("no step_tokens") == "has a policy \"faulty\" without a function `step_tokens`");
  CHECK(refusal("no summary") == "has a policy \"faulty\" without a summary");
  const std::string without_default = refusal("key without default");
  CHECK(without_default.starts_with("has keys of faulty that are not declared rightly: "));
  CHECK(without_default.find("the key engine.patience is neither required nor optional") !=
        std::string::npos);
  CHECK(refusal("key with a bad default").find("a bad default: engine.patience") != std::string::npos);
  CHECK(refusal("key of every policy") == "has a key \"block_size\" of faulty, which is there already");
}

TEST_CASE("files that are no plugins are refused", "[plugin]") {
  CHECK(refusal("", "no/such/lib.so") == "is not there");
  CHECK(refusal("", std::filesystem::temp_directory_path().string()) == "is no file");
  const std::string text = (std::filesystem::temp_directory_path() / "inferometer_no_plugin.so").string();
  std::ofstream(text) << "This is a text of more bytes than the header of a shared object has: 64 of them.\n";
  CHECK(refusal("", text) == "cannot be loaded: invalid ELF header");
  std::filesystem::remove(text);
  CHECK(refusal("", INFEROMETER_TEST_NO_PLUGIN) ==
        "is no plugin of inferometer: it has no function inferometer_plugin, which INFEROMETER_PLUGIN makes "
        "(sim/plugin/plugin.hpp)");
}

TEST_CASE("a plugin that was cut off is refused before any of it is mapped", "[plugin]") {
  const std::filesystem::path part =
      std::filesystem::temp_directory_path() / "inferometer_part_of_a_plugin.so";
  const std::uintmax_t whole = std::filesystem::file_size(kPlugin);
  // Within the segments, and just before the end, where the headers of its sections stand.
  for (const std::uintmax_t bytes : {whole / 8, whole / 2, whole - 1}) {
    std::filesystem::copy_file(kPlugin, part, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(part, bytes);
    CHECK(refusal("", part.string()) == "is cut off: it has " + std::to_string(bytes) +
                                            " bytes, and its headers tell of " + std::to_string(whole));
  }
  std::filesystem::resize_file(part, 10);
  CHECK(refusal("", part.string()) == "cannot be loaded: file too short");
  std::filesystem::remove(part);
}

}  // namespace
}  // namespace inferometer
