// BurstGPT (github.com/HPMLL/BurstGPT): requests to Azure OpenAI services, times in seconds. Failed requests
// have 0 response tokens and are broken lines here: the authors' files "without fails", or skip_bad_lines,
// leave them out.

#include "workloads/csv_format.hpp"

namespace inferometer {

TraceFormat burstgpt_format() {
  return csv_format("burstgpt", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
                    {CsvLayout::Clock::seconds, "Timestamp", "Request tokens", "Response tokens"});
}

}  // namespace inferometer
