#pragma once

// Everything a comparison has to say, as one value; the writers of this folder only choose the form.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/report.hpp"
#include "sim/study/compare/compare_result.hpp"

namespace inferometer {

/// What a variant's scenario has that the baseline's has not, with all defaults: by dotted keys; null for
/// what it lacks.
struct VariantChanges {
  std::string name;
  nlohmann::ordered_json changes;
};

struct CompareReport {
  const CompareStudy* study = nullptr;  ///< outlives the report
  std::string name;                     ///< of its file, for people
  std::string program_version;          ///< "0.1.0"
  CompareResult result;
  nlohmann::ordered_json baseline;       ///< its scenario under the first load, with all defaults
  std::vector<VariantChanges> variants;  ///< all but the baseline
  std::vector<InputFile> inputs;         ///< the study, its base, and what the scenarios name
};

/// Hashes the inputs. Throws ConfigError for those that can no longer be read.
CompareReport make_compare_report(const CompareStudy& study, CompareResult result);

}  // namespace inferometer
