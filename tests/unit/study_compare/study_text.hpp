#pragma once

// Comparisons from text, with outcomes from a run or made up, for their tests.

#include <map>
#include <string>
#include <vector>

#include "sim/study/compare/compare_result.hpp"
#include "sim/study/compare/compare_study.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer::testing {

/// A scenario of few requests, written out behind `base:` in one line. `workload`: its section.
std::string small_base(
    const std::string& workload = "{preset: azure-conversation, rate: 8 req/s, requests: 100}");

/// Reads a study from text, as a file "study.yaml" of the folder.
CompareStudy study_from(const test::TemporaryDirectory& folder, const std::string& text,
                        const std::vector<std::string>& assignments = {});

/// What reading it throws; "" for nothing. The folder's path is left out.
std::string faults_of(const std::string& text, const std::vector<std::string>& assignments = {});

/// An outcome with these metrics and a settled queue.
Outcome outcome_with(const std::map<std::string, double>& metrics);

/// Runs all of it in this process.
KnownOutcomes run_here(const CompareStudy& study);

}  // namespace inferometer::testing
