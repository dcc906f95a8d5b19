#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cli/roofline_report.hpp"
#include "sim/cli/step_argument.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace inferometer {

/// What `roofline` takes to show what speculation gains.
struct SpeculationOptions {
  std::int64_t drafts = 0;
  double acceptance = 0;
  std::string method;
  std::string draft;
  CLI::Option* drafts_option = nullptr;
  CLI::Option* acceptance_option = nullptr;

  void add_options(CLI::App& command);
  [[nodiscard]] bool is_asked_for() const;
  /// The table, as text or CSV, over the batches of `sweep` (of "batch"; "" for powers of two around the
  /// step's own). Throws ConfigError for what does not go together or is out of range.
  [[nodiscard]] std::string report(const RooflineSetting& setting, const CostOptions& prices,
                                   const StepArgument& step, const std::string& sweep, bool csv) const;
};

}  // namespace inferometer
