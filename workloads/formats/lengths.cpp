// Pairs of prompt and output lengths without times, such as the samples of ShareGPT that benchmarks draw
// from; under the column names of several tools. A time column may be there when it holds words (as "XXX")
// instead of times.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/suggest.hpp"
#include "base/text_input/csv_fields.hpp"
#include "workloads/csv_row_reader.hpp"

namespace inferometer {
namespace {

constexpr std::array<std::string_view, 8> kPromptNames{"prompt_tokens", "input_tokens",      "prompt_len",
                                                       "input_len",     "prompt_length",     "input_length",
                                                       "ContextTokens", "num_prefill_tokens"};
constexpr std::array<std::string_view, 8> kOutputNames{
    "output_tokens", "completion_tokens", "output_len",      "completion_len",
    "output_length", "generated_tokens",  "GeneratedTokens", "num_decode_tokens"};

/// Whether a column of that name says when a request came: a file with such times, in a unit or under a name
/// that no format has, or mistyped, must not be taken for one without.
bool names_arrival(std::string_view column) {
  static const std::vector<std::string> time_names{"arrival_s", "arrived_at", "timestamp"};
  std::string name;
  for (const char c : column) {
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const bool clock = name == "ts" || name.starts_with("ts_") || name == "t" || name.ends_with("_at");
  const bool time = name == "time" || name.starts_with("time_s") || name.starts_with("time_m") ||
                    name.ends_with("start_time") || name.ends_with("request_time");
  const bool date = name.find("date") == 0 || name.find("timestamp") != std::string::npos;
  return clock || time || date || name.find("arriv") != std::string::npos ||
         !nearest_word(name, time_names).empty();
}

bool has_times(const TraceSample& sample) {
  CsvFields header;
  CsvFields fields;
  LineError ignored;
  if (!header.split(sample.first, ignored) || !fields.split(sample.second, ignored)) {
    return false;
  }
  for (std::size_t i = 0; i < std::min(header.size(), fields.size()); ++i) {
    if (fields[i].find_first_of("0123456789") != std::string::npos && names_arrival(trimmed(header[i]))) {
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
