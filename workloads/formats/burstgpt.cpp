// BurstGPT (github.com/HPMLL/BurstGPT): requests to Azure OpenAI services, times in seconds. Failed requests
// have 0 response tokens and are broken lines here: the authors' files "without fails", or skip_bad_lines,
// leave them out.

#include "workloads/csv_row_reader.hpp"

namespace inferometer {

TraceFormat burstgpt_format() {
  TraceFormat format;
  format.name = "burstgpt";
  format.looks_like = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type";
  format.open = [](const TraceSample& sample) {
    return open_csv(sample.first,
                    CsvLayout{CsvLayout::Clock::seconds, "Timestamp", "Request tokens", "Response tokens"});
  };
  return format;
}

}  // namespace inferometer
