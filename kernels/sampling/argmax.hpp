#pragma once

// Greedy sampling: the most likely token of each row.
//
//   logits  (rows, vocab) fp32, rows contiguous
//   tokens  (rows) int32: index of the largest logit, of equal ones the lowest; NaN counts as minus infinity
//
// One pass. Where there are few rows several blocks share one: each offers its best to the row's cell of the
// workspace, and the last to come writes the token. Any rows >= 1, 1 <= vocab < 2^31.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/common/divide_up.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

struct ArgmaxShape {
  std::int64_t rows = 0;
  std::int64_t vocab = 0;
};

struct ArgmaxBuffers {
  const float* logits = nullptr;
  std::int32_t* tokens = nullptr;
  void* workspace = nullptr;  ///< argmax_workspace_bytes(); zero before the first call, which leaves it zero
};

constexpr std::int64_t argmax_workspace_bytes(const ArgmaxShape& shape) {
  return 16 * shape.rows;
}

/// One comparison a logit.
constexpr Work argmax_work(const ArgmaxShape& shape) {
  const double logits = static_cast<double>(shape.rows) * static_cast<double>(shape.vocab);
  return {.flops = logits, .bytes = 4 * logits};
}

inline std::int32_t argmax_reference(const std::vector<float>& row) {
  const auto value = [&row](std::size_t index) {
    return std::isnan(row[index]) ? -std::numeric_limits<float>::infinity() : row[index];
  };
  std::size_t best = 0;
  for (std::size_t index = 1; index < row.size(); ++index) {
    if (value(index) > value(best)) {
      best = index;
    }
  }
  return static_cast<std::int32_t>(best);
}

/// Logits that a block has at the least: fewer are over before its launch is.
inline constexpr std::int64_t kArgmaxLeastPart = 4096;

/// Logits of a row that one block takes: all of them, or so few that every multiprocessor has two blocks.
constexpr std::int64_t argmax_part(const ArgmaxShape& shape, int multiprocessors) {
  const std::int64_t blocks_of_row = divide_up<std::int64_t>(2 * multiprocessors, shape.rows);
  return std::max(divide_up(shape.vocab, blocks_of_row), std::min(shape.vocab, kArgmaxLeastPart));
}

/// Logit (its bits) and index as one number: of two, the larger is the better choice. Orders as floats do,
/// after the usual turn of negative ones; of equal logits the lower index is larger. -0 is below 0: whoever
/// wants them equal adds 0 before.
INFEROMETER_HOST_DEVICE constexpr std::uint64_t argmax_key(std::uint32_t logit_bits, std::uint32_t index) {
  const std::uint32_t ordered = (logit_bits >> 31) != 0 ? ~logit_bits : logit_bits | 0x80000000u;
  return std::uint64_t{ordered} << 32 | (0xffffffffu - index);
}

INFEROMETER_HOST_DEVICE constexpr std::int32_t index_of_argmax_key(std::uint64_t key) {
  return static_cast<std::int32_t>(0xffffffffu - static_cast<std::uint32_t>(key));
}

LaunchResult argmax(const ArgmaxShape& shape, const ArgmaxBuffers& buffers, Stream stream);

}  // namespace inferometer::kernels
