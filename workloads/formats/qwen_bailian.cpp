// Alibaba's Qwen-Bailian traces (github.com/alibaba-edu/qwen-bailian-usagetraces-anon): JSON lines with
// arrivals in seconds, the ids of the prompt's 16-token blocks and, for each chat, the one it goes on from
// (-1: none).

#include <string_view>
#include <unordered_map>

#include "workloads/json_line.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kBlockTokens = 16;
constexpr std::int64_t kNoParent = -1;

enum Member : std::size_t { timestamp, input_length, output_length, hash_ids, chat_id, parent_chat_id };

class QwenBailianReader : public RowReader {
 public:
  bool read(std::string_view line, TraceRow& row, LineError& error) override {
    std::int64_t chat = 0;
    std::int64_t parent = 0;
    if (!members_.read(line, error) || !members_.read_time(timestamp, 0, row.time, error) ||
        !members_.read_tokens(input_length, false, row.prompt_tokens, error) ||
        !members_.read_tokens(output_length, true, row.output_tokens, error) ||
        !members_.read_hashes(hash_ids, row.block_hashes, error) ||
        !members_.read_integer_member(chat_id, chat, error) ||
        !members_.read_integer_member(parent_chat_id, parent, error)) {
      return false;
    }
    if (chat < 0) {
      return members_.fail(chat_id, "expected \"chat_id\" to be 0 or more", error);
    }
    if (parent < kNoParent) {
      return members_.fail(parent_chat_id, "expected \"parent_chat_id\" to be -1 or more", error);
    }
    row.max_new_tokens.reset();
    row.service_class = 0;
    row.session = conversation_of(chat, parent);
    return true;
  }

  [[nodiscard]] int time_column() const override { return members_.column_of(timestamp); }

 private:
  // The first chat of the conversation. A parent that the trace does not show is taken for it.
  std::int64_t conversation_of(std::int64_t chat, std::int64_t parent) {
    std::int64_t root = chat;
    if (parent != kNoParent) {
      const auto found = root_of_.find(parent);
      root = found == root_of_.end() ? parent : found->second;
    }
    root_of_[chat] = root;
    return root;
  }

  JsonLine members_{{"timestamp", "input_length", "output_length", "hash_ids", "chat_id", "parent_chat_id"}};
  std::unordered_map<std::int64_t, std::int64_t> root_of_;
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
      R"({"chat_id": 159, "parent_chat_id": 55, "timestamp": 61.114, "input_length": 521, "output_length": 132, )"
      R"("type": "text", "turn": 2, "hash_ids": [1089, 1090]})";
  format.has_header = false;
  format.hash_block_tokens = kBlockTokens;
  format.open = [](const TraceSample& sample) -> std::unique_ptr<RowReader> {
    return is_qwen_bailian(sample.first) ? std::make_unique<QwenBailianReader>() : nullptr;
  };
  return format;
}

}  // namespace inferometer
