// The Azure LLM inference traces of 2023 and 2024 (github.com/Azure/AzurePublicDataset): code and
// conversation services, times with up to 9 digits of a second, 2024 with "+00:00".

#include "workloads/csv_format.hpp"
#include "workloads/csv_row_reader.hpp"

namespace inferometer {
namespace {

constexpr CsvLayout kLayout{CsvLayout::Clock::timestamp, "TIMESTAMP", "ContextTokens", "GeneratedTokens"};

// Length lists made from these traces keep the header and write a word for the time: those belong to
// "lengths".
bool has_dates(const TraceSample& sample) {
  const std::string time = second_line_field(sample, kLayout.time);
  return time.empty() || time.find_first_of("0123456789") != std::string::npos;
}

}  // namespace

TraceFormat azure_format() {
  TraceFormat format = csv_format("azure", "TIMESTAMP,ContextTokens,GeneratedTokens", kLayout);
  format.open = [](const TraceSample& sample) {
    return has_dates(sample) ? open_csv(sample.first, kLayout) : nullptr;
  };
  return format;
}

}  // namespace inferometer
