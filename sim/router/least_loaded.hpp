#pragma once

#include <cstdint>

#include "sim/router/router.hpp"

namespace inferometer {

/// The candidate of which `load_of(replica)` is least, the lowest number among equals. O(candidates).
template <class LoadOf>
std::int32_t least_loaded(const RouterView& view, const LoadOf& load_of) {
  std::int32_t best = view.candidates().front();
  std::int64_t least = load_of(best);
  for (const std::int32_t replica : view.candidates().subspan(1)) {
    const std::int64_t load = load_of(replica);
    if (load < least) {
      best = replica;
      least = load;
    }
  }
  return best;
}

/// The same of requests sent there that have not left.
inline std::int32_t least_outstanding(const RouterView& view) {
  return least_loaded(view, [&](std::int32_t replica) { return view.outstanding(replica); });
}

/// Of the candidates whose load is least the one with the fewest requests, the lowest number among equals.
/// O(candidates).
template <class LoadOf>
std::int32_t least_outstanding_of_least(const RouterView& view, const LoadOf& load_of) {
  std::int32_t best = view.candidates().front();
  std::int64_t least = load_of(best);
  for (const std::int32_t replica : view.candidates().subspan(1)) {
    const std::int64_t load = load_of(replica);
    if (load < least || (load == least && view.outstanding(replica) < view.outstanding(best))) {
      best = replica;
      least = load;
    }
  }
  return best;
}

}  // namespace inferometer
