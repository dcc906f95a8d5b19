#pragma once

// Sampling with temperature from the nucleus of each row (top-p: Holtzman et al. 2020):
//
//   logits  (rows, vocab) fp32, rows contiguous; minus infinity for what may not be chosen; no NaN, and a
//           finite largest logit in each row
//   tokens  (rows) int32
//
//   weight of a token    exp((logit - largest) / temperature)
//   nucleus              the likeliest tokens that have top_p of all weight together, as few as will do, and
//                        whatever ties with the least likely of them
//   token of a row       the first whose sum of weights, over the nucleus in order of index, passes
//                        u times that of the whole nucleus;  u = uniform_draw(seed, first_draw + row)
//
// No sort: tokens are dealt by likelihood into 2048 bins, the bin in which the nucleus ends into 2048 finer
// ones and those once more, which fixes the least likely token to 32 bits. Weights are fixed-point numbers,
// whose sums do not depend on the order of adding, so that a call gives the same tokens again. One block a
// row, at most six passes over it, mostly from the L2 cache. 1 <= vocab <= 2^22, temperature of at least
// kLeastTemperature, 0 < top_p <= 1.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/common/kernel_status.hpp"
#include "kernels/common/random_element.hpp"

namespace inferometer::kernels {

struct TopPShape {
  std::int64_t rows = 0;
  std::int64_t vocab = 0;
  float temperature = 1;
  float top_p = 1;
  std::uint64_t seed = 0;
  std::uint64_t first_draw = 0;  ///< rows of steps before, so that no two rows share a draw
};

struct TopPBuffers {
  const float* logits = nullptr;
  std::int32_t* tokens = nullptr;
};

/// Colder is greedy: argmax.
inline constexpr float kLeastTemperature = 1e-6f;

/// As the cost model counts sampling: temperature in place (read, write), then one read; 10 FLOPs a logit.
constexpr Work top_p_work(const TopPShape& shape) {
  const double logits = static_cast<double>(shape.rows) * static_cast<double>(shape.vocab);
  return {.flops = 10 * logits, .bytes = 3 * 4 * logits};
}

/// A multiple of 2^-53 in [0, 1).
INFEROMETER_HOST_DEVICE constexpr double uniform_draw(std::uint64_t seed, std::uint64_t draw) {
  return static_cast<double>(random_bits(seed, draw) >> 11) * 0x1p-53;
}

/// How far below the largest logit, in temperatures, as 32 bits: unlikelier tokens have larger keys. From 32
/// on all are alike, with weights that are 0.
INFEROMETER_HOST_DEVICE constexpr std::uint32_t distance_key(float distance) {
  return distance < 32 ? static_cast<std::uint32_t>(distance * 0x1p27f) : 0xffffffffu;
}

/// A weight of [0, 1] in units of 2^-32, just below 2^32 for 1.
INFEROMETER_HOST_DEVICE constexpr std::uint32_t fixed_weight(float weight) {
  return weight < 1 ? static_cast<std::uint32_t>(weight * 0x1p32f + 0.5f) : 0xffffffffu;
}

/// A token by double arithmetic, and how close the choice was: the least distance, as a share of all weight,
/// of top_p and of the draw from the sums at which the outcome changes. Where it is below kTopPTolerance the
/// kernel may choose otherwise.
struct TopPChoice {
  std::int32_t token = 0;
  double margin = 0;
};

/// Distances in fp32 change weights by up to 3e-6 of themselves; fixed-point weights are off by 2^-33, 1.5e-5
/// of the largest weight together in a vocabulary of 128 k.
inline constexpr double kTopPTolerance = 3e-5;

inline TopPChoice top_p_reference(const std::vector<float>& row, float temperature, float top_p,
                                  double draw) {
  const double largest = *std::max_element(row.begin(), row.end());
  const auto weight = [&](std::size_t index) { return std::exp((row[index] - largest) / temperature); };
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  double total = 0;
  for (const std::size_t index : order) {
    total += weight(index);
  }
  // Ties go in or out together: the sum is compared with top_p at the ends of runs of equal logits.
  TopPChoice choice{.margin = 1};
  float least = row[order.front()];
  double sum = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    sum += weight(order[place]);
    const bool ends_run = place + 1 == order.size() || row[order[place + 1]] < row[order[place]];
    if (ends_run) {
      least = row[order[place]];
      // At 1 all weight is in, whatever the rounding.
      if (top_p < 1) {
        choice.margin = std::min(choice.margin, std::fabs(sum / total - top_p));
      }
      if (sum >= top_p * total) {
        break;
      }
    }
  }
  const double nucleus = sum;
  double passed = 0;
  for (std::size_t index = 0; index < row.size(); ++index) {
    if (row[index] < least) {
      continue;
    }
    const double before = passed;
    passed += weight(index);
    if (passed > draw * nucleus) {
      choice.token = static_cast<std::int32_t>(index);
      choice.margin =
          std::min({choice.margin, (before > 0 ? draw - before / nucleus : 1), passed / nucleus - draw});
      break;
    }
  }
  return choice;
}

LaunchResult top_p(const TopPShape& shape, const TopPBuffers& buffers, Stream stream);

}  // namespace inferometer::kernels
