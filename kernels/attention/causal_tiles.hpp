#pragma once

// Which keys a tile of queries sees under a causal mask, with or without a sliding window. Who uses it: the
// prefill kernels, on the device, and their tests. Counts fit int32; positions count from the first token of
// the sequence, cached ones included.

#include "kernels/common/divide_up.hpp"
#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

/// Positions first..last, both included, that the query at `position` attends: itself and what lies before
/// it, at most `window` keys in all (0: no limit). `first` may be negative.
struct VisibleKeys {
  int first;
  int last;
};

INFEROMETER_HOST_DEVICE constexpr VisibleKeys visible_keys(int position, int window) {
  return {window > 0 ? position - window + 1 : 0, position};
}

INFEROMETER_HOST_DEVICE constexpr bool is_visible(VisibleKeys visible, int key) {
  return visible.first <= key && key <= visible.last;
}

/// Tiles begin..end-1 of `keys_of_tile` keys hold every key that some query of the tile sees. Of them, those
/// in [plain_begin, plain_end) are seen whole by every query: no element needs a mask.
struct CausalTiles {
  int begin;
  int end;
  int plain_begin;
  int plain_end;

  [[nodiscard]] INFEROMETER_HOST_DEVICE constexpr bool needs_mask(int tile) const {
    return tile < plain_begin || tile >= plain_end;
  }
};

/// For new tokens [first_query, end_query) of a sequence over `past` cached ones. Preconditions: first_query
/// < end_query, past >= 0. O(1).
INFEROMETER_HOST_DEVICE constexpr CausalTiles causal_tiles(int first_query, int end_query, int past,
                                                           int window, int keys_of_tile) {
  const VisibleKeys of_first = visible_keys(past + first_query, window);
  const VisibleKeys of_last = visible_keys(past + end_query - 1, window);
  const int begin = of_first.first > 0 ? of_first.first / keys_of_tile : 0;
  const int plain_begin = of_last.first > 0 ? divide_up(of_last.first, keys_of_tile) : 0;
  return {.begin = begin,
          .end = of_last.last / keys_of_tile + 1,
          .plain_begin = plain_begin,
          .plain_end = (of_first.last + 1) / keys_of_tile};
}

}  // namespace inferometer::kernels
