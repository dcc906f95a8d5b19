#include "sim/engine_arguments/shell_words.hpp"

#include <utility>

namespace inferometer {
namespace {

constexpr std::string_view kWhite = " \t\r\n";
/// What a backslash takes its meaning from inside double quotes.
constexpr std::string_view kEscapedInQuotes = "\"\\$`";

class Splitter {
 public:
  Splitter(std::string_view text, const std::string& name) : text_(text), here_{name, 1, 1} {}

  std::vector<ShellWord> split() {
    while (!is_end()) {
      const char c = text_[at_];
      if (kWhite.find(c) != std::string_view::npos) {
        end_word();
        advance();
      } else if (c == '\\') {
        backslash();
      } else if (c == '\'' || c == '"') {
        quoted(c);
      } else {
        begin_word();
        word_.text += c;
        advance();
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  [[nodiscard]] bool is_end() const { return at_ == text_.size(); }

  void advance() {
    ++here_.column;
    if (text_[at_++] == '\n') {
      ++here_.line;
      here_.column = 1;
    }
  }

  void begin_word() {
    if (!is_word_) {
      word_ = {"", here_};
      is_word_ = true;
    }
  }

  void end_word() {
    if (is_word_) {
      words_.push_back(std::move(word_));
      is_word_ = false;
    }
  }

  /// How many characters the end of a line takes at that place; 0 when there is none.
  [[nodiscard]] std::size_t line_end(std::size_t at) const {
    const std::string_view rest = text_.substr(at);
    return rest.starts_with("\r\n") ? 2 : static_cast<std::size_t>(rest.starts_with("\n"));
  }

  /// Outside of quotes. One at the very end continues a line that was not pasted with the rest.
  void backslash() {
    const std::size_t line = line_end(at_ + 1);
    if (line > 0 || at_ + 1 == text_.size()) {
      for (std::size_t i = 0; i <= line; ++i) {
        advance();
      }
      return;
    }
    begin_word();
    advance();
    word_.text += text_[at_];
    advance();
  }

  void quoted(char quote) {
    const Position begin = here_;
    begin_word();  // '' is a word, too
    advance();
    while (!is_end() && text_[at_] != quote) {
      if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size()) {
        const std::size_t line = line_end(at_ + 1);
        if (line > 0 || kEscapedInQuotes.find(text_[at_ + 1]) != std::string_view::npos) {
          advance();
          for (std::size_t i = 1; i < line; ++i) {
            advance();
          }
          word_.text += line > 0 ? "" : std::string(1, text_[at_]);
          advance();
          continue;
        }
      }
      word_.text += text_[at_];
      advance();
    }
    if (is_end()) {
      throw ConfigError(begin, std::string("the quote ") + quote + " that begins here is not closed");
    }
    advance();
  }

  std::string_view text_;
  Position here_;
  std::size_t at_ = 0;
  bool is_word_ = false;
  ShellWord word_;
  std::vector<ShellWord> words_;
};

}  // namespace

std::vector<ShellWord> split_shell_words(std::string_view text, const std::string& name) {
  return Splitter(text, name).split();
}

}  // namespace inferometer
