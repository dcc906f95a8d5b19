#pragma once

#include <cstdint>

namespace inferometer {

/// Lengths of one request, for a capacity estimate.
struct RequestLengths {
  std::int32_t prompt = 0;
  std::int32_t output = 0;
  std::int32_t max_new = 0;  ///< what the client allowed; taken to be at least `output`

  friend bool operator==(const RequestLengths&, const RequestLengths&) = default;
};

}  // namespace inferometer
