#pragma once

// Everything a run has to say, as one value; the writers of this folder only choose the form.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "costmodel/step_pricer.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/metrics/summary.hpp"
#include "sim/replica/replica.hpp"
#include "sim/scenario/sensitivity.hpp"
#include "sim/scenario/uncertainty.hpp"

namespace inferometer {

/// A file the results depend on.
struct InputFile {
  std::string name;  ///< as the scenario names it
  std::string hash;  ///< algorithm and digest: "sha256:9f86d0..."
  std::int64_t bytes = 0;
};

struct Report {
  std::string scenario;         ///< its name, for people
  std::string setup;            ///< what ran, in a line: "llama-3-8b on 1 x h100-sxm, chunked_prefill"
  std::string program_version;  ///< "0.1.0"
  Summary summary;
  SloReport slo;
  std::optional<Uncertainty> uncertainty;  ///< of the summary's figures; absent when not asked for
  std::optional<Sensitivity>
      sensitivity;                    ///< of the summary's latencies; absent where the run was not repeated
  std::string stepper;                ///< fast, reference, or check: fast, compared with reference as it went
  StepCounts step_counts;             ///< how the steps were run
  std::int64_t events = 0;            ///< that the engine handled
  nlohmann::ordered_json deployment;  ///< what the settings amount to
  CostBasis cost_basis;               ///< what the prices of steps stand on
  nlohmann::ordered_json resolved_scenario;  ///< with all defaults
  std::vector<InputFile> inputs;             ///< in order of reading
  std::vector<std::string> notes;  ///< sentences the reader should know: "max_model_len cut to 8192: ..."
};

}  // namespace inferometer
