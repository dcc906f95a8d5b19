#include "workloads/content_fields.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/text.hpp"

namespace inferometer {
namespace {

constexpr std::uint64_t kLargestHashId = std::numeric_limits<std::uint64_t>::max() - 1;

/// Walks over a text of brackets, commas, blanks and whole numbers.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : next_(text.data()), end_(text.data() + text.size()) {}

  /// Passes `c` and the blanks before it, when that is what comes.
  bool pass(char c) {
    while (next_ != end_ && (*next_ == ' ' || *next_ == '\t')) {
      ++next_;
    }
    if (next_ == end_ || *next_ != c) {
      return false;
    }
    ++next_;
    return true;
  }

  template <class Number>
  bool read(Number& number) {
    while (next_ != end_ && (*next_ == ' ' || *next_ == '\t')) {
      ++next_;
    }
    const auto [stop, code] = std::from_chars(next_, end_, number);
    next_ = stop;
    return code == std::errc();
  }

 private:
  const char* next_;
  const char* end_;
};

std::string unreadable_ids(std::string_view text) {
  return fmt::format("to be an array of whole numbers from 0 to {}, found {}", kLargestHashId,
                     quoted_excerpt(text));
}

std::string unreadable_runs(std::string_view text) {
  return fmt::format("to be an array of pairs [number, tokens], both 1 or more, found {}",
                     quoted_excerpt(text));
}

}  // namespace

std::string read_hash_ids(std::string_view text, std::int64_t prompt_tokens, std::int64_t block_tokens,
                          std::vector<ContentRun>& content) {
  INFEROMETER_CHECK(block_tokens >= 1, "a hash id stands for tokens");
  content.clear();
  Scanner scanner(text);
  if (!scanner.pass('[')) {
    return unreadable_ids(text);
  }
  if (scanner.pass(']')) {
    return "";
  }
  do {
    std::uint64_t id = 0;
    if (!scanner.read(id) || id > kLargestHashId) {
      return unreadable_ids(text);
    }
    content.push_back({id + 1, block_tokens});
  } while (scanner.pass(','));
  if (!scanner.pass(']')) {
    return unreadable_ids(text);
  }
  const std::int64_t blocks = (prompt_tokens - 1) / block_tokens + 1;
  if (static_cast<std::int64_t>(content.size()) != blocks) {
    return fmt::format("to have {} ids, one for each {} tokens begun of the prompt's {}, found {}", blocks,
                       block_tokens, prompt_tokens, content.size());
  }
  content.back().tokens = prompt_tokens - (blocks - 1) * block_tokens;
  return "";
}

std::string read_content_runs(std::string_view text, std::int64_t prompt_tokens,
                              std::vector<ContentRun>& content) {
  content.clear();
  Scanner scanner(text);
  if (!scanner.pass('[')) {
    return unreadable_runs(text);
  }
  std::int64_t left = prompt_tokens;
  do {
    ContentRun run;
    if (!scanner.pass('[') || !scanner.read(run.id) || run.id == 0 || !scanner.pass(',') ||
        !scanner.read(run.tokens) || run.tokens < 1 || !scanner.pass(']')) {
      return unreadable_runs(text);
    }
    if (run.tokens > left) {
      left = -1;
      break;
    }
    left -= run.tokens;
    content.push_back(run);
  } while (scanner.pass(','));
  if (left != 0) {
    return fmt::format("to add up to the prompt's {} tokens, found {}", prompt_tokens,
                       left < 0 ? "more" : fmt::format("{}", prompt_tokens - left));
  }
  return scanner.pass(']') ? "" : unreadable_runs(text);
}

bool append_hash_ids(const std::vector<ContentRun>& content, std::int64_t block_tokens, std::string& text) {
  if (content.empty() || content.back().tokens > block_tokens ||
      std::any_of(content.begin(), content.end() - 1,
                  [block_tokens](const ContentRun& run) { return run.tokens != block_tokens; })) {
    return false;
  }
  text += '[';
  for (const ContentRun& run : content) {
    fmt::format_to(std::back_inserter(text), "{}{}", &run == content.data() ? "" : ", ", run.id - 1);
  }
  text += ']';
  return true;
}

void append_content_runs(const std::vector<ContentRun>& content, std::string& text) {
  text += '[';
  for (const ContentRun& run : content) {
    fmt::format_to(std::back_inserter(text), "{}[{}, {}]", &run == content.data() ? "" : ", ", run.id,
                   run.tokens);
  }
  text += ']';
}

}  // namespace inferometer
