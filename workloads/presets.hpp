#pragma once

// Traffic that we fitted from public traces: workloads/presets/NAME.yaml, written by fit_presets.py beside
// it.

#include <memory>
#include <string>
#include <vector>

#include "workloads/lengths.hpp"

namespace inferometer {

struct Preset {
  std::string name;
  std::string summary;  ///< one line
  std::string source;
  std::string licence;
  std::string date;                 ///< of the traffic
  double burstiness = 1.0;          ///< shape of gamma gaps (GammaArrivals)
  double length_correlation = 0.0;  ///< Spearman, prompt and output
  std::shared_ptr<const LengthDistribution> prompt, output;
};

/// Names of the presets there are, sorted. Throws ConfigError when the folder with them is missing.
std::vector<std::string> preset_names();

/// Where the preset of that name stands. Throws ConfigError when the folder is missing.
std::string preset_file(const std::string& name);

/// Throws ConfigError for an unknown name (lists the known ones) or a broken file.
Preset load_preset(const std::string& name);

/// Every preset as "NAME  SUMMARY" lines with the fit's source below, for `describe workloads`.
std::string describe_presets();

}  // namespace inferometer
