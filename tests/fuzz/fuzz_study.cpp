// Whatever the bytes: reading them as a study, of either kind, ends in values or in an InputError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/config/table.hpp"
#include "sim/study/compare/compare_study.hpp"
#include "sim/study/plan/plan_space.hpp"
#include "sim/study/plan/plan_spec.hpp"

namespace {

using namespace inferometer;

constexpr std::size_t kMostCombinations = 8;  // each is read as a scenario

void read_plan_study(const ConfigNode& tree) {
  const PlanSpec spec = read_plan_tree(tree, "fuzz", {});
  std::size_t combinations = spec.splits.size();
  for (const Dimension& dimension : spec.dimensions) {
    combinations = combinations > kMostCombinations ? combinations : combinations * dimension.values.size();
  }
  if (combinations <= kMostCombinations) {
    make_plan_space(spec);
  }
}

void read_comparison(const ConfigNode& tree) {
  static const Table kTable = compare_table();
  Diagnostics diagnostics;
  const Values values = parse(kTable, tree, diagnostics);
  diagnostics.throw_if_any();
  for (const ConfigNode::Entry& variant : values.tree("variants").entries) {
    opened_paths(variant.value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const auto read : {read_plan_study, read_comparison}) {
    try {
      read(read_yaml_text({reinterpret_cast<const char*>(data), size}, "fuzz"));
    } catch (const InputError&) {
    }
  }
  return 0;
}
