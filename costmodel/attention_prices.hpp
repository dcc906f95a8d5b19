#pragma once

// Attention of a step in whole picoseconds for the whole model, with coefficients quantised once, so that
// prices are exactly affine: in the context for decodes, in the past for a chunk of constant size. Who uses
// it: the step pricer.

#include <cstdint>
#include <limits>
#include <span>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/step_shape.hpp"

namespace inferometer {

/// Picoseconds for each unit of work, as an integer times 2^-20. Rounded up, and so is every product.
class PriceRate {
 public:
  PriceRate() = default;
  /// Throws ConfigError above 8 s, which no GPU takes for a token.
  explicit PriceRate(double seconds_per_unit);

  [[nodiscard]] double seconds(double units) const {
    constexpr double kSecondsPerScaled = 1.0 / (std::int64_t{1} << kShift) / kPicosecondsPerSecond;
    return static_cast<double>(scaled_) * kSecondsPerScaled * units;
  }

  [[nodiscard]] std::int64_t times(std::int64_t units) const {
    return static_cast<std::int64_t>((static_cast<Int128>(units) * scaled_ + kRoundUp) >> kShift);
  }
  /// Rounded down: for what is taken off a price.
  [[nodiscard]] std::int64_t at_most_times(std::int64_t units) const {
    return static_cast<std::int64_t>((static_cast<Int128>(units) * scaled_) >> kShift);
  }

 private:
  static constexpr int kShift = 20;
  static constexpr std::int64_t kRoundUp = (std::int64_t{1} << kShift) - 1;
  std::int64_t scaled_ = 0;
};

/// The higher of two roofs, each a straight line in a number of units of work and one of runs (or sequences)
/// that cost something of their own.
class RoofLines {
 public:
  struct Work {
    Flops flops{};
    Bytes hbm_bytes{};
  };
  RoofLines() = default;
  /// Throws ConfigError when one takes longer than any step may.
  RoofLines(const Roofs& roofs, std::int64_t layers, const Work& of_run, const Work& of_unit);

  void add(std::int64_t runs, std::int64_t units, StepCost& cost) const { add(runs, units, units, cost); }
  /// With as many units for either roof.
  void add(std::int64_t runs, std::int64_t compute_units, std::int64_t bandwidth_units, StepCost& cost) const;
  /// Under the compute roof alone.
  [[nodiscard]] Duration compute(std::int64_t runs, std::int64_t units) const;
  /// Adds what each step costs more than the one before when it has so many more units, and cuts the line
  /// where the other roof takes over.
  void add_growth(std::int64_t runs, std::int64_t units, std::int64_t growth, StepLine& line) const;

 private:
  struct Line {
    std::int64_t per_run_ps = 0;
    std::int64_t per_unit_ps = 0;
    [[nodiscard]] double seconds_at(std::int64_t runs, std::int64_t units) const {
      return (static_cast<double>(per_run_ps) * static_cast<double>(runs) +
              static_cast<double>(per_unit_ps) * static_cast<double>(units)) *
             (1 / kPicosecondsPerSecond);
    }
    [[nodiscard]] std::int64_t at(std::int64_t runs, std::int64_t units) const {
      return per_run_ps * runs + per_unit_ps * units;
    }
  };
  Line compute_, bandwidth_;
};

/// Decode attention: start-up plus the higher of two straight lines in the context.
class DecodeAttentionPrice {
 public:
  DecodeAttentionPrice(const ModelSpec& model, std::int64_t tensor_parallel, const Roofline& roofline);

  /// `beside_prefill`: the launch is paid by the chunks of the same step.
  void add(const DecodeShape& decodes, bool beside_prefill, StepCost& cost) const;
  /// Under the compute roof alone.
  [[nodiscard]] Duration compute(const DecodeShape& decodes) const;

  /// Adds what each step costs more than the one before when the context grows by so much a step, and cuts
  /// the line where the other roof takes over.
  void add_growth(std::int64_t decodes, std::int64_t context, std::int64_t context_growth,
                  StepLine& line) const;

 private:
  Duration start_up_, start_up_per_sequence_;
  RoofLines roofs_;
};

/// Prefill attention: start-up plus the higher of two sums over the chunks.
class PrefillAttentionPrice {
 public:
  PrefillAttentionPrice(const ModelSpec& model, std::int64_t tensor_parallel, const Roofline& roofline);

  /// With a `line`, also adds to it what each step costs more than the one before when every chunk finds the
  /// last one's tokens in its past, and cuts it where the other roof takes over or a window begins to count.
  /// Precondition: at least one chunk.
  void add(std::span<const ChunkShape> chunks, StepCost& cost, StepLine* line = nullptr) const;

 private:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;

  void add_growth(std::span<const ChunkShape> chunks, StepLine& line) const;

  /// No less than either roof, but for the rounding.
  [[nodiscard]] double most_seconds(const ChunkShape& chunk) const;
  [[nodiscard]] std::int64_t compute_ps(std::int64_t tokens, std::int64_t past) const;
  [[nodiscard]] std::int64_t bandwidth_ps(std::int64_t tokens, std::int64_t past) const;
  /// Steps in which a chunk's price keeps growing at the rate it grows at now.
  [[nodiscard]] std::int64_t steps_within_window(const ChunkShape& chunk) const;

  Duration start_up_;
  std::int64_t window_ = kUnlimited;
  std::int64_t overhang_tokens_ = 1;  // T0
  PriceRate per_pair_, per_half_pair_, per_new_token_;
  std::int64_t per_key_ps_ = 0;
};

}  // namespace inferometer
