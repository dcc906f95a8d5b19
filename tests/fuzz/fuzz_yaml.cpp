// Whatever the bytes: reading them as a configuration ends in values or in an InputError, and every value
// that was read is written as text that reads back to the same value.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/config/table.hpp"
#include "base/config/unit_text.hpp"
#include "tests/unit/base/demo_table.hpp"

namespace {

using namespace inferometer;

void check_round_trips(const Values& values) {
  for (const Value& value : values.all()) {
    if (value.section != nullptr) {
      check_round_trips(*value.section);
    }
    for (const std::shared_ptr<const Values>& element : value.sections) {
      check_round_trips(*element);
    }
    for (const Value::Scalar& scalar : value.scalars) {
      const std::string text = to_text(scalar);
      if (!has_unit(value.type)) {
        continue;
      }
      const Parsed back = parse_quantity(text, value.type);
      if (back.index() != 0 || std::get<0>(back) != scalar) {
        std::abort();
      }
    }
  }
}

void read_as_scenario(std::string_view text) {
  static const Table kTable = [] {
    Table table = demo_table();
    table.add_section_list("engines", demo_engine_table(), "Several engines");
    return table;
  }();
  Diagnostics diagnostics;
  const Values values = parse(kTable, read_yaml_text(text, "fuzz"), diagnostics);
  check_round_trips(values);
  diagnostics.throw_if_any();
}

void apply_as_override(std::string_view text) {
  ConfigNode node = read_yaml_text("{model: m, engine: {policy: static}, names: [a]}", "fuzz");
  apply_override(node, std::string(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (void (*const attempt)(std::string_view) : {read_as_scenario, apply_as_override}) {
    try {
      attempt(text);
    } catch (const InputError&) {
    }
  }
  return 0;
}
