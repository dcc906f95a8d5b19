// Pairs of prompt and output lengths without times, such as the samples of ShareGPT that benchmarks draw
// from; under the column names of several tools. A time column may be there when it holds words (as "XXX")
// instead of times.

#include <array>

#include "workloads/csv_row_reader.hpp"

namespace inferometer {
namespace {

constexpr std::array<std::string_view, 8> kPromptNames{"prompt_tokens", "input_tokens",      "prompt_len",
                                                       "input_len",     "prompt_length",     "input_length",
                                                       "ContextTokens", "num_prefill_tokens"};
constexpr std::array<std::string_view, 8> kOutputNames{
    "output_tokens", "completion_tokens", "output_len",      "completion_len",
    "output_length", "generated_tokens",  "GeneratedTokens", "num_decode_tokens"};
constexpr std::array<std::string_view, 7> kTimeNames{"TIMESTAMP", "arrival_s", "arrived_at",  "arrival",
                                                     "time",      "time_s",    "arrival_time"};

bool has_times(const TraceSample& sample) {
  for (const std::string_view name : kTimeNames) {
    if (second_line_field(sample, name).find_first_of("0123456789") != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::unique_ptr<RowReader> open_lengths(const TraceSample& sample) {
  if (has_times(sample)) {
    return nullptr;
  }
  for (const std::string_view prompt : kPromptNames) {
    for (const std::string_view output : kOutputNames) {
      if (auto reader = open_csv(sample.first, CsvLayout{CsvLayout::Clock::none, "", prompt, output})) {
        return reader;
      }
    }
  }
  return nullptr;
}

}  // namespace

TraceFormat lengths_format() {
  TraceFormat format;
  format.name = "lengths";
  format.looks_like = "prompt_tokens,output_tokens";
  format.has_times = false;
  format.open = open_lengths;
  return format;
}

}  // namespace inferometer
