// The traces of Mooncake (github.com/kvcache-ai/Mooncake): JSON lines with arrivals in milliseconds and the
// ids of the prompt's 512-token blocks. AIPerf and Dynamo write the same with a session_id; their "delay"
// (think time after the previous answer, in place of a timestamp) would need a closed loop and is refused.

#include <string_view>

#include "workloads/json_line.hpp"
#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kBlockTokens = 512;
constexpr int kMilliseconds = -3;  // power of ten of a second

enum Member : std::size_t { timestamp, input_length, output_length, hash_ids, session_id, delay };

// A session's name as a number: itself when it is one, else its 64-bit FNV-1a hash less the sign bit.
std::int64_t session_number(std::string_view text) {
  std::int64_t number = 0;
  if (read_integer(text, number) && number >= 0) {
    return number;
  }
  constexpr std::uint64_t kOffset = 0xCBF29CE484222325;
  constexpr std::uint64_t kPrime = 0x100000001B3;
  std::uint64_t hash = kOffset;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  }
  return static_cast<std::int64_t>(hash >> 1);
}

class MooncakeReader : public RowReader {
 public:
  bool read(std::string_view line, TraceRow& row, LineError& error) override {
    if (!members_.read(line, error)) {
      return false;
    }
    if (members_.has(delay) && !members_.has(timestamp)) {
      return members_.fail(
          delay,
          "expected \"timestamp\", found \"delay\": requests that follow an earlier answer are not "
          "supported, only arrivals at fixed times",
          error);
    }
    row.max_new_tokens.reset();
    row.service_class = 0;
    row.session = members_.has(session_id) ? session_number(members_.value(session_id)) : -1;
    return members_.read_time(timestamp, kMilliseconds, row.time, error) &&
           members_.read_tokens(input_length, false, row.prompt_tokens, error) &&
           members_.read_tokens(output_length, true, row.output_tokens, error) &&
           members_.read_hashes(hash_ids, row.block_hashes, error);
  }

  [[nodiscard]] int time_column() const override { return members_.column_of(timestamp); }

 private:
  JsonLine members_{{"timestamp", "input_length", "output_length", "hash_ids", "session_id", "delay"}};
};

bool is_mooncake(const std::string& line) {
  return line.starts_with('{') && line.find("\"input_length\"") != std::string::npos &&
         line.find("\"chat_id\"") == std::string::npos;
}

}  // namespace

TraceFormat mooncake_format() {
  TraceFormat format;
  format.name = "mooncake";
  format.looks_like = R"({"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]})";
  format.has_header = false;
  format.hash_block_tokens = kBlockTokens;
  format.open = [](const TraceSample& sample) -> std::unique_ptr<RowReader> {
    return is_mooncake(sample.first) ? std::make_unique<MooncakeReader>() : nullptr;
  };
  return format;
}

}  // namespace inferometer
