#include "base/config/overlay_choices.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/unit/base/demo_table.hpp"

using namespace inferometer;

namespace {

Key count_key(const std::string& name) {
  return Key(name, ValueType::count, "A number").optional("nothing");
}

/// policy: fast (keys budget, limit, pace) or plain (key budget just so, and another pace), fast by default;
/// source: one of preset (keys rate, amount) and file (keys scale, amount); a section deep with a selector of
/// its own.
Table sample_table() {
  Table deep("deep", "A nested choice");
  deep.add_choice("shape", {"flat", "steep"}, "Shape").by_default("flat");
  deep.add_variant("shape", "flat", {count_key("width")});
  deep.add_variant("shape", "steep", {count_key("height")});

  Table table("", "A section");
  table.add_choice("policy", {"fast", "plain"}, "Policy").by_default("fast");
  table.add("common", ValueType::count, "Of both").optional("nothing");
  table.add("preset", ValueType::text, "One source").optional("file is given");
  table.add("file", ValueType::text, "The other").optional("preset is given");
  table.add_section("deep", std::move(deep), "Nested");
  table.add_variant("policy", "fast", {count_key("budget"), count_key("limit"), count_key("pace")});
  table.add_variant("policy", "plain", {count_key("budget"), count_key("pace").range("2")});
  table.set_alternatives({"preset", "file"});
  table.add_when_given("preset", {count_key("rate"), count_key("amount")});
  table.add_when_given("file", {count_key("scale"), count_key("amount")});
  return table;
}

struct Outcome {
  std::vector<std::string> keys;  // of the top after the overlay, sorted
  std::vector<std::string> left_out;
};

Outcome laid(const std::string& base, const std::string& over) {
  ConfigNode node = read_yaml_text(base, "base");
  Outcome outcome;
  outcome.left_out = overlay_choices(node, read_yaml_text(over, "over"), sample_table());
  for (const ConfigNode::Entry& entry : node.entries) {
    outcome.keys.push_back(entry.key);
  }
  std::sort(outcome.keys.begin(), outcome.keys.end());
  return outcome;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a new word of a selector takes the former choice's keys away and only those") {
  const Outcome outcome = laid("{policy: fast, common: 1, limit: 3, pace: 4}", "{policy: plain}");
  CHECK(outcome.keys == Words{"common", "policy"});
  CHECK(outcome.left_out == Words{"limit", "pace"});
}

TEST_CASE("a key that both choices declare alike stays") {
  const Outcome outcome = laid("{policy: fast, budget: 2, limit: 3}", "{policy: plain}");
  CHECK(outcome.keys == Words{"budget", "policy"});
  CHECK(outcome.left_out == Words{"limit"});
  CHECK(laid("{preset: x, rate: 1, amount: 2}", "{file: y}").left_out == Words{"preset", "rate"});
  CHECK(laid("{preset: x, amount: 2}", "{file: y}").keys == Words{"amount", "file"});
}

TEST_CASE("another word keeps what goes with the choice whatever its word") {
  Table table("", "A choice that need not be made");
  table.add_choice("source", {"even", "bursty"}, "Source").optional("none");
  table.add_when_given("source", {count_key("length")});
  table.add_variant("source", "even", {count_key("gap")});
  ConfigNode node = read_yaml_text("{source: even, length: 5, gap: 2}", "base");
  CHECK(overlay_choices(node, read_yaml_text("{source: bursty}", "over"), table) == Words{"gap"});
  CHECK(node.find("length") != nullptr);
}

TEST_CASE("a choice made by default is undone like a written one") {
  CHECK(laid("{limit: 2}", "{policy: plain}").left_out == Words{"limit"});
  CHECK(laid("{limit: 2}", "{policy: fast}").left_out.empty());
}

TEST_CASE("the same word again changes nothing") {
  const Outcome outcome = laid("{policy: plain, budget: 2}", "{policy: plain, common: 5}");
  CHECK(outcome.keys == Words{"budget", "common", "policy"});
  CHECK(outcome.left_out.empty());
}

TEST_CASE("what the change itself says stays") {
  const Outcome outcome = laid("{policy: fast, budget: 2, limit: 3}", "{policy: plain, budget: 7}");
  CHECK(outcome.keys == Words{"budget", "policy"});
  CHECK(outcome.left_out == Words{"limit"});
}

TEST_CASE("another alternative replaces the one before it with its keys") {
  const Outcome outcome = laid("{preset: x, rate: 1, common: 2}", "{file: y, scale: 3}");
  CHECK(outcome.keys == Words{"common", "file", "scale"});
  CHECK(outcome.left_out == Words{"preset", "rate"});
}

TEST_CASE("another value of the same alternative keeps its keys") {
  CHECK(laid("{file: x, scale: 1}", "{file: y}").keys == Words{"file", "scale"});
}

TEST_CASE("choices of nested sections count by themselves") {
  const Outcome outcome = laid("{budget: 1, deep: {shape: flat, width: 2}}", "{deep: {shape: steep}}");
  CHECK(outcome.keys == Words{"budget", "deep"});
  CHECK(outcome.left_out == Words{"deep.width"});
}

TEST_CASE("with a choice goes the choice within it and its keys") {
  const auto left_out = [](const std::string& base, const std::string& over) {
    ConfigNode node = read_yaml_text(base, "base");
    return overlay_choices(node, read_yaml_text(over, "over"), nested_choice_table());
  };
  CHECK(left_out("engine: {mode: split, inner: slow, wait: 2 s}", "engine: {mode: fast}") ==
        Words{"engine.inner", "engine.wait"});
  CHECK(left_out("engine: {mode: split, inner: slow, wait: 2 s}", "engine: {inner: fast}") ==
        Words{"engine.wait"});
  // What the halves' choice has in common with the whole's stays.
  CHECK(left_out("engine: {mode: split, budget: 2}", "engine: {mode: fast}").empty());
  CHECK(left_out("engine: {mode: slow, wait: 2 s}", "engine: {mode: split, inner: slow}").empty());
  CHECK(left_out("engine: {mode: split, budget: 2}", "engine: {inner: fast}").empty());  // fast by default
}
