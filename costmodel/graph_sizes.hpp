#pragma once

#include <algorithm>
#include <cstdint>

namespace inferometer {

/// Batch sizes for which an engine captures CUDA graphs: a decode-only step of another size is run as the
/// next larger one. vLLM (vllm/config, 2025): 1, 2, 4, then every 8 below 256, then every 16, at most min(2 *
/// max_num_seqs, 512); larger batches run as they are.
class GraphSizes {
 public:
  GraphSizes(std::int64_t max_num_seqs, bool enabled) : largest_(enabled ? largest(max_num_seqs) : 0) {}

  /// The batch that is run for `batch` sequences. Precondition: batch >= 1.
  [[nodiscard]] std::int64_t padded(std::int64_t batch) const {
    return batch > largest_ ? batch : next_size(batch);
  }

 private:
  static constexpr std::int64_t kLargestCaptured = 512;

  static std::int64_t next_size(std::int64_t batch) {
    if (batch <= 2) {
      return batch;
    }
    if (batch <= 4) {
      return 4;
    }
    return batch <= 248 ? round_up(batch, 8) : round_up(batch, 16);
  }
  static std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

  /// The largest captured size within the bound.
  static std::int64_t largest(std::int64_t max_num_seqs) {
    std::int64_t size = std::min(2 * max_num_seqs, kLargestCaptured);
    while (size > 0 && next_size(size) != size) {
      --size;
    }
    return size;
  }

  std::int64_t largest_;
};

}  // namespace inferometer
