#include "sim/report/plan/plan_provenance.hpp"

#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/config/values_json.hpp"
#include "base/file_hash.hpp"

namespace inferometer {
namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

class Inputs {
 public:
  void add(const Scenario::Input& input) {
    if (seen_.insert(std::filesystem::weakly_canonical(input.path).string()).second) {
      FileHash file = hash_file(input.path);
      files_.push_back({input.name, std::move(file.hash), file.bytes});
    }
  }
  std::vector<InputFile> take() { return std::move(files_); }

 private:
  std::set<std::string> seen_;
  std::vector<InputFile> files_;
};

/// "quickstart.yaml at 12 req/s x 1.5"
std::string subject_of(const PlanSpec& spec, const Scenario& scenario) {
  const Values& workload = scenario.workload();
  std::string traffic;
  for (const char* source : {"preset", "trace", "generator"}) {
    if (workload.has(source)) {
      traffic = workload.text(source);
    }
  }
  if (workload.has("rate")) {
    traffic += fmt::format(" at {:g} req/s", workload.rate("rate").count());
  }
  return scenario.model.name + ", " + traffic + (spec.growth == 1 ? "" : fmt::format(" x {:g}", spec.growth));
}

}  // namespace

StudyProvenance plan_provenance(const PlanSpec& spec, const PlanSpace& space) {
  StudyProvenance provenance;
  provenance.study = file_name(spec.file);
  provenance.program_version = INFEROMETER_VERSION;
  provenance.resolved_study = values_json(spec.values);
  Inputs inputs;
  inputs.add({file_name(spec.file), spec.file});
  inputs.add({file_name(spec.base.file), spec.base.file});
  for (std::int64_t shape = 0; shape < space.book.size(); ++shape) {
    if (!space.book.mistakes(shape).empty()) {
      continue;
    }
    const Scenario& scenario = space.book.scenario(shape);
    if (provenance.subject.empty()) {
      provenance.subject = subject_of(spec, scenario);
      provenance.resolved_study["first_candidate"] = values_json(scenario.values);
    }
    for (const Scenario::Input& input : scenario.inputs) {
      inputs.add(input);
    }
  }
  provenance.inputs = inputs.take();
  return provenance;
}

}  // namespace inferometer
