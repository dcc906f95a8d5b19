#include "tests/unit/study_compare/study_text.hpp"

#include "base/error.hpp"

namespace inferometer::testing {

std::string small_base(const std::string& workload) {
  return "base: {model: llama-3-8b, hardware: {gpu: h100-sxm}, workload: " + workload + "}\n";
}

CompareStudy study_from(const test::TemporaryDirectory& folder, const std::string& text,
                        const std::vector<std::string>& assignments) {
  return read_compare_study(folder.write("study.yaml", text), assignments);
}

std::string faults_of(const std::string& text, const std::vector<std::string>& assignments) {
  const test::TemporaryDirectory folder;
  try {
    study_from(folder, text, assignments);
  } catch (const InputError& error) {
    std::string faults = error.what();
    const std::string path = folder.file("");
    for (std::size_t at = faults.find(path); at != std::string::npos; at = faults.find(path)) {
      faults.erase(at, path.size());
    }
    return faults;
  }
  return "";
}

Outcome outcome_with(const std::map<std::string, double>& metrics) {
  Outcome outcome;
  for (const auto& [name, value] : metrics) {
    outcome.metrics.push_back({name, value});
  }
  outcome.queue = QueueStability::stable;
  return outcome;
}

KnownOutcomes run_here(const CompareStudy& study) {
  KnownOutcomes known;
  for (const Evaluation& evaluation : wanted_runs(study, known)) {
    known.add(evaluation, evaluate(study.book.scenario(evaluation)));
  }
  return known;
}

}  // namespace inferometer::testing
