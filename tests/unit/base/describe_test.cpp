#include <sstream>

#include <nlohmann/json.hpp>

#include "base/config/table.hpp"
#include "base/config/values_json.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/base/demo_table.hpp"

using namespace inferometer;
using Json = nlohmann::ordered_json;

TEST_CASE("a table is described with types, defaults, ranges and variants") {
  Table table("", "");
  table.add_section("engine", demo_engine_table(), "The engine");
  CHECK("\n" + describe(table) == R"(
  engine  section  The engine.

engine: How requests are batched.
  policy        word        required                    Batch policy. One of static, chunked or sarathi.
  max_num_seqs  count       256       1 to 4096         Most sequences in a step.
  utilization   number      0.9       above 0, up to 1  Share of memory used.
  padding       true/false  false                       Whether short prompts are padded.
  blocks        count       optional  from 1            KV blocks. When absent: as many as fit.

  with policy: static
  wait          duration    0 s       from 0 s          Longest wait.

  with policy: chunked
  chunk         count       required  from 1            Tokens of a chunk.

  with policy: sarathi
  chunk         count       512                         Tokens of a chunk.
)");
}

TEST_CASE("a variant without keys of its own is not described") {
  Table table("", "");
  table.add_choice("policy", {"a", "b"}, "Which").by_default("a");
  table.add_variant("policy", "a", {});
  table.add_variant("policy", "b", {Key("x", ValueType::count, "X").by_default("1")});
  CHECK("\n" + describe(table) == R"(
  policy  word   a  Which. One of a or b.

  with policy: b
  x       count  1  X.
)");
}

TEST_CASE("a description has no trailing spaces and wraps long sentences") {
  Table table("", "");
  std::string sentence = "Word";
  for (int i = 0; i < 60; ++i) {
    sentence += " word";
  }
  table.add("key", ValueType::count, sentence).by_default("1");
  table.add("other", ValueType::text, "").optional("");
  std::istringstream lines(describe(table));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CHECK(line.size() <= 110);
    CHECK((line.empty() || line.back() != ' '));
  }
  CHECK(count == 5);  // 305 characters in lines of 110 - 20: four, and the other key
}

TEST_CASE("the schema asks nothing of a file that lies on top of another") {
  const Json schema = Json::parse(json_schema(demo_table(), "extends"));
  CHECK(schema.at("if") == Json{{"required", Json::array({"extends"})}});
  CHECK(schema.at("else").at("required") == Json::array({"model", "engine"}));
  const Json& relaxed = schema.at("then");
  CHECK_FALSE(relaxed.contains("required"));
  CHECK(relaxed.at("additionalProperties") == false);
  CHECK(relaxed.at("properties").size() == schema.at("else").at("properties").size());
  CHECK_FALSE(relaxed.at("properties").at("engine").contains("allOf"));
}

TEST_CASE("the schema gives types, bounds, defaults and words") {
  const Json schema = Json::parse(json_schema(demo_table()));
  CHECK(schema.at("$schema") == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema.at("additionalProperties") == false);
  CHECK(schema.at("required") == Json::array({"model", "engine"}));
  const Json& engine = schema.at("properties").at("engine");
  CHECK(engine.at("required") == Json::array({"policy"}));
  CHECK(engine.at("properties").at("policy").at("enum") == Json::array({"static", "chunked", "sarathi"}));
  CHECK(engine.at("properties").at("max_num_seqs") == Json::parse(R"({
    "description": "Most sequences in a step.", "type": "integer", "minimum": 1, "maximum": 4096, "default": 256})"));
  CHECK(engine.at("properties").at("utilization") == Json::parse(R"({
    "description": "Share of memory used.", "type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.9})"));
  CHECK(engine.at("properties").at("padding").at("type") == "boolean");
  const Json& memory = schema.at("properties").at("gpu").at("properties").at("memory");
  CHECK(memory.at("description") == "Device memory. At least 1 GB. At most 1 TB.");
  CHECK(memory.at("default") == "80 GB");
  CHECK(schema.at("properties").at("rate").at("examples") == Json::array({"12 req/s"}));
  CHECK(schema.at("properties").at("levels").at("default") == Json::array({"1 ms", "2 ms"}));
  CHECK(schema.at("properties").at("levels").at("anyOf").at(1).at("type") == "array");
}

TEST_CASE("the schema ties keys to the words of their variants") {
  const Json schema = Json::parse(json_schema(demo_table()));
  const Json& rules = schema.at("properties").at("engine").at("allOf");
  const Json chunked = Json::parse(R"({
    "if": {"properties": {"policy": {"enum": ["chunked"]}}, "required": ["policy"]},
    "then": {"properties": {"chunk": {"description": "Tokens of a chunk.", "type": "integer", "minimum": 1}},
             "required": ["chunk"]}})");
  const Json only_these = Json::parse(R"({
    "if": {"properties": {"policy": {"enum": ["chunked", "sarathi"]}}, "required": ["policy"]},
    "else": {"properties": {"chunk": false}}})");
  CHECK(std::count(rules.begin(), rules.end(), chunked) == 1);
  CHECK(std::count(rules.begin(), rules.end(), only_these) == 1);
  const Json when_given =
      Json::parse(R"({"if": {"required": ["trace"]}, "else": {"properties": {"rate_scale": false}}})");
  const Json& top_rules = schema.at("allOf");
  CHECK(std::count(top_rules.begin(), top_rules.end(), when_given) == 1);
}

TEST_CASE("a default word counts as chosen in the schema") {
  Table table("", "");
  table.add_choice("policy", {"a", "b"}, "Which").by_default("a");
  table.add_variant("policy", "a", {Key("x", ValueType::count, "X").by_default("1")});
  const Json rule = Json::parse(json_schema(table)).at("allOf").at(0);
  CHECK(rule.at("if") == Json::parse(R"({"properties": {"policy": {"enum": ["a"]}}})"));
}

TEST_CASE("resolved values become JSON with units") {
  Diagnostics diagnostics;
  const Values values =
      parse(demo_table(),
            read_yaml_text("{model: 7, engine: {policy: static}, names: [a, 1], gpu: {price: 3 $/h}}", "f"),
            diagnostics);
  diagnostics.throw_if_any();
  CHECK(
      values_json(values).dump() ==
      R"({"model":"7","engine":{"policy":"static","max_num_seqs":256,"utilization":0.9,"padding":false,)"
      R"("wait":"0 ms"},"gpu":{"memory":"80 GB","hbm_bandwidth":"3.35 TB/s","peak":"989 TFLOPS",)"
      R"("price":"3 $/h","power":"700 W","clock":"1.83 GHz"},"levels":["1 ms","2 ms"],"names":["a","1"],"seed":1})");
}
