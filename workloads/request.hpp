#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// A run of a prompt's tokens by what they are. Two runs of one id that come after the same tokens hold the
/// same tokens, as far as the shorter one goes.
struct ContentRun {
  std::uint64_t id = 0;     ///< > 0
  std::int64_t tokens = 0;  ///< >= 1

  friend bool operator==(const ContentRun&, const ContentRun&) = default;
};

/// One request as it reaches the service.
struct Request {
  std::int64_t id = 0;  ///< 0, 1, 2, ... in order of arrival
  TimePoint arrival;    ///< never before the previous request's
  TokenCount prompt;    ///< >= 1
  TokenCount output;    ///< tokens it will really emit, >= 1; the simulator knows it, the scheduler does not
  TokenCount max_new;   ///< >= output; what the client allowed, which some schedulers reserve for
  std::int64_t session = -1;  ///< requests of one conversation share it; -1: none
  std::int32_t service_class = 0;
  std::int32_t priority = 0;  ///< lower ones first, where the scheduler asks for it
  /// What the prompt consists of, in order; together as many tokens as it has. Empty: unlike any other.
  std::vector<ContentRun> content{};
  /// Id under which its output turns up in later prompts; 0: it never does.
  std::uint64_t output_content = 0;
};

}  // namespace inferometer
