#pragma once

// SimGrid behind a door of our own: flows between endpoints of a link map, which share links max-min fairly,
// on SimGrid's clock of double seconds. Who uses it: simgrid_network.cpp, which knows of transfers, set-up
// and integer time. What SimGrid 3.32 wants that cannot be seen from its headers is kept here, and pinned by
// tests/unit/network/simgrid_facts_test.cpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/network/link_map.hpp"

namespace inferometer {

class SimgridEngine {
 public:
  /// Builds the platform: a star on which every endpoint is a host. Precondition: there is no other engine in
  /// this process. The clock goes on where that of an earlier one stopped.
  explicit SimgridEngine(const LinkMap& map);
  ~SimgridEngine();
  SimgridEngine(const SimgridEngine&) = delete;
  SimgridEngine& operator=(const SimgridEngine&) = delete;

  [[nodiscard]] double clock() const;
  [[nodiscard]] bool idle() const;

  /// A flow begins at the clock; `token` is the caller's name for it. Precondition: two different endpoints.
  void start(std::uint64_t token, const Flow& flow);

  /// Part of a running flow that has gone over its links by the clock.
  [[nodiscard]] double share_done(std::uint64_t token) const;

  /// They leave their links at the clock.
  void cancel(std::span<const std::uint64_t> tokens);

  /// The clock at which the next flow ends if none begins or is cancelled before. Solved once for each
  /// change.
  std::optional<double> next_end();

  /// Moves the clock to `clock`, at least; does nothing but settle what ends at this moment when that is
  /// past.
  void run_to(double clock);

  /// Flows that have ended and were not taken before, in SimGrid's order.
  std::vector<std::uint64_t> take_ended();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace inferometer
