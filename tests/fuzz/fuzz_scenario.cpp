// Whatever the bytes: reading them as a scenario file, alone or as what a change on the command line is laid
// over, ends in values or in an InputError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/config/overlay_choices.hpp"
#include "base/config/table.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/scenario/pool_layers.hpp"
#include "sim/scenario/scenario.hpp"

namespace {

using namespace inferometer;

void read_sections(const Table& table, ConfigNode tree) {
  const PoolLayers layers = lay_below_pools(tree, policy_registry());
  Diagnostics found;
  const Values values = parse(table, tree, found);
  Diagnostics diagnostics = told_once(found, layers);
  diagnostics.throw_if_any();
  read_slo(values.section("slo"), diagnostics);
  diagnostics.throw_if_any();
}

void read_scenario(std::string_view text) {
  static const Table kTable = scenario_table(policy_registry());
  const ConfigNode tree = read_yaml_text(text, "fuzz");
  for (const char* change : {"engine.policy=static", "workload={generator: poisson, rate: 1 req/s}"}) {
    ConfigNode changed = tree;
    try {
      overlay_choices(changed, override_node(changed, change), kTable);
      read_sections(kTable, changed);
    } catch (const InputError&) {
    }
  }
  read_sections(kTable, tree);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read_scenario({reinterpret_cast<const char*>(data), size});
  } catch (const InputError&) {
  }
  return 0;
}
