#pragma once

// What `inferometer validate` says: tables for a terminal, JSON.

#include <string>
#include <vector>

#include "sim/validation/predict/judge.hpp"

namespace inferometer {

/// What was measured, predicted and made of it. All outlive it.
struct ValidatedRuns {
  const std::vector<MeasuredRun>& runs;
  const std::vector<Prediction>& predictions;
  const Judgement& judgement;
};

/// A row for each group, metric and side of saturation; then what could not be predicted, and why.
std::string judgement_text(const ValidatedRuns& validated);

/// A row for each run and metric.
std::string judged_values_text(const ValidatedRuns& validated);

/// {"summary": [...], "runs": [...], "missing": [...]}; sim/report/README.md lists the fields.
std::string judgement_json(const ValidatedRuns& validated);

}  // namespace inferometer
