#pragma once

// A comparison, read from its file: which variants of a scenario, under which loads, with which seeds, are to
// be run, and what is asked of the runs. Who uses it: `inferometer compare`.

#include <cstdint>
#include <string>
#include <vector>

#include "base/config/table.hpp"
#include "sim/study/study_book.hpp"
#include "sim/study/study_run.hpp"

namespace inferometer {

/// The keys of a comparison's file.
Table compare_table();

/// What keeps verdicts on many metrics honest.
enum class Correction { holm, none };
std::string_view to_string(Correction correction);

struct CompareLoad {
  std::string name;       ///< "8 req/s", "day.csv"; "" for the base's own traffic
  std::string in_words;   ///< "at 8 req/s", "under day.csv"; "" likewise
  bool is_seeded = true;  ///< false: all seeds give the same run of every variant, and one of them is run
};

struct CompareStudy {
  std::string file;         ///< as the user named it
  std::string description;  ///< of the study, else of its base; may be empty
  std::string base_file;    ///< the scenario's, or the study's own
  std::vector<CompareLoad> loads;
  std::vector<std::string> variants;  ///< the baseline first, then in the order of the file
  std::vector<std::int64_t> seeds;
  std::vector<std::string> metrics;  ///< of study_metric_names()
  std::string leading_metric;        ///< of them, what the answer is about
  Correction correction = Correction::holm;
  std::vector<std::string> notes;  ///< what the user should know of how the file was understood
  StudyBook book;                  ///< a case for each load and variant: case_of()

  [[nodiscard]] std::int64_t case_of(std::size_t load, std::size_t variant) const {
    return static_cast<std::int64_t>(load * variants.size() + variant);
  }
  [[nodiscard]] const Scenario& scenario(std::size_t load, std::size_t variant) const {
    return book.scenario(case_of(load, variant));
  }
  [[nodiscard]] Evaluation evaluation(std::size_t load, std::size_t variant, std::int64_t seed) const {
    return {case_of(load, variant), {}, seed};
  }
  /// That runs under a load are made with.
  [[nodiscard]] std::vector<std::int64_t> seeds_of(std::size_t load) const;
  /// Runs in all.
  [[nodiscard]] std::int64_t runs() const;
};

/// Reads a comparison; `assignments` ("path.to.key=value") are laid over its base. Throws ConfigError with
/// all mistakes of the file at once, then with all of its variants' scenarios.
CompareStudy read_compare_study(const std::string& file, const std::vector<std::string>& assignments);

/// What the comparison needs and is not known yet, seed by seed, so that an interrupted one has whole pairs.
std::vector<Evaluation> wanted_runs(const CompareStudy& study, const KnownOutcomes& known);

}  // namespace inferometer
