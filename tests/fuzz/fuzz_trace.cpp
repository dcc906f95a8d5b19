// Feeds bytes to the trace readers. The first byte chooses the options and a beginning that leads into one of
// the formats (or none, so that the format is found from the bytes); the rest is the file. Whatever the bytes
// are, reading ends with requests that keep the promises of workloads/request.hpp, or with a TraceError.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "workloads/trace_reader.hpp"
#include "workloads/trace_statistics.hpp"

namespace {

constexpr std::array<std::string_view, 8> kBeginnings{
    "",
    "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n",
    "arrival_s,prompt_tokens,output_tokens,max_new_tokens,session,class\n0,1,1,,,\n",
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n",
    "arrived_at,num_prefill_tokens,num_decode_tokens\n",
    "prompt_tokens,output_tokens\n",
    "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [1]}\n",
    "{\"chat_id\": 1, \"parent_chat_id\": -1, \"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, "
    "\"hash_ids\": []}\n"};

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

inferometer::TraceOptions options_from(unsigned bits, bool has_times) {
  inferometer::TraceOptions options;
  options.skip_bad_lines = (bits & 1) != 0;
  options.sort = (bits & 2) != 0;
  if ((bits & 4) != 0) {
    options.rate_scale = 1e-5;
    options.window_start = inferometer::seconds(1);
  }
  if (!has_times) {
    options.rate = inferometer::PerSecond(2);
  }
  if ((bits & 16) != 0) {
    options.hash_block_tokens = 16;
  }
  return options;
}

void check(const inferometer::Request& request, std::int64_t id, inferometer::TimePoint previous) {
  require(request.id == id && request.arrival >= previous);
  require(request.prompt.count() >= 1 && request.output.count() >= 1 && request.max_new >= request.output);
  require(request.session >= -1 && request.service_class >= 0);
  std::int64_t left = request.content.empty() ? 0 : request.prompt.count();
  for (const inferometer::ContentRun& run : request.content) {
    require(run.id > 0 && run.tokens >= 1 && run.tokens <= left);
    left -= run.tokens;
  }
  require(left == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const unsigned first = data[0];
  const std::string_view beginning = kBeginnings[first % kBeginnings.size()];
  const bool is_free = beginning.empty();
  const bool has_times = !beginning.starts_with("prompt_tokens") && !(is_free && (first >> 3 & 8) != 0);
  std::string text(beginning);
  text.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const auto trace = inferometer::open_trace(inferometer::bytes_in_memory(text), "trace",
                                               options_from(first >> 3, has_times));
    inferometer::Request request;
    inferometer::TimePoint previous;
    for (std::int64_t id = 0; trace->next_arrival(); ++id) {
      trace->take(request);
      check(request, id, previous);
      previous = request.arrival;
      trace->finished(id, previous + inferometer::seconds(1));
    }
    const auto again = inferometer::open_trace(inferometer::bytes_in_memory(text), "trace",
                                               options_from(first >> 3, has_times));
    inferometer::gather_statistics(*again, again->hash_block_tokens());
  } catch (const inferometer::TraceError&) {
  }
  return 0;
}
