#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// One request as it reaches the service.
struct Request {
  std::int64_t id = 0;  ///< 0, 1, 2, ... in order of arrival
  TimePoint arrival;    ///< never before the previous request's
  TokenCount prompt;    ///< >= 1
  TokenCount output;    ///< tokens it will really emit, >= 1; the simulator knows it, the scheduler does not
  TokenCount max_new;   ///< >= output; what the client allowed, which some schedulers reserve for
  std::int64_t session = -1;  ///< requests of one conversation share it; -1: none
  std::int32_t service_class = 0;
  /// Content hashes of the prompt's successive blocks, as far as the trace has them.
  std::vector<std::uint64_t> block_hashes{};
};

}  // namespace inferometer
