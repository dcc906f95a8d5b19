// Vidur's trace files (github.com/microsoft/vidur): arrivals in seconds, as pandas writes them (exponents
// too).

#include "workloads/csv_row_reader.hpp"

namespace inferometer {

TraceFormat vidur_format() {
  TraceFormat format;
  format.name = "vidur";
  format.looks_like = "arrived_at,num_prefill_tokens,num_decode_tokens";
  format.open = [](const TraceSample& sample) {
    return open_csv(sample.first, CsvLayout{CsvLayout::Clock::seconds, "arrived_at", "num_prefill_tokens",
                                            "num_decode_tokens"});
  };
  return format;
}

}  // namespace inferometer
