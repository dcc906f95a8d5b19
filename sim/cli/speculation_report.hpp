#pragma once

// Whether drafting tokens pays, by batch: what `roofline --speculate` shows.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/speculation.hpp"
#include "sim/cli/roofline_report.hpp"

namespace inferometer {

/// What is drafted, and how often it is right.
struct SpeculationSetting {
  RooflineSetting where;
  CostOptions prices;
  std::int64_t context = 0;  ///< tokens that each sequence attends
  std::int64_t drafts = 0;   ///< k
  double acceptance = 0;     ///< of each drafted token, given that those before it were accepted
  Drafter drafter;
};

/// A batch of decodes with and without. Times are of the GPU alone.
struct SpeculationRow {
  std::int64_t batch = 0;
  double plain_intensity = 0, verify_intensity = 0;  ///< FLOP/B of the target's step
  Duration plain{};                                  ///< a step of one token for each
  Duration verify{};                                 ///< a step of k + 1 positions for each
  Duration draft{};                                  ///< the k passes before it
  double expected_tokens = 0;                        ///< of a sequence in such a step
  /// Tokens a second over those without.
  [[nodiscard]] double speed_up() const {
    return expected_tokens * to_seconds(plain) / to_seconds(verify + draft);
  }
  /// Acceptance at which nothing is won or lost; nothing when drafts that are all accepted lose, too.
  std::optional<double> break_even;
};

class SpeculationTable {
 public:
  explicit SpeculationTable(SpeculationSetting setting);

  [[nodiscard]] SpeculationRow row(std::int64_t batch) const;
  /// The smallest batch, up to kMostBatch, at which it loses (or one of several: prices have steps).
  [[nodiscard]] std::optional<std::int64_t> first_losing_batch() const;

  [[nodiscard]] std::string text(const std::vector<std::int64_t>& batches) const;
  [[nodiscard]] std::string csv(const std::vector<std::int64_t>& batches) const;

  static constexpr std::int64_t kMostBatch = 8192;

 private:
  [[nodiscard]] std::string heading() const;
  [[nodiscard]] std::string conclusion() const;

  SpeculationSetting setting_;
  std::shared_ptr<const StepPricer> target_, with_drafter_;
};

}  // namespace inferometer
