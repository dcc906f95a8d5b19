// Our own format, which `workload convert` and `workload generate` write: arrivals in decimal seconds, exact
// to the picosecond; the last four columns may be missing, or empty on a line.

#include "workloads/csv_format.hpp"

namespace inferometer {

TraceFormat inferometer_csv_format() {
  return csv_format("inferometer",
                    "arrival_s,prompt_tokens,output_tokens[,max_new_tokens][,session][,class][,priority]",
                    {CsvLayout::Clock::seconds, "arrival_s", "prompt_tokens", "output_tokens",
                     "max_new_tokens", "session", "class", "priority"});
}

}  // namespace inferometer
