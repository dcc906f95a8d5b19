// The traces of Mooncake (github.com/kvcache-ai/Mooncake): JSON lines with arrivals in milliseconds and the
// ids of the prompt's 512-token blocks. AIPerf and Dynamo write the same with sessions: a row with session_id
// and no timestamp comes `delay` milliseconds after the answer to its session's row before. Files of which
// no row has a timestamp are a format of their own here, "aiperf", as somebody must say how fast sessions
// come. Our own JSON lines (workloads/trace_writer.hpp) are the same again with further members.

#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "workloads/content_fields.hpp"
#include "workloads/json_line.hpp"
#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kBlockTokens = 512;
constexpr int kMilliseconds = -3;  // power of ten of a second

enum Member : std::size_t {
  timestamp,
  input_length,
  output_length,
  hash_ids,
  session_id,
  delay,
  max_new_tokens,
  service_class,
  priority,
  content,
  output_content,
  text_input
};

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

bool has_member(const std::string& line, std::string_view name) {
  return line.find(fmt::format("\"{}\"", name)) != std::string::npos;
}

bool is_mooncake(const std::string& line) {
  return line.starts_with('{') && has_member(line, "input_length") && !has_member(line, "chat_id");
}

class MooncakeReader : public RowReader {
 public:
  MooncakeReader(bool has_times, bool may_follow) : has_times_(has_times), may_follow_(may_follow) {}

  bool read(std::string_view line, TraceRow& row, LineError& error) override {
    if (!members_.read(line, error)) {
      return false;
    }
    row.session = members_.has(session_id) ? session_number(members_.value(session_id)) : -1;
    if (members_.has(text_input) && !members_.has(input_length)) {
      return members_.fail(
          text_input, "expected \"input_length\", found only \"text_input\", whose tokens nobody counted",
          error);
    }
    return read_time(row, error) && members_.read_tokens(input_length, false, row.prompt_tokens, error) &&
           members_.read_tokens(output_length, true, row.output_tokens, error) && read_content(row, error) &&
           read_labels(row, error);
  }

  [[nodiscard]] int time_column() const override {
    return members_.column_of(members_.has(timestamp) ? timestamp : delay);
  }

  [[nodiscard]] bool may_follow() const override { return may_follow_; }

  bool set_hash_block_tokens(std::int64_t tokens) override {
    block_tokens_ = tokens;
    return true;
  }

 private:
  bool read_time(TraceRow& row, LineError& error) const {
    row.follows = may_follow_ && members_.has(session_id) && !members_.has(timestamp);
    row.time = 0;
    if (members_.has(delay) && members_.has(timestamp)) {
      return members_.fail(delay, "expected \"timestamp\" or \"delay\", found both", error);
    }
    if (members_.has(delay) && !row.follows) {
      return members_.fail(
          delay,
          members_.has(session_id)
              ? "expected \"timestamp\", found \"delay\": a trace in which requests follow answers has "
                "\"session_id\" on one of its first two lines"
              : "expected \"session_id\" beside \"delay\": a request follows the answer before it in its "
                "session",
          error);
    }
    if (!has_times_ && members_.has(timestamp)) {
      return members_.fail(timestamp,
                           "expected no \"timestamp\", as on the first line: all sessions begin at times of "
                           "the trace, or none does",
                           error);
    }
    if (row.follows || !has_times_) {
      return !members_.has(delay) || members_.read_time(delay, kMilliseconds, row.time, error);
    }
    return members_.read_time(timestamp, kMilliseconds, row.time, error);
  }

  bool read_content(TraceRow& row, LineError& error) const {
    row.content.clear();
    if (members_.has(hash_ids) && members_.has(content)) {
      return members_.fail(content, "expected \"hash_ids\" or \"content\", found both", error);
    }
    const Member member = members_.has(content) ? content : hash_ids;
    if (!members_.has(member)) {
      return true;
    }
    const std::string fault =
        member == content
            ? read_content_runs(members_.value(content), row.prompt_tokens, row.content)
            : read_hash_ids(members_.value(hash_ids), row.prompt_tokens, block_tokens_, row.content);
    return fault.empty() ||
           members_.fail(
               member,
               fmt::format("expected {} {}", member == content ? "\"content\"" : "\"hash_ids\"", fault),
               error);
  }

  // What only our own files have.
  bool read_labels(TraceRow& row, LineError& error) const {
    using Label = std::numeric_limits<std::int32_t>;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    row.max_new_tokens.reset();
    std::int64_t limit = 0;
    std::int64_t class_number = 0;
    std::int64_t priority_number = 0;
    std::int64_t output_number = 0;
    if (!read_label(max_new_tokens, row.output_tokens, kMostTokens, limit, error) ||
        !read_label(service_class, 0, Label::max(), class_number, error) ||
        !read_label(priority, Label::min(), Label::max(), priority_number, error) ||
        !read_label(output_content, 1, kMost, output_number, error)) {
      return false;
    }
    if (limit > 0) {
      row.max_new_tokens = limit;
    }
    row.service_class = static_cast<std::int32_t>(class_number);
    row.priority = static_cast<std::int32_t>(priority_number);
    row.output_content = static_cast<std::uint64_t>(output_number);
    return true;
  }

  // Leaves `value` alone without the member.
  bool read_label(Member member, std::int64_t least, std::int64_t most, std::int64_t& value,
                  LineError& error) const {
    return !members_.has(member) || members_.read_integer_member(member, least, most, value, error);
  }

  JsonLine members_{{"timestamp", "input_length", "output_length", "hash_ids", "session_id", "delay",
                     "max_new_tokens", "class", "priority", "content", "output_content", "text_input"}};
  bool has_times_;
  bool may_follow_;
  std::int64_t block_tokens_ = kBlockTokens;
};

TraceFormat json_lines(std::string name, std::string looks_like, bool has_times) {
  TraceFormat format;
  format.name = std::move(name);
  format.looks_like = std::move(looks_like);
  format.has_header = false;
  format.has_times = has_times;
  format.hash_block_tokens = kBlockTokens;
  format.open = [has_times](const TraceSample& sample) -> std::unique_ptr<RowReader> {
    if (!is_mooncake(sample.first) || has_member(sample.first, "timestamp") != has_times) {
      return nullptr;
    }
    const bool has_sessions =
        has_member(sample.first, "session_id") || has_member(sample.second, "session_id");
    return std::make_unique<MooncakeReader>(has_times, has_sessions);
  };
  return format;
}

}  // namespace

TraceFormat mooncake_format() {
  return json_lines(
      "mooncake", R"({"timestamp": 0, "input_length": 758, "output_length": 500, "hash_ids": [0, 1]})", true);
}

TraceFormat aiperf_format() {
  TraceFormat format = json_lines(
      "aiperf", R"({"session_id": "a", "input_length": 758, "output_length": 500, "delay": 2000})", false);
  format.near_miss = [](const std::string& first_line) -> std::optional<LineError> {
    const std::size_t text = first_line.find("\"text_input\"");
    if (!first_line.starts_with('{') || text == std::string::npos) {
      return std::nullopt;
    }
    return LineError{
        static_cast<int>(text) + 1,
        "expected \"input_length\" (trace format aiperf), found only \"text_input\", whose tokens "
        "nobody counted"};
  };
  return format;
}

}  // namespace inferometer
