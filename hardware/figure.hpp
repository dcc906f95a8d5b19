#pragma once

// Files of hardware: figures with source and date, in a folder of files that are known by name. Who uses it:
// the readers of GPU and cluster descriptions.

#include <string>
#include <utility>
#include <vector>

#include "base/config/table.hpp"
#include "base/error.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Bounds of a figure, written like values ("0 W"); "" = none.
struct FigureRange {
  std::string above = "";  ///< not itself allowed
  std::string from = "";   ///< allowed; in place of `above`
  std::string up_to = "";
};

/// The section of one figure: value, source and date.
Table figure_table(ValueType type, const FigureRange& range);

/// Appends where every figure of `values` comes from, as "prefix" + key, in table order. A source that is
/// empty and a date that is none are added to `diagnostics`.
void read_provenance(const Values& values, const std::string& prefix,
                     std::vector<std::pair<std::string, Provenance>>& provenance, Diagnostics& diagnostics);

/// Names of the files NAME.yaml of a shipped folder, sorted.
std::vector<std::string> described_names(const std::string& folder);

/// The file of a name in a shipped folder; a path is its own file. Throws ConfigError for an unknown name:
/// says what it is a name of (`what`, "GPU"), lists the known ones and suggests the nearest.
std::string description_path(const std::string& name_or_path, const std::string& folder,
                             const std::string& what);

}  // namespace inferometer
