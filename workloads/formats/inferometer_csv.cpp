// Our own format, which `workload convert` and `workload generate` write: arrivals in decimal seconds, exact
// to the picosecond; the last three columns may be missing, or empty on a line.

#include "workloads/csv_row_reader.hpp"

namespace inferometer {

TraceFormat inferometer_csv_format() {
  TraceFormat format;
  format.name = "inferometer";
  format.looks_like = "arrival_s,prompt_tokens,output_tokens[,max_new_tokens][,session][,class]";
  format.open = [](const TraceSample& sample) {
    return open_csv(sample.first, CsvLayout{CsvLayout::Clock::seconds, "arrival_s", "prompt_tokens",
                                            "output_tokens", "max_new_tokens", "session", "class"});
  };
  return format;
}

}  // namespace inferometer
