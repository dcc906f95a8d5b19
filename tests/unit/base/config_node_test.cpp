#include "base/config/config_node.hpp"

#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

/// The node in flow syntax, places left out.
std::string flow(const ConfigNode& node) {
  std::string text;
  switch (node.kind) {
    case ConfigNode::Kind::null:
      return "~";
    case ConfigNode::Kind::scalar:
      return node.scalar;
    case ConfigNode::Kind::sequence:
      for (const ConfigNode& item : node.items) {
        text += (text.empty() ? "" : ", ") + flow(item);
      }
      return "[" + text + "]";
    case ConfigNode::Kind::map:
      for (const ConfigNode::Entry& entry : node.entries) {
        text += (text.empty() ? "" : ", ") + entry.key + ": " + flow(entry.value);
      }
      return "{" + text + "}";
  }
  return text;
}

std::string overlaid(const std::string& base, const std::string& over) {
  ConfigNode node = read_yaml_text(base, "base");
  overlay(node, read_yaml_text(over, "over"));
  return flow(node);
}

std::string set(const std::string& base, const std::string& assignment) {
  ConfigNode node = read_yaml_text(base, "base");
  try {
    apply_override(node, assignment);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return flow(node);
}

}  // namespace

TEST_CASE("an overlay merges maps and replaces the rest") {
  CHECK(overlaid("{a: 1, m: {x: 1, y: 2}, l: [1, 2]}", "{m: {y: 3, z: 4}, l: [5], n: 6}") ==
        "{a: 1, m: {x: 1, y: 3, z: 4}, l: [5], n: 6}");
  CHECK(overlaid("{m: {x: 1}}", "{m: 2}") == "{m: 2}");
  CHECK(overlaid("{m: 2}", "{m: {x: 1}}") == "{m: {x: 1}}");
  CHECK(overlaid("{m: {x: 1}}", "{m: }") == "{m: ~}");
  CHECK(overlaid("", "{m: 1}") == "{m: 1}");
}

TEST_CASE("places stay with their values in an overlay") {
  ConfigNode node = read_yaml_text("m: {x: 1, y: 2}", "base");
  overlay(node, read_yaml_text("\nm: {y: 3}", "over"));
  CHECK(to_string(node.find("m")->find("x")->where) == "base:1:8");
  CHECK(to_string(node.find("m")->find("y")->where) == "over:2:8");
}

TEST_CASE("an override sets a value at a path") {
  CHECK(set("{engine: {a: 1}}", "engine.a=64") == "{engine: {a: 64}}");
  CHECK(set("{engine: {a: 1}}", "engine.b=64") == "{engine: {a: 1, b: 64}}");
  CHECK(set("{}", "slo={ttft_p99: 500 ms}") == "{slo: {ttft_p99: 500 ms}}");
  CHECK(set("", "a.b.c=x=y") == "{a: {b: {c: x=y}}}");
  CHECK(set("{a: }", "a.b=[1, 2]") == "{a: {b: [1, 2]}}");
  CHECK(set("{a: {b: 1}}", "a={c: 2}") == "{a: {b: 1, c: 2}}");
  CHECK(set("{a: 1}", "a=") == "{a: ~}");
}

TEST_CASE("an override that cannot be applied says why") {
  CHECK(set("{}", "seed") == "--set seed: has no \"=\"; write --set path.to.key=value");
  CHECK(set("{}", "=5") == "--set =5: has an empty key before \"=\"; write --set path.to.key=value");
  CHECK(set("{}", "a..b=5") == "--set a..b=5: has an empty key before \"=\"; write --set path.to.key=value");
  CHECK(set("{a: {b: 1}}", "a.b.c=5") ==
        "--set a.b.c=5: cannot set \"c\" in a.b, which is \"1\" and not a map");
  CHECK(set("{a: [1]}", "a.b=5") == "--set a.b=5: cannot set \"b\" in a, which is a list and not a map");
  CHECK(set("{}", "a=[1").starts_with("--set a=[1:"));
}

TEST_CASE("the place of an override is the argument itself") {
  ConfigNode node = read_yaml_text("{a: {b: 1}}", "base");
  apply_override(node, "a.b={c: [x]}");
  CHECK(to_string(node.find("a")->find("b")->find("c")->items[0].where) == "--set a.b={c: [x]}");
  CHECK(to_string(node.find("a")->where) == "base:1:5");
}

namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string opened(const std::string& text) {
  try {
    return flow(opened_paths(read_yaml_text(text, "study")));
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("dotted paths are written out as maps") {
  CHECK(opened("{a.b.c: 1}") == "{a: {b: {c: 1}}}");
  CHECK(opened("{a.b: 1, a.c: 2, d: 3}") == "{a: {b: 1, c: 2}, d: 3}");
  CHECK(opened("{a: {b: 1}, a.c: {d: 2}, a.c.e: 3}") == "{a: {b: 1, c: {d: 2, e: 3}}}");
  CHECK(opened("{}") == "{}");
  // Below the first level a key is what it says.
  CHECK(opened("{a: {b.c: 1}}") == "{a: {b.c: 1}}");
}

TEST_CASE("what cannot be written out is refused where it stands") {
  CHECK(says(opened("{a.b: 1, a.b: 2}"), "a.b"));
  CHECK(says(opened("{a.b: 1, a: {b: 2}}"), "something of a.b for the second time"));
  CHECK(says(opened("{a: 1, a.b: 2}"), "something of a for the second time"));
  CHECK(says(opened("{a..b: 1}"), "\"a..b\" has an empty key in it"));
  CHECK(says(opened("{a.: 1}"), "empty key"));
  CHECK(says(opened("[1]"), "expected a map of keys"));
}

TEST_CASE("paths that are written out keep their places") {
  const ConfigNode node = opened_paths(read_yaml_text("\n\na.b: 1", "study"));
  CHECK(node.find("a")->where.line == 3);
  CHECK(node.find("a")->find("b")->where.line == 3);
}
