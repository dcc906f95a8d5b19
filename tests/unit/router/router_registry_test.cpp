#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/unit/router/router_fixture.hpp"
#include "workloads/workload_config.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

Values read_router(const std::string& text) {
  Diagnostics diagnostics;
  Values router = parse(router_table(builtin_routers()), read_yaml_text(text, "r.yaml"), diagnostics);
  diagnostics.throw_if_any();
  return router;
}

std::string told(const std::string& text) {
  try {
    read_router(text);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

/// What a router finds missing in a section `workload` of the file `directory`/s.yaml.
std::string missing(const std::string& policy, const std::string& workload,
                    const std::string& directory = "d") {
  Diagnostics diagnostics;
  const Values values = parse(workload_table(), read_yaml_text(workload, directory + "/s.yaml"), diagnostics);
  diagnostics.throw_if_any();
  const RouterRegistry registry = builtin_routers();
  const RouterEntry* entry = registry.find(policy);
  return entry->missing_data ? entry->missing_data(values) : "";
}

const std::string kGenerated =
    "{generator: closed_loop, clients: 3, requests: 5, prompt: {distribution: fixed, tokens: 100}, "
    "output: {distribution: fixed, tokens: 20}}";

}  // namespace

TEST_CASE("six routers are built in, each with a sentence") {
  const RouterRegistry registry = builtin_routers();
  CHECK(registry.names() == std::vector<std::string>{"round_robin", "random", "least_outstanding",
                                                     "least_tokens", "power_of_two", "session_affinity"});
  for (const RouterEntry& router : registry.entries()) {
    CHECK_FALSE(router.summary.empty());
    CHECK_FALSE(router.summary.ends_with('.'));
  }
}

TEST_CASE("a router section says round robin and fresh state by default") {
  const Values router = read_router("");
  CHECK(router.text("policy") == "round_robin");
  CHECK(router.duration("state_interval").count() == 0);
  CHECK_FALSE(router.has("load"));
  CHECK(read_router("{policy: power_of_two, state_interval: 50 ms}").text("load") == "tokens");
}

TEST_CASE("mistakes in a router section are told with what is known") {
  CHECK(told("policy: least_token") ==
        "r.yaml:1:9: router.policy: \"least_token\" is not one of round_robin, random, least_outstanding, "
        "least_tokens, power_of_two or session_affinity; did you mean \"least_tokens\"?");
  CHECK(
      told("policy: x") ==
      "r.yaml:1:9: router.policy: \"x\" is not one of round_robin, random, least_outstanding, least_tokens, "
      "power_of_two or session_affinity");
  CHECK(told("{policy: random, load: tokens}") ==
        "r.yaml:1:18: \"router.load\" goes with policy power_of_two, not with random");
  CHECK(told("{policy: power_of_two, load: bytes}") ==
        "r.yaml:1:30: router.load: \"bytes\" is not one of tokens or requests");
  CHECK(told("state_interval: -1 s") ==
        "r.yaml:1:17: router.state_interval: -1 s is too small; it must be at least 0 s");
}

TEST_CASE("a router of one's own joins those built in") {
  RouterRegistry registry = builtin_routers();
  RouterEntry own;
  own.name = "mine";
  own.keys = {Key("bias", ValueType::number, "How much").by_default("0.5")};
  registry.add(own);
  Diagnostics diagnostics;
  const Values router = parse(router_table(registry), read_yaml_text("policy: mine", "r.yaml"), diagnostics);
  CHECK(diagnostics.empty());
  CHECK(router.number("bias") == 0.5);
  CHECK_THROWS_AS(registry.add(own), std::logic_error);
}

TEST_CASE("only session affinity asks for more than requests") {
  for (const std::string& policy : builtin_routers().names()) {
    CHECK(missing(policy, kGenerated).empty() == (policy != "session_affinity"));
  }
}

TEST_CASE("session affinity finds no sessions in generated traffic") {
  const std::string told_so = "generated requests have no sessions, unless workload.sessions is given";
  CHECK(missing("session_affinity", kGenerated) == told_so);
  CHECK(missing("session_affinity", "{preset: sharegpt, rate: 2 req/s, requests: 10}") == told_so);
}

TEST_CASE("session affinity looks for a session in the trace that is run") {
  const test::TemporaryDirectory folder;
  const std::string header = "arrival_s,prompt_tokens,output_tokens,session\n";
  const std::vector<std::string> files{
      folder.write("none.csv", "arrival_s,prompt_tokens,output_tokens\n0,10,5\n1,10,5\n"),
      folder.write("empty.csv", header + "0,10,5,\n1,10,5,\n"),
      folder.write("late.csv", header + "0,10,5,\n1,10,5,7\n2,10,5,\n")};
  const std::string directory = std::filesystem::path(files.front()).parent_path().string();
  const auto of_trace = [&](const std::string& workload) {
    return missing("session_affinity", workload, directory);
  };
  const std::string none = "no request of the trace has a session";
  CHECK(of_trace("trace: none.csv") == none);
  CHECK(of_trace("trace: empty.csv") == none);
  CHECK(of_trace("trace: late.csv").empty());
  CHECK(of_trace("{trace: late.csv, requests: 1}") == none);
  CHECK(of_trace("{trace: late.csv, window_start: 1500 ms}") == none);
  CHECK(of_trace("trace: " + folder.file("late.csv")).empty());
  CHECK(of_trace("trace: absent.csv").empty());  // said by whoever opens it for the run
}
