#include "sim/study/study_book.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/config/values_json.hpp"
#include "base/file_hash.hpp"

namespace inferometer {
namespace {

ScenarioOverrides overrides_of(const StudyCase& study_case) {
  ScenarioOverrides overrides;
  overrides.layers = study_case.layers;
  return overrides;
}

/// Files are read once, however many cases name them.
class HashedFiles {
 public:
  const std::string& hash(const std::string& path) {
    const auto found = hashes_.find(path);
    return found != hashes_.end() ? found->second : hashes_.emplace(path, hash_file(path).hash).first->second;
  }

 private:
  std::map<std::string, std::string> hashes_;
};

/// Two builds of a version differ when somebody works on a policy. Nothing where the system does not show a
/// program its own file.
std::string own_digest() {
  try {
    return hash_file("/proc/self/exe").hash;
  } catch (const ConfigError&) {
    return "";
  }
}

std::string digest_of(const Scenario& scenario, HashedFiles& files) {
  static const std::string program = INFEROMETER_VERSION " " + own_digest() + "\n";
  std::string all = program + values_json(scenario.values).dump() + "\n";
  for (const Scenario::Input& input : scenario.inputs) {
    all += files.hash(input.path) + "\n";
  }
  return hash_text(all);
}

}  // namespace

StudyBase read_study_base(const Values& study, const std::string& study_file) {
  const ConfigNode& base = study.tree("base");
  if (base.kind == ConfigNode::Kind::map) {
    return {base, study_file};
  }
  if (base.kind != ConfigNode::Kind::scalar || base.scalar.empty()) {
    throw ConfigError(base.where,
                      "base: expected the name of a scenario file, e.g. \"base: quickstart.yaml\", or a "
                      "scenario written out as a map");
  }
  const std::filesystem::path path =
      (std::filesystem::path(study_file).parent_path() / base.scalar).lexically_normal();
  if (!std::filesystem::exists(path)) {
    throw ConfigError(base.where, "base: there is no file " + path.string());
  }
  return {read_yaml_file(path.string()), path.string()};
}

StudyBook::StudyBook(StudyBase base, std::vector<StudyCase> cases)
    : base_(std::move(base)), cases_(std::move(cases)) {
  HashedFiles files;
  for (const StudyCase& study_case : cases_) {
    Loaded& loaded = loaded_.emplace_back();
    try {
      loaded.scenario = load_scenario_tree(base_.tree, base_.file, overrides_of(study_case));
      loaded.digest = digest_of(*loaded.scenario, files);
    } catch (const ConfigError& error) {
      loaded.scenario.reset();
      loaded.mistakes = error.diagnostics();
    }
  }
}

const Scenario& StudyBook::scenario(std::int64_t place) const {
  const Loaded& loaded = loaded_[index(place)];
  if (!loaded.scenario) {
    throw ConfigError(loaded.mistakes);
  }
  return *loaded.scenario;
}

const std::vector<Diagnostic>& StudyBook::mistakes(std::int64_t place) const {
  return loaded_[index(place)].mistakes;
}

Scenario StudyBook::scenario(const Evaluation& evaluation) const {
  ScenarioOverrides overrides = overrides_of(at(evaluation.study_case));
  overrides.assignments = evaluation.assignments;
  overrides.seed = evaluation.seed;
  return load_scenario_tree(base_.tree, base_.file, overrides);
}

std::string StudyBook::key(const Evaluation& evaluation) const {
  const Loaded& loaded = loaded_[index(evaluation.study_case)];
  INFEROMETER_CHECK(loaded.scenario.has_value(), "a case with mistakes is not evaluated");
  std::string text = loaded.digest;
  for (const std::string& assignment : evaluation.assignments) {
    text += "\n" + assignment;
  }
  return hash_text(text + "\nseed=" + std::to_string(evaluation.seed));
}

std::string StudyBook::fingerprint() const {
  std::string all;
  for (const Loaded& loaded : loaded_) {
    all += loaded.digest + "\n";
  }
  return hash_text(all);
}

std::string to_text(const Evaluation& evaluation) {
  return nlohmann::json::array({evaluation.study_case, evaluation.assignments, evaluation.seed}).dump();
}

Evaluation evaluation_from(const std::string& text) {
  const nlohmann::json parts = nlohmann::json::parse(text);
  return {parts.at(0).get<std::int64_t>(), parts.at(1).get<std::vector<std::string>>(),
          parts.at(2).get<std::int64_t>()};
}

}  // namespace inferometer
