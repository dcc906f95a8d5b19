// Lists of sections: read, documented and laid over one another like everything else in a table.

#include <nlohmann/json.hpp>

#include "base/config/overlay_choices.hpp"
#include "base/config/table.hpp"
#include "base/config/values_json.hpp"
#include "tests/support/catch.hpp"

using namespace inferometer;
using Json = nlohmann::ordered_json;

namespace {

Table event_table() {
  Table event("", "What happens to a replica.");
  event.add("at", ValueType::duration, "When").required().range("0 s");
  event.add_choice("kind", {"fail", "drain"}, "What").by_default("fail");
  event.add("replica", ValueType::count, "Which one").by_default("0").range("0", "9");
  event.add_variant("kind", "fail", {Key("repair", ValueType::duration, "Time out").by_default("60 s")});
  return event;
}

/// A section `cluster` with a list of events, and a key beside it.
Table cluster_table() {
  Table cluster("", "");
  cluster.add("replicas", ValueType::count, "How many").by_default("1");
  cluster.add_section_list("events", event_table(), "What happens in the course of a run");
  Table table("", "");
  table.add_section("cluster", cluster, "");
  return table;
}

Values read(const Table& table, const ConfigNode& node) {
  Diagnostics diagnostics;
  Values values = parse(table, node, diagnostics);
  diagnostics.throw_if_any();
  return values;
}

Values read(const std::string& text) {
  return read(cluster_table(), read_yaml_text(text, "f"));
}

std::string told(const ConfigNode& node) {
  try {
    read(cluster_table(), node);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string told(const std::string& text) {
  return told(read_yaml_text(text, "f"));
}

}  // namespace

TEST_CASE("a list of sections keeps the order of the file and fills in defaults") {
  const Values values = read(
      "cluster:\n"
      "  events:\n"
      "  - at: 5 s\n"
      "    replica: 3\n"
      "  - {kind: drain, at: 1 s}\n");
  const std::vector<const Values*> events = values.section("cluster").sections("events");
  REQUIRE(events.size() == 2);
  CHECK(to_text(events[0]->duration("at")) == "5 s");
  CHECK(events[0]->count("replica") == 3);
  CHECK(to_text(events[0]->duration("repair")) == "1 min");
  CHECK(events[1]->text("kind") == "drain");
  CHECK(events[1]->count("replica") == 0);
  CHECK_FALSE(events[1]->has("repair"));
  CHECK(values.section("cluster").given("events"));
  CHECK(to_string(values.section("cluster").where("events")) == "f:3:3");
  CHECK(to_string(events[0]->where()) == "f:3:5");
  CHECK(to_string(events[0]->where("replica")) == "f:4:14");
  CHECK(to_string(events[1]->where("at")) == "f:5:23");
}

TEST_CASE("a list of sections outlives the values it was read into") {
  Values copy;
  {
    const Values values = read("cluster: {events: [{at: 2 s}]}");
    copy = values.section("cluster");
  }
  CHECK(to_text(copy.sections("events").at(0)->duration("at")) == "2 s");
}

TEST_CASE("a list of sections is empty when it is absent or written empty") {
  for (const std::string text : {"", "cluster:", "cluster: {replicas: 2}", "cluster: {events: []}"}) {
    const Values values = read(text);
    CHECK(values.section("cluster").has("events"));
    CHECK(values.section("cluster").sections("events").empty());
  }
  CHECK_FALSE(read("cluster: {replicas: 2}").section("cluster").given("events"));
  CHECK(read("cluster: {events: []}").section("cluster").given("events"));
}

TEST_CASE("a list of sections may be required or have no value when absent") {
  Table needed("", "");
  needed.add_section_list("events", event_table(), "").required();
  Diagnostics diagnostics;
  parse(needed, read_yaml_text("", "f"), diagnostics);
  REQUIRE(diagnostics.found().size() == 1);
  CHECK(diagnostics.found().front().message == "missing key \"events\" (a list of maps)");
  const Json schema = Json::parse(json_schema(needed));
  CHECK(schema.at("required") == Json::array({"events"}));
  CHECK_FALSE(schema.at("properties").at("events").contains("default"));
  CHECK(read(needed, read_yaml_text("events: []", "f")).sections("events").empty());

  Table spare("", "");
  spare.add_section_list("events", event_table(), "").optional("nothing happens");
  CHECK_FALSE(read(spare, read_yaml_text("", "f")).has("events"));
  CHECK(describe(spare).starts_with("  events  list of section  optional  When absent: nothing happens.\n"));
}

TEST_CASE("mistakes in every element of a list are reported at their places") {
  CHECK(
      told("cluster:\n"
           "  events:\n"
           "  - at: 5\n"
           "  - kind: drain\n"
           "    repair: 1 s\n"
           "  - at: 1 s\n"
           "    replika: 2\n"
           "  - {at: 1 s, replica: 12}\n"
           "  - later\n"
           "  - [{at: 1 s}]\n") ==
      "f:3:9: cluster.events[0].at: \"5\" has no unit; write e.g. \"5 ms\"\n"
      "f:4:5: missing key \"cluster.events[1].at\" (a duration such as \"500 ms\")\n"
      "f:5:5: \"cluster.events[1].repair\" goes with kind fail, not with drain\n"
      "f:7:5: unknown key \"cluster.events[2].replika\"; did you mean \"replica\"?\n"
      "f:8:24: cluster.events[3].replica: 12 is too large; it must be at most 9\n"
      "f:9:5: cluster.events[4]: expected a map, found \"later\"; write e.g. \"{at: 500 ms}\"\n"
      "f:10:5: cluster.events[5]: expected a map, found a list; write e.g. \"{at: 500 ms}\", without dashes");
}

TEST_CASE("what is no list of sections is told how one is written") {
  CHECK(told("cluster: {events: {at: 1 s}}") ==
        "f:1:19: cluster.events: expected a list of maps, found a map; write e.g. \"events: [{at: 500 "
        "ms}]\", or "
        "a dash before each map");
  CHECK(told("cluster: {events: none}") ==
        "f:1:19: cluster.events: expected a list of maps, found \"none\"; write e.g. \"events: [{at: 500 "
        "ms}]\"");
  CHECK(
      told("cluster:\n  events:\n  replicas: 2\n") ==
      "f:2:3: cluster.events: has no value; expected a list of maps; write e.g. \"events: [{at: 500 ms}]\"");
  const std::string no_value = "has no value; expected a map";
  CHECK(told("cluster:\n  events:\n  -\n  - at: 1 s\n  replicas: 2\n") ==
        "f:3:3: cluster.events[0]: " + no_value);
  CHECK(told("cluster:\n  events: [{at: 1 s}, ~]\n") == "f:2:23: cluster.events[1]: " + no_value);
  CHECK(told("cluster:\n  events:\n  - at: 1 s\n  -\n") == "f:4:3: cluster.events[1]: " + no_value);
}

TEST_CASE("asking for a list of sections as anything else is a programmer's error") {
  const Values values = read("cluster: {events: [{at: 1 s}]}");
  CHECK_THROWS_AS(values.section("cluster").section("events"), std::logic_error);
  CHECK_THROWS_AS(values.section("cluster").texts("events"), std::logic_error);
  CHECK_THROWS_AS(values.section("cluster").sections("replicas"), std::logic_error);
  CHECK_THROWS_AS(values.section("cluster").sections("absent"), std::logic_error);
  CHECK_THROWS_AS(values.sections("cluster"), std::logic_error);
}

TEST_CASE("a list of sections that is laid over another replaces it") {
  ConfigNode node =
      read_yaml_text("{cluster: {replicas: 4, events: [{at: 1 s, repair: 9 s}, {at: 2 s}]}}", "base");
  const ConfigNode over = read_yaml_text("{cluster: {events: [{kind: drain, at: 3 s}]}}", "over");
  CHECK(overlay_choices(node, over, cluster_table()).empty());
  const Values cluster = read(cluster_table(), node).section("cluster");
  CHECK(cluster.count("replicas") == 4);
  const std::vector<const Values*> events = cluster.sections("events");
  REQUIRE(events.size() == 1);
  CHECK(events[0]->text("kind") == "drain");
  CHECK(to_text(events[0]->duration("at")) == "3 s");
  CHECK(events[0]->where("at").file == "over");
}

TEST_CASE("a list of sections can be set on a command line") {
  ConfigNode node = read_yaml_text("{cluster: {replicas: 4, events: [{at: 1 s}]}}", "base");
  const std::string assignment = "cluster.events=[{at: 7 s, replica: 2}, {at: 8 s}]";
  apply_override(node, assignment);
  const Values values = read(cluster_table(), node);
  const std::vector<const Values*> events = values.section("cluster").sections("events");
  REQUIRE(events.size() == 2);
  CHECK(events[0]->count("replica") == 2);
  CHECK(to_text(events[1]->duration("at")) == "8 s");

  apply_override(node, "cluster.events=[{at: 7 s, replica: two}]");
  CHECK(told(node) ==
        "--set cluster.events=[{at: 7 s, replica: two}]: cluster.events[0].replica: \"two\" is not a whole "
        "number; write e.g. 256");
  apply_override(node, "cluster.events=[]");
  CHECK(read(cluster_table(), node).section("cluster").sections("events").empty());
}

TEST_CASE("a list of sections is described with the keys of an element") {
  CHECK("\n" + describe(cluster_table()) == R"(
  cluster  section

cluster:
  replicas  count            1   How many.
  events    list of section  []  What happens in the course of a run.

cluster.events[]: What happens to a replica.
  at       duration  required  from 0 s  When. E.g. 500 ms.
  kind     word      fail                What. One of fail or drain.
  replica  count     0         0 to 9    Which one.

  with kind: fail
  repair   duration  60 s                Time out.
)");
}

TEST_CASE("the schema of a list of sections gives that of an element") {
  const Json schema = Json::parse(json_schema(cluster_table(), "extends"));
  CHECK_FALSE(schema.at("else").contains("required"));
  const Json& events = schema.at("else").at("properties").at("cluster").at("properties").at("events");
  CHECK(events.at("description") == "What happens in the course of a run.");
  CHECK(events.at("type") == "array");
  CHECK(events.at("default") == Json::array());
  const Json& element = events.at("items");
  CHECK(element.at("type") == "object");
  CHECK(element.at("additionalProperties") == false);
  CHECK(element.at("required") == Json::array({"at"}));
  CHECK(element.at("properties").size() == 4);
  CHECK(element.at("allOf").size() == 2);
  // A list replaces the one below it: its elements are whole in a file that lies on top of another, too.
  CHECK(schema.at("then").at("properties").at("cluster").at("properties").at("events") == events);
}

TEST_CASE("a resolved list of sections becomes an array of objects") {
  const Values values = read("cluster: {events: [{at: 1 s}, {kind: drain, at: 2 s, replica: 1}]}");
  CHECK(values_json(values).dump() ==
        R"({"cluster":{"replicas":1,"events":[{"at":"1 s","kind":"fail","replica":0,"repair":"1 min"},)"
        R"({"at":"2 s","kind":"drain","replica":1}]}})");
  CHECK(values_json(read("")).dump() == R"({"cluster":{"replicas":1,"events":[]}})");
}
