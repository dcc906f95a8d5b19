#pragma once

// Where the result of a study comes from: what its JSON file and its page say besides the result itself.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/report.hpp"

namespace inferometer {

struct StudyProvenance {
  std::string study;              ///< its name, for people: "capacity.yaml"
  std::string subject;            ///< what it is about, in a line: "llama-3-8b at 12 req/s"; may be empty
  std::string program_version;    ///< "0.1.0"
  std::vector<InputFile> inputs;  ///< in order of reading
  nlohmann::ordered_json resolved_study;  ///< with all defaults
  std::vector<std::string> notes;         ///< sentences the reader should know
};

/// The first keys of a study's JSON file: schema_version, program, study, subject, notes.
nlohmann::ordered_json study_json_head(const StudyProvenance& provenance, int schema_version);

/// The last ones: inputs, resolved_study.
void add_study_json_tail(nlohmann::ordered_json& json, const StudyProvenance& provenance);

/// For the foot of a page: "inferometer 0.1.0 from capacity.yaml (sha256:9f86d081884c) and 3 more files". The
/// study's own file is the first input.
std::string provenance_line(const StudyProvenance& provenance);

}  // namespace inferometer
