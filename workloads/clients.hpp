#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"

namespace inferometer {

/// How long somebody thinks before the next request.
struct ThinkTime {
  Duration mean;          ///< >= 0
  bool is_fixed = false;  ///< every one the mean; otherwise exponential

  Duration draw(RandomStream& stream) const;
};

/// Clients that each wait for their answer, think, and begin something new. A client's think times come from
/// its own stream "workload/think_time/CLIENT", so that they do not depend on the order in which requests
/// finish.
struct ClientOptions {
  std::int64_t clients = 1;  ///< >= 1
  ThinkTime think_time;
  Duration ramp_up;  ///< >= 0; client i of N begins at ramp_up * i / N
};

class Clients {
 public:
  /// Only the first `needed` ever begin anything. O(needed) memory.
  Clients(const ClientOptions& options, std::int64_t needed, std::uint64_t seed);

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(think_.size()); }
  /// When the client begins for the first time.
  [[nodiscard]] TimePoint begins(std::int64_t client) const;
  /// When the client goes on, which had its answer at `now`. Throws ConfigError past the end of simulated
  /// time.
  TimePoint after_answer(std::int64_t client, TimePoint now);

 private:
  ClientOptions options_;
  std::vector<RandomStream> think_;  ///< by client
};

/// `now` + `wait`. Throws ConfigError past the end of simulated time.
TimePoint after_wait(TimePoint now, Duration wait);

}  // namespace inferometer
