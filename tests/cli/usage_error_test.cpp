#include "sim/cli/usage_error.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tests/support/catch.hpp"

namespace {

/// What a program with the commands `run SCENARIO [--seed N]` and `workload inspect|convert` says of a
/// command line.
std::string message_for(std::vector<std::string> arguments) {
  CLI::App app("", "prog");
  app.require_subcommand(1);
  std::string scenario;
  int seed = 0;
  CLI::App* run = app.add_subcommand("run", "");
  run->add_option("scenario", scenario)->required();
  run->add_option("--seed", seed);
  CLI::App* workload = app.add_subcommand("workload", "");
  workload->require_subcommand(1);
  workload->add_subcommand("inspect", "");
  workload->add_subcommand("convert", "");
  std::reverse(arguments.begin(), arguments.end());  // CLI11 wants the words last to first
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return inferometer::describe_usage_error(app, error);
  }
  return "no error";
}

}  // namespace

TEST_CASE("a sound command line is no error") {
  REQUIRE(message_for({"run", "a.yaml", "--seed", "1"}) == "no error");
}

TEST_CASE("an unknown command names the nearest or all") {
  REQUIRE(message_for({"rnu"}) == R"(unknown command "rnu"; did you mean "run"?)");
  REQUIRE(message_for({"frobnicate"}) == R"(unknown command "frobnicate"; the commands are run or workload)");
  REQUIRE(message_for({"workload", "inspcet"}) ==
          R"(unknown command "inspcet" of workload; did you mean "inspect"?)");
}

TEST_CASE("an unknown option names the nearest or points to the help") {
  REQUIRE(message_for({"run", "a.yaml", "--sed=1"}) ==
          R"(unknown option "--sed" of run; did you mean "--seed"?)");
  REQUIRE(message_for({"run", "a.yaml", "--colour"}) ==
          R"(unknown option "--colour" of run; see "prog run --help")");
}

TEST_CASE("an argument too many is pointed at") {
  REQUIRE(message_for({"run", "a.yaml", "b.yaml"}) ==
          R"(unexpected argument "b.yaml" of run; see "prog run --help")");
}

TEST_CASE("a missing command lists what there is") {
  REQUIRE(message_for({}) == R"(a command is missing: run or workload; see "prog --help")");
  REQUIRE(message_for({"workload"}) ==
          R"(a command is missing: inspect or convert; see "prog workload --help")");
}

TEST_CASE("a missing or unreadable value is said by name") {
  REQUIRE(message_for({"run"}).find("scenario is required") == 0);
  const std::string unreadable = message_for({"run", "a.yaml", "--seed", "many"});
  INFO(unreadable);
  REQUIRE(unreadable.find("--seed") != std::string::npos);
  REQUIRE(unreadable.find("many") != std::string::npos);
}
