#pragma once

// What attention computes and moves in steps: sums of counts that it is linear in, so that adding steps is
// exact in any order. Who uses it: work_totals.hpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/int128.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/step_shape.hpp"

namespace inferometer {

/// What one GPU does in one step.
struct StepWork {
  Int128 flops = 0, hbm_bytes = 0;

  StepWork& operator+=(const StepWork& more) {
    flops += more.flops;
    hbm_bytes += more.hbm_bytes;
    return *this;
  }
};

class AttentionWork {
 public:
  AttentionWork(const ModelSpec& model, std::int64_t tensor_parallel);

  /// Of steps, added up.
  struct Counts {
    std::int64_t chunk_steps = 0, decode_steps = 0;  ///< steps with chunks, with decodes
    std::int64_t chunk_tokens = 0, decode_tokens = 0;
    /// By kind of layer, full attention first: (query, key) pairs of chunks and keys they read, the same of
    /// decodes.
    struct Part {
      std::int64_t pairs = 0, keys = 0, decode_pairs = 0, decode_keys = 0;
    };
    std::array<Part, 2> parts{};
  };

  /// So many steps, as WorkTotals::add() has them. O(1) without chunks, else O(chunks * steps).
  void add(const StepShape& shape, std::int64_t steps, const ContextTokens& growth, Counts& counts) const;
  [[nodiscard]] StepWork of(const Counts& counts) const;

 private:
  void add_latent(const ModelSpec& model, std::int64_t tensor_parallel);

  struct Unit {
    std::int64_t flops = 0, hbm_bytes = 0;
  };
  /// Of the layers of one kind.
  struct PartUnits {
    bool is_windowed = false;
    std::optional<std::int64_t> window;
    Unit pair, key, decode_pair, decode_key;
  };
  std::vector<PartUnits> parts_;
  Unit chunk_step_, decode_step_, chunk_token_, decode_;
};

}  // namespace inferometer
