#include "sim/report/study_provenance.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

/// Of a digest, as much as tells files apart at a glance: "sha256:" and twelve digits.
constexpr std::size_t kShortHash = 19;

}  // namespace

Json study_json_head(const StudyProvenance& provenance, int schema_version) {
  return {{"schema_version", schema_version},
          {"program", {{"name", "inferometer"}, {"version", provenance.program_version}}},
          {"study", provenance.study},
          {"subject", provenance.subject},
          {"notes", provenance.notes}};
}

void add_study_json_tail(Json& json, const StudyProvenance& provenance) {
  Json inputs = Json::array();
  for (const InputFile& input : provenance.inputs) {
    inputs.push_back({{"name", input.name}, {"hash", input.hash}, {"size_bytes", input.bytes}});
  }
  json["inputs"] = std::move(inputs);
  json["resolved_study"] = provenance.resolved_study;
}

std::string provenance_line(const StudyProvenance& provenance) {
  std::string line = "inferometer " + provenance.program_version + " from " + provenance.study;
  if (!provenance.inputs.empty()) {
    line += " (" + provenance.inputs.front().hash.substr(0, kShortHash) + ")";
  }
  if (provenance.inputs.size() > 1) {
    line += " and " + std::to_string(provenance.inputs.size() - 1) + " more files";
  }
  return line;
}

}  // namespace inferometer
