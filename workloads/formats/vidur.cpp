// Vidur's trace files (github.com/microsoft/vidur): arrivals in seconds, as pandas writes them (exponents
// too).

#include "workloads/csv_format.hpp"

namespace inferometer {

TraceFormat vidur_format() {
  return csv_format("vidur", "arrived_at,num_prefill_tokens,num_decode_tokens",
                    {CsvLayout::Clock::seconds, "arrived_at", "num_prefill_tokens", "num_decode_tokens"});
}

}  // namespace inferometer
