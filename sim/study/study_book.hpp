#pragma once

// What a study looks at: one base scenario, cases that change it, and the loads each case is put under. Who
// uses it: comparisons and plans, which choose the cases and ask for evaluations; workers, which carry them
// out. Every process of a study makes the same book from the same file.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "base/config/values.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// The scenario that a study starts from.
struct StudyBase {
  ConfigNode tree;
  std::string file;  ///< that it stands in, the study itself for one written out in it
};

/// The key `base` of a study: the name of a scenario file, from the study's folder, or a scenario written
/// out. Throws ConfigError at the key.
StudyBase read_study_base(const Values& study, const std::string& study_file);

struct StudyCase {
  std::string name;                   ///< "chunk512"
  std::vector<ScenarioLayer> layers;  ///< over the base, in order
};

/// One run of one case.
struct Evaluation {
  std::int64_t study_case = 0;           ///< place in the book
  std::vector<std::string> assignments;  ///< "workload.rate=12 req/s", as after --set: its load
  std::int64_t seed = 1;

  friend auto operator<=>(const Evaluation&, const Evaluation&) = default;
};

class StudyBook {
 public:
  /// Loads every case once: O(cases) file reads. What is wrong with a case is kept, not thrown.
  StudyBook(StudyBase base, std::vector<StudyCase> cases);

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(cases_.size()); }
  [[nodiscard]] const StudyCase& at(std::int64_t place) const { return cases_[index(place)]; }

  /// The case as it stands, without a load. Throws what is wrong with it: ConfigError.
  [[nodiscard]] const Scenario& scenario(std::int64_t place) const;
  /// Mistakes in it, as they would be thrown; empty for none.
  [[nodiscard]] const std::vector<Diagnostic>& mistakes(std::int64_t place) const;

  /// Reads the scenario of an evaluation anew. Throws ConfigError.
  [[nodiscard]] Scenario scenario(const Evaluation& evaluation) const;

  /// Everything that its outcome depends on, as a short text: the program, the case with all its
  /// defaults, the contents of the files it names, load and seed. Precondition: a case without mistakes.
  [[nodiscard]] std::string key(const Evaluation& evaluation) const;

  /// Changes when any key does.
  [[nodiscard]] std::string fingerprint() const;

 private:
  struct Loaded {
    std::optional<Scenario> scenario;
    std::vector<Diagnostic> mistakes;
    std::string digest;
  };
  static std::size_t index(std::int64_t place) { return static_cast<std::size_t>(place); }

  StudyBase base_;
  std::vector<StudyCase> cases_;
  std::vector<Loaded> loaded_;
};

/// An evaluation as text, for another process with the same book, and back. Reading throws a
/// std::exception for a text that is none.
std::string to_text(const Evaluation& evaluation);
Evaluation evaluation_from(const std::string& text);

}  // namespace inferometer
