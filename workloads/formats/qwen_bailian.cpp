// Alibaba's Qwen-Bailian traces (github.com/alibaba-edu/qwen-bailian-usagetraces-anon): JSON lines with
// arrivals in seconds, the ids of the prompt's 16-token blocks and, for each chat, the one it goes on from
// (-1: none).

#include <limits>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "workloads/content_fields.hpp"
#include "workloads/json_line.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kBlockTokens = 16;
constexpr std::int64_t kNoParent = -1;

enum Member : std::size_t { timestamp, input_length, output_length, hash_ids, chat_id, parent_chat_id };

class QwenBailianReader : public RowReader {
 public:
  bool read(std::string_view line, TraceRow& row, LineError& error) override {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    std::int64_t chat = 0;
    std::int64_t parent = 0;
    if (!members_.read(line, error) || !members_.read_time(timestamp, 0, row.time, error) ||
        !members_.read_tokens(input_length, false, row.prompt_tokens, error) ||
        !members_.read_tokens(output_length, true, row.output_tokens, error) || !read_content(row, error) ||
        !members_.read_integer_member(chat_id, 0, kMost, chat, error) ||
        !members_.read_integer_member(parent_chat_id, kNoParent, kMost, parent, error)) {
      return false;
    }
    row.follows = false;
    row.max_new_tokens.reset();
    row.service_class = 0;
    row.priority = 0;
    row.output_content = 0;
    return find_conversation(chat, parent, row.session, error);
  }

  [[nodiscard]] int time_column() const override { return members_.column_of(timestamp); }

 private:
  bool read_content(TraceRow& row, LineError& error) const {
    row.content.clear();
    if (!members_.has(hash_ids)) {
      return true;
    }
    const std::string fault =
        read_hash_ids(members_.value(hash_ids), row.prompt_tokens, kBlockTokens, row.content);
    return fault.empty() || members_.fail(hash_ids, "expected \"hash_ids\" " + fault, error);
  }

  // The first chat of the conversation. A parent that the trace does not show before is taken for it, as
  // traces are cut out of longer ones; when it comes later after all, chats go on from one another in a
  // circle, or from what was not yet said.
  bool find_conversation(std::int64_t chat, std::int64_t parent, std::int64_t& session, LineError& error) {
    if (parent == chat) {
      return members_.fail(parent_chat_id,
                           "expected \"parent_chat_id\" to be another chat, found the chat itself", error);
    }
    if (root_of_.contains(chat)) {
      return members_.fail(
          chat_id,
          fmt::format("expected each \"chat_id\" once, and before those that go on from it, found {} again",
                      chat),
          error);
    }
    session = parent == kNoParent ? chat : root_of_.try_emplace(parent, parent).first->second;
    root_of_[chat] = session;
    return true;
  }

  JsonLine members_{{"timestamp", "input_length", "output_length", "hash_ids", "chat_id", "parent_chat_id"}};
  std::unordered_map<std::int64_t, std::int64_t> root_of_;  ///< by every chat that was named
};

bool is_qwen_bailian(const std::string& line) {
  return line.starts_with('{') && line.find("\"chat_id\"") != std::string::npos &&
         line.find("\"input_length\"") != std::string::npos;
}

}  // namespace

TraceFormat qwen_bailian_format() {
  TraceFormat format;
  format.name = "qwen_bailian";
  format.looks_like =
      R"({"chat_id": 159, "parent_chat_id": 55, "timestamp": 61.114, "input_length": 21, "output_length": 132, )"
      R"("type": "text", "turn": 2, "hash_ids": [1089, 1090]})";
  format.has_header = false;
  format.hash_block_tokens = kBlockTokens;
  format.open = [](const TraceSample& sample) -> std::unique_ptr<RowReader> {
    return is_qwen_bailian(sample.first) ? std::make_unique<QwenBailianReader>() : nullptr;
  };
  return format;
}

}  // namespace inferometer
