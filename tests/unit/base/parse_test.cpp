#include <clocale>

#include "base/config/table.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/base/demo_table.hpp"

using namespace inferometer;

namespace {

/// What `text` is told when read by `table`; "" when it is right.
std::string told_by(const Table& table, const std::string& text) {
  Diagnostics diagnostics;
  parse(table, read_yaml_text(text, "f"), diagnostics);
  try {
    diagnostics.throw_if_any();
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string told(const std::string& text) {
  return told_by(demo_table(), text);
}

Values read(const std::string& text) {
  Diagnostics diagnostics;
  Values values = parse(demo_table(), read_yaml_text(text, "f"), diagnostics);
  diagnostics.throw_if_any();
  return values;
}

/// Messages for one line `key: value` of a table with one key.
std::string told_of(const Key& key, const std::string& value) {
  Table table("", "");
  table.add_choice("selector", {"x"}, "").by_default("x");
  table.add_variant("selector", "x", {key});
  return told_by(table, key.name + ": " + value + "\n");
}

const std::string kRight = "model: m\nengine: {policy: static}\n";

}  // namespace

TEST_CASE("values are typed and defaults are filled in") {
  const Values values = read(
      "model: 7\nengine: {policy: chunked, chunk: 64}\ngpu: {memory: 40 GiB}\nrate: 90 req/min\nlevels: 5 s\n"
      "names: [1, true, \"a\"]\n");
  CHECK(values.text("model") == "7");
  CHECK(values.section("engine").text("policy") == "chunked");
  CHECK(values.section("engine").count("chunk") == 64);
  CHECK(values.section("engine").count("max_num_seqs") == 256);
  CHECK(values.section("engine").number("utilization") == 0.9);
  CHECK_FALSE(values.section("engine").flag("padding"));
  CHECK_FALSE(values.section("engine").has("blocks"));
  CHECK_FALSE(values.section("engine").has("wait"));
  CHECK(values.section("gpu").bytes("memory") == Bytes(40 * (std::int64_t{1} << 30)));
  CHECK(values.section("gpu").bandwidth("hbm_bandwidth") == BytesPerSecond(3.35e12));
  CHECK(values.section("gpu").compute_rate("peak") == FlopsPerSecond(989e12));
  CHECK(values.section("gpu").price_rate("price") == DollarsPerHour(2.95));
  CHECK(values.section("gpu").power("power") == Watts(700));
  CHECK(values.section("gpu").frequency("clock") == Hertz(1.83e9));
  CHECK(values.rate("rate") == PerSecond(1.5));
  CHECK(values.texts("names") == std::vector<std::string>{"1", "true", "a"});
  CHECK(values.count("seed") == 1);
  CHECK(values.all().front().key == "model");
}

TEST_CASE("what is given, and where, is known") {
  const Values values = read("model: m\nengine:\n  policy: static\nseed: 3\n");
  CHECK(values.given("seed"));
  CHECK_FALSE(values.given("levels"));
  CHECK_FALSE(values.given("gpu"));
  CHECK(to_string(values.where("seed")) == "f:4:7");
  CHECK(to_string(values.where("levels")) == "f");
  CHECK(to_string(values.section("engine").where("policy")) == "f:3:11");
  CHECK(values.where("rate").file == "f");
}

TEST_CASE("asking for what the table does not have is a programmer's error") {
  const Values values = read(kRight);
  CHECK_THROWS_AS(values.count("absent"), std::logic_error);
  CHECK_THROWS_AS(values.count("model"), std::logic_error);
  CHECK_THROWS_AS(values.counts("seed"), std::logic_error);
  CHECK_THROWS_AS(values.duration("levels"), std::logic_error);
  CHECK_THROWS_AS(values.section("seed"), std::logic_error);
}

TEST_CASE("all mistakes of a file are reported at once, by place") {
  CHECK(told("modle: x\n"
             "engine:\n"
             "  policy: Chunked\n"
             "  max_num_seqs: 0\n"
             "  chunk: 1e3\n"  // passes while the policy is wrong
             "gpu:\n"
             "  memory: 2 TB\n"
             "  hbm_bandwidth: 3.35\n"
             "  power: -3 W\n"
             "rate_scale: 2\n"
             "max_num_seqs: 5\n"
             "levels: [1 ms, 2]\n"
             "rate:\n") ==
        "f: missing key \"model\" (text)\n"
        "f:1:1: unknown key \"modle\"; did you mean \"model\"?\n"
        "f:3:11: engine.policy: \"Chunked\" is not one of static, chunked or sarathi; did you mean "
        "\"chunked\"?\n"
        "f:4:17: engine.max_num_seqs: 0 is too small; it must be at least 1\n"
        "f:7:11: gpu.memory: 2 TB is too large; it must be at most 1 TB\n"
        "f:8:18: gpu.hbm_bandwidth: \"3.35\" has no unit; write e.g. \"3.35 TB/s\"\n"
        "f:9:10: gpu.power: -3 W is too small; it must be more than 0 W\n"
        "f:10:1: \"rate_scale\" goes with the key trace, which is not given\n"
        "f:11:1: unknown key \"max_num_seqs\"; it belongs under \"engine\"\n"
        "f:12:16: levels[1]: \"2\" has no unit; write e.g. \"2 ms\"\n"
        "f:13:1: rate: has no value; expected a rate such as \"12 req/s\", or leave the key out");
}

TEST_CASE("an empty file misses what is required") {
  CHECK(told("") ==
        "f: missing key \"model\" (text)\n"
        "f: missing key \"engine.policy\" (one of static, chunked or sarathi)");
}

TEST_CASE("a missing key is placed at its section") {
  CHECK(told("model: m\nengine:\n  max_num_seqs: 4\n") ==
        "f:3:3: missing key \"engine.policy\" (one of static, chunked or sarathi)");
  CHECK(told("model: m\nengine: {policy: chunked}\n") ==
        "f:2:9: missing key \"engine.chunk\" (a whole number)");
}

TEST_CASE("keys of another variant name the words that have them") {
  CHECK(told("model: m\nengine: {policy: static, chunk: 5}\n") ==
        "f:2:26: \"engine.chunk\" goes with policy chunked or sarathi, not with static");
  CHECK(told("model: m\nengine: {policy: sarathi, wait: 5 s}\n") ==
        "f:2:27: \"engine.wait\" goes with policy static, not with sarathi");
  CHECK(told("model: m\nengine: {policy: sarathi}\ntrace: t\nrate_scale: 2\n").empty());
}

TEST_CASE("keys of several choices name the one that is made or all that could be") {
  Table table("", "One source of three");
  const std::vector<Key> rate{Key("rate", ValueType::count, "A rate").optional("none")};
  table.add("file", ValueType::text, "A file").optional("not read");
  table.add("preset", ValueType::text, "A preset").optional("none");
  table.add_choice("maker", {"even", "bursty", "silent"}, "A maker").optional("none");
  table.add_when_given("file", {Key("limit", ValueType::count, "A limit").optional("none")});
  table.add_when_given("file", rate);
  table.add_when_given("preset", rate);
  table.add_when_given("preset", {Key("factor", ValueType::count, "A factor").optional("none")});
  table.add_when_given("maker", {Key("factor", ValueType::count, "A factor").optional("none")});
  table.add_variant("maker", "even", rate);
  table.add_variant("maker", "bursty", rate);
  CHECK(told_by(table, "{maker: silent, rate: 5}") ==
        "f:1:17: \"rate\" goes with maker even or bursty, not with silent");
  CHECK(told_by(table, "{rate: 5}") ==
        "f:1:2: \"rate\" goes with file, preset or maker, none of which is given");
  CHECK(told_by(table, "{file: x, factor: 5}") ==
        "f:1:11: \"factor\" goes with preset or maker, neither of which is given");
  CHECK(told_by(table, "{preset: x, limit: 5}") ==
        "f:1:13: \"limit\" goes with the key file, which is not given");
  CHECK(told_by(table, "{preset: x, rate: 5}").empty());
}

TEST_CASE("a choice within a choice has its keys while both are made") {
  const auto told_of_engine = [](const std::string& engine) {
    return told_by(nested_choice_table(), "engine: " + engine + "\n");
  };
  CHECK(told_of_engine("{mode: split, budget: 5}").empty());  // inner is fast by default
  CHECK(told_of_engine("{mode: split, inner: slow, wait: 5 s}").empty());
  CHECK(told_of_engine("{mode: split, inner: slow, budget: 5}") ==
        "f:1:36: \"engine.budget\" goes with inner fast, not with slow");
  CHECK(told_of_engine("{inner: slow}") == "f:1:10: \"engine.inner\" goes with mode split, not with fast");
  CHECK(told_of_engine("{mode: slow, budget: 5}") ==
        "f:1:22: \"engine.budget\" goes with mode fast, not with slow");
  // A wrong word is one mistake: what would go with it is not another.
  CHECK(told_of_engine("{mode: splat, wait: 5 s, inner: slow}").find("wait") == std::string::npos);

  Diagnostics diagnostics;
  const Values values =
      parse(nested_choice_table(), read_yaml_text("engine: {mode: split, inner: slow}", "f"), diagnostics);
  diagnostics.throw_if_any();
  CHECK(values.section("engine").duration("wait") == seconds(1));
  CHECK_FALSE(values.section("engine").has("budget"));
}

TEST_CASE("a bare value stands for the one key that a section names") {
  Diagnostics diagnostics;
  const Values values = parse(nested_choice_table(), read_yaml_text("engine: slow", "f"), diagnostics);
  diagnostics.throw_if_any();
  CHECK(values.section("engine").text("mode") == "slow");
  CHECK(to_string(values.section("engine").where("mode")) == "f:1:9");
  CHECK(told_by(nested_choice_table(), "engine: slaw\n") ==
        told_by(nested_choice_table(), "engine:  {mode: slaw}\n").replace(4, 2, "9"));
}

TEST_CASE("an unknown key with nothing near lists what is allowed") {
  CHECK(told(kRight + "gpu: {zzzzzz: 1}\n") ==
        "f:3:7: unknown key \"gpu.zzzzzz\"; allowed: memory, hbm_bandwidth, peak, price, power, clock");
  CHECK(told(kRight + "<<: {seed: 1}\n").starts_with("f:3:1: unknown key \"<<\"; allowed: model, engine"));
}

TEST_CASE("sections that are no maps") {
  CHECK(told("model: m\nengine: static\n") ==
        "f:2:9: engine: expected a map, found \"static\"; write e.g. \"engine: {policy: static}\"");
  CHECK(
      told("model: m\nengine:\n- policy: static\n") ==
      "f:3:1: engine: expected a map, found a list; write e.g. \"engine: {policy: static}\", without dashes");
  CHECK(told("model: m\nengine:\n  policy:static\n") ==
        "f:3:3: engine: expected a map, found \"policy:static\"; is a space missing after the colon?");
  CHECK(told("model: m\nengine: {policy:static}\n") ==
        "f:2:9: missing key \"engine.policy\" (one of static, chunked or sarathi)\n"
        "f:2:10: unknown key \"engine.policy:static\"; write \"policy: …\" with a space after the colon");
  CHECK(told("- a\n") == "f:1:1: expected a map, found a list; write e.g. \"{model: …}\", without dashes");
}

TEST_CASE("counts are plain whole numbers") {
  const Key key = Key("n", ValueType::count, "").required();
  const auto message = [&](const std::string& value) { return told_of(key, value); };
  CHECK(message("0").empty());
  CHECK(message("9223372036854775807").empty());
  CHECK(message("9223372036854775808") ==
        "f:1:4: n: 9223372036854775808 is too large; at most 9223372036854775807");
  CHECK(message("010") == "f:1:4: n: \"010\" is not written as a plain whole number; write 10");
  CHECK(message("1e6") == "f:1:4: n: \"1e6\" is not written as a plain whole number; write 1000000");
  CHECK(message("1_000") == "f:1:4: n: \"1_000\" is not written as a plain whole number; write 1000");
  CHECK(message("+5") == "f:1:4: n: \"+5\" is not written as a plain whole number; write 5");
  CHECK(message("12.0") == "f:1:4: n: \"12.0\" is not written as a plain whole number; write 12");
  CHECK(message("12.5") == "f:1:4: n: \"12.5\" is not a whole number");
  CHECK(message("0x10") == "f:1:4: n: \"0x10\" is not written as a plain whole number; write 16");
  CHECK(message("256 tokens") ==
        "f:1:4: n: \"256 tokens\" is not a whole number; it takes no unit, write e.g. 256");
  CHECK(message("many") == "f:1:4: n: \"many\" is not a whole number; write e.g. 256");
  CHECK(message("\"64\"") == "f:1:4: n: \"64\" is text because of its quotes; write 64 without them");
  CHECK(message("-5") == "f:1:4: n: -5 is too small; it must be at least 0");
  CHECK(message("~") == "f:1:1: n: has no value; expected a whole number");
  CHECK(message("[1]") == "f:1:4: n: expected a whole number, found a list");
  CHECK(message("{a: 1}") == "f:1:4: n: expected a whole number, found a map");
  CHECK(told_of(Key("n", ValueType::count, "").range("-5"), "-5").empty());
}

TEST_CASE("numbers are finite and plain") {
  const Key key = Key("x", ValueType::number, "").required();
  const auto message = [&](const std::string& value) { return told_of(key, value); };
  for (const std::string right : {"0", "-1.5", "1e-3", "2.5E+10", "0.9"}) {
    CHECK(message(right).empty());
  }
  CHECK(message("90%") == "f:1:4: x: \"90%\" is not a number; write 0.9");
  CHECK(message(".5") == "f:1:4: x: \".5\" is not written as a plain number; write 0.5");
  CHECK(message(".nan") == "f:1:4: x: \".nan\" is not a finite number; write e.g. 0.9");
  CHECK(message("-.inf") == "f:1:4: x: \"-.inf\" is not a finite number; write e.g. 0.9");
  CHECK(message("nan") == "f:1:4: x: \"nan\" is not a finite number; write e.g. 0.9");
  CHECK(message("1e999") == "f:1:4: x: 1e999 is outside the range of numbers");
  CHECK(message("0.5 s") == "f:1:4: x: \"0.5 s\" is not a number; it takes no unit, write e.g. 0.5");
  CHECK(message("'0.5'") == "f:1:4: x: \"0.5\" is text because of its quotes; write 0.5 without them");
}

TEST_CASE("flags are true or false and nothing else") {
  const Key key = Key("b", ValueType::flag, "").required();
  CHECK(told_of(key, "true").empty());
  CHECK(told_of(key, "false").empty());
  CHECK(told_of(key, "yes") == "f:1:4: b: \"yes\" is neither true nor false; write true");
  CHECK(told_of(key, "Off") == "f:1:4: b: \"Off\" is neither true nor false; write false");
  CHECK(told_of(key, "True") == "f:1:4: b: \"True\" is neither true nor false; write true");
  CHECK(told_of(key, "maybe") == "f:1:4: b: \"maybe\" is neither true nor false");
  CHECK(told_of(key, "'true'") ==
        "f:1:4: b: \"true\" is text because of its quotes; write true without them");
}

TEST_CASE("bounds are tight on both sides") {
  Key key("x", ValueType::number, "");
  key.above("0").range("", "1");
  CHECK(told_of(key, "1").empty());
  CHECK(told_of(key, "1.0000000000000002") ==
        "f:1:4: x: 1.0000000000000002 is too large; it must be at most 1");
  CHECK(told_of(key, "0") == "f:1:4: x: 0 is too small; it must be more than 0");
  CHECK(told_of(key, "5e-324").empty());
  Key time("t", ValueType::duration, "");
  time.range("1 ms", "2 ms");
  CHECK(told_of(time, "1 ms").empty());
  CHECK(told_of(time, "2 ms").empty());
  CHECK(told_of(time, "999999999 ps") == "f:1:4: t: 999999999 ps is too small; it must be at least 1 ms");
  CHECK(told_of(time, "2.000000001 ms") == "f:1:4: t: 2000000001 ps is too large; it must be at most 2 ms");
}

TEST_CASE("a quantity is above zero unless its range says otherwise") {
  CHECK(told_of(Key("t", ValueType::duration, ""), "0 s") ==
        "f:1:4: t: 0 ms is too small; it must be more than 0 ms");
  CHECK(told_of(Key("t", ValueType::duration, "").range("0 s"), "0 s").empty());
}

TEST_CASE("quantities may stand in quotes") {
  CHECK(told_of(Key("t", ValueType::duration, ""), "\"5 s\"").empty());
}

TEST_CASE("long or broken values are cut in messages") {
  CHECK(told_of(Key("n", ValueType::count, ""), std::string(500, 'x')) ==
        "f:1:4: n: expected a whole number, found \"" + std::string(60, 'x') + "…\"");
  CHECK(told_of(Key("n", ValueType::count, ""), "|\n  a\n  b") ==
        "f:1:4: n: expected a whole number, found \"a b \"");
}

TEST_CASE("the locale of the process changes nothing") {
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) {
    WARN("skipped: no locale with a decimal comma is installed");
    return;
  }
  const Values values = read(kRight + "gpu: {price: 2.95 $/h}\n");
  CHECK(to_text(values.section("gpu").price_rate("price")) == "2.95 $/h");
  std::setlocale(LC_ALL, "C");
}

TEST_CASE("a table that cannot be right is a programmer's error") {
  Table table("", "");
  table.add("a", ValueType::count, "");
  CHECK_THROWS_AS(table.add("a", ValueType::text, ""), std::logic_error);
  CHECK_THROWS_AS(table.add_variant("a", "x", {}), std::logic_error);
  CHECK_THROWS_AS(table.add_when_given("b", {}), std::logic_error);
  CHECK_THROWS_AS(table.add_list("s", ValueType::section, ""), std::logic_error);
  CHECK_THROWS_AS(told_by(table, ""), std::logic_error);  // neither required nor optional, without default
  Table wrong_default("", "");
  wrong_default.add("a", ValueType::count, "").by_default("5").range("6");
  CHECK_THROWS_AS(told_by(wrong_default, ""), std::logic_error);
  Table choice("", "");
  choice.add_choice("c", {"x"}, "");
  CHECK_THROWS_AS(choice.add_variant("c", "y", {}), std::logic_error);
}

TEST_CASE("the name of a table begins every path") {
  Table table("gpu", "");
  table.add("memory", ValueType::bytes, "").required();
  CHECK(told_by(table, "memory: 80\n") == "f:1:9: gpu.memory: \"80\" has no unit; write e.g. \"80 GB\"");
  CHECK(told_by(table, "memry: 80 GB\n") ==
        "f:1:1: unknown key \"gpu.memry\"; did you mean \"memory\"?\n"
        "f:1:1: missing key \"gpu.memory\" (a size in bytes such as \"80 GB\")");
}

TEST_CASE("an optional section that is absent has no value") {
  Table inner("", "");
  inner.add("needed", ValueType::count, "").required();
  Table table("", "");
  table.add_section("extra", inner, "").optional("nothing happens");
  Diagnostics diagnostics;
  CHECK_FALSE(parse(table, read_yaml_text("", "f"), diagnostics).has("extra"));
  CHECK(diagnostics.empty());
  CHECK(told_by(table, "extra:\n") == "f:1:1: missing key \"extra.needed\" (a whole number)");
}

TEST_CASE("a tree is kept as it was written for its reader to check") {
  Table table("study", "");
  table.add("base", ValueType::tree, "Anything").required();
  table.add("other", ValueType::tree, "Anything").optional("nothing");
  Diagnostics diagnostics;
  const Values values = parse(table, read_yaml_text("base: {b.c: [1, {d: 2}]}", "study.yaml"), diagnostics);
  CHECK(diagnostics.empty());
  const ConfigNode& tree = values.tree("base");
  REQUIRE(tree.kind == ConfigNode::Kind::map);
  REQUIRE(tree.find("b.c") != nullptr);
  CHECK(tree.find("b.c")->items[1].find("d")->scalar == "2");
  CHECK(!values.has("other"));
  // A word is a tree, too; nothing is not.
  CHECK(parse(table, read_yaml_text("base: day.yaml", "study.yaml"), diagnostics).tree("base").scalar ==
        "day.yaml");
  parse(table, read_yaml_text("base: {}\nother:", "study.yaml"), diagnostics);
  REQUIRE(diagnostics.found().size() == 1);
  CHECK(diagnostics.found().front().message.find("has no value") != std::string::npos);
}
