#pragma once

// Prefill attention of a model, chunk by chunk, from measured kernels, in whole picoseconds. Who uses it: the
// calibrated step pricer.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/step_shape.hpp"

namespace inferometer {

/// Kernels were measured on batches of whole prompts. A chunk of q tokens after p cached ones among N tokens
/// of a step works like one of N / (q + 2 p) prompts of q + 2 p tokens: as many rows at once, as many keys
/// for each. Its share of the time is start_up q / N + the roofline of its own work, times the correction
/// measured there; a batch of equal prompts gets exactly what was measured. For a constant q and N the time
/// is straight in p between knots, where q + 2 p is 1, 2, 3, 4, 6, 8, 12 ...
class CalibratedPrefill {
 public:
  /// `one_layer`: prefill attention of any chunks; its fit must be known. Corrections of steps up to
  /// `max_tokens` are tabulated. `kernels` outlives this object.
  CalibratedPrefill(const CalibratedKernels& kernels, const Operator& one_layer, std::int64_t max_tokens);

  /// With a `line`, also adds to it what each step costs more than the one before when every chunk finds the
  /// last one's tokens in its past, and cuts it at the next knot. Precondition: at least one chunk.
  void add(std::span<const ChunkShape> chunks, StepCost& cost, StepLine* line) const;

 private:
  /// A chunk's time along its past, up to a knot.
  struct Piece {
    std::int64_t from_past = 0, to_past = 0;  // [from, to)
    std::int64_t time_ps = 0;                 // at from_past
    std::int64_t start_up_ps = 0;             // the part of it that is start-up
    std::int64_t slope_ps = 0;                // for each cached token
    bool is_compute_bound = false;
    bool is_extrapolated = false;
  };

  void take_coefficients(double layers);
  /// All tokens of a step, and where they lie among the knots.
  struct StepTokens {
    std::size_t knot;
    double share;    // of the way to the next knot
    double inverse;  // 1 / tokens
  };
  [[nodiscard]] Piece piece_of(const ChunkShape& chunk, const StepTokens& step) const;
  [[nodiscard]] RooflineParts parts_at(const ChunkShape& chunk, const StepTokens& step) const;
  [[nodiscard]] double correction(std::size_t token_knot, std::size_t length_knot) const;
  [[nodiscard]] double correction_at_knots(std::size_t token_knot, std::size_t length_knot) const;

  const CalibratedKernels& kernels_;
  std::string_view name_;
  KernelCall call_;
  ChosenFit chosen_;
  bool is_extrapolated_ = false;  // whatever the chunk
  std::optional<std::int64_t> window_;
  // Seconds of all layers.
  double start_up_s_ = 0;
  double seconds_per_pair_ = 0, seconds_per_key_ = 0, seconds_per_token_ = 0;
  double overhang_keys_ = 0;
  std::size_t length_knots_ = 0;
  std::vector<double> corrections_;  // factors, by token knot and length knot
};

}  // namespace inferometer
