#include "sim/report/compare/compare_report.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/config/values_json.hpp"
#include "base/file_hash.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

/// Adds what `to` has other than `from`, by dotted keys. Lists count as one value.
void add_changes(const Json& from, const Json& to, const std::string& path, Json& changes) {
  const auto full = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& [key, value] : to.items()) {
    const auto old = from.find(key);
    if (old == from.end()) {
      changes[full(key)] = value;
    } else if (old->is_object() && value.is_object()) {
      add_changes(*old, value, full(key), changes);
    } else if (*old != value) {
      changes[full(key)] = value;
    }
  }
  for (const auto& [key, value] : from.items()) {
    if (!to.contains(key)) {
      changes[full(key)] = nullptr;
    }
  }
}

void add_input(const Scenario::Input& input, std::set<std::string>& seen, std::vector<InputFile>& inputs) {
  if (seen.insert(std::filesystem::weakly_canonical(input.path).string()).second) {
    FileHash file = hash_file(input.path);
    inputs.push_back({input.name, std::move(file.hash), file.bytes});
  }
}

std::vector<InputFile> inputs_of(const CompareStudy& study) {
  std::vector<InputFile> inputs;
  std::set<std::string> seen;
  for (const std::string& file : {study.file, study.base_file}) {
    add_input({std::filesystem::path(file).filename().string(), file}, seen, inputs);
  }
  for (std::int64_t each = 0; each < study.book.size(); ++each) {
    for (const Scenario::Input& input : study.book.scenario(each).inputs) {
      add_input(input, seen, inputs);
    }
  }
  return inputs;
}

}  // namespace

CompareReport make_compare_report(const CompareStudy& study, CompareResult result) {
  CompareReport report;
  report.study = &study;
  report.name = std::filesystem::path(study.file).filename().string();
  report.program_version = INFEROMETER_VERSION;
  report.result = std::move(result);
  report.baseline = values_json(study.scenario(0, 0).values);
  for (std::size_t variant = 1; variant < study.variants.size(); ++variant) {
    Json changes = Json::object();
    add_changes(report.baseline, values_json(study.scenario(0, variant).values), "", changes);
    report.variants.push_back({study.variants[variant], std::move(changes)});
  }
  report.inputs = inputs_of(study);
  return report;
}

}  // namespace inferometer
