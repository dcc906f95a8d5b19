#pragma once

// Networks for tests of clusters: one with contention whose times can be worked out in the head, and one that
// notes what is asked of another.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/network/network.hpp"

namespace inferometer::testing {

/// All transfers in flight share one link evenly, wherever they go: alone, a byte takes `per_byte`.
std::unique_ptr<Network> make_shared_link_network(Duration per_byte);

/// A transfer as the network saw it.
struct SeenTransfer {
  TimePoint start, end;
  std::int64_t bytes = 0;
  bool has_source = false;  ///< false: it loads weights
  bool is_cancelled = false;
  bool has_ended = false;
  bool operator==(const SeenTransfer&) const = default;
};

struct TransferLog {
  std::vector<SeenTransfer> transfers;  ///< as they began
  std::int64_t in_flight = 0;
  bool keeps_contract = true;  ///< of whoever uses a network (sim/network/network.hpp)
};

/// Passes everything on to `network` and writes it down; `log` outlives it.
std::unique_ptr<Network> make_noted_network(std::unique_ptr<Network> network, TransferLog& log);

}  // namespace inferometer::testing
