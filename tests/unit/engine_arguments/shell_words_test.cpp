// What `sh -c "printf '%s\n' WORDS"` prints of the same words (POSIX shell command language, 2.2 Quoting).

#include "sim/engine_arguments/shell_words.hpp"

#include <string>
#include <vector>

#include "base/error.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

std::vector<std::string> texts(const std::string& line) {
  std::vector<std::string> all;
  for (const ShellWord& word : split_shell_words(line, "--args")) {
    all.push_back(word.text);
  }
  return all;
}

using Words = std::vector<std::string>;

TEST_CASE("words stand between white space, and quotes and backslashes are as in a shell") {
  CHECK(texts("  serve\tm  -tp 2\n") == Words{"serve", "m", "-tp", "2"});
  CHECK(texts(R"(--c '{"a": "b c"}' x)") == Words{"--c", R"({"a": "b c"})", "x"});
  CHECK(texts(R"(--c "{\"a\": 1}")") == Words{"--c", R"({"a": 1})"});
  CHECK(texts(R"("a\b" 'a\b' a\b a\ b)") == Words{R"(a\b)", R"(a\b)", "ab", "a b"});
  CHECK(texts(R"(--x='a b'"c d"e '' "")") == Words{"--x=a bc de", "", ""});
  CHECK(texts("").empty());
}

TEST_CASE("a backslash before the end of a line goes on in the next, one at the very end is none") {
  CHECK(texts("serve m \\\n  -tp 2 \\\n") == Words{"serve", "m", "-tp", "2"});
  CHECK(texts("serve m \\\r\n  -tp 2 \\") == Words{"serve", "m", "-tp", "2"});
  CHECK(texts("a\\\nb \"c\\\nd\"") == Words{"ab", "cd"});
  CHECK(texts("'a\\\nb'") == Words{"a\\\nb"});
}

TEST_CASE("a word stands at its first character, a quote among them") {
  const std::vector<ShellWord> words = split_shell_words("serve 'm n' \\\n  -tp 2", "--args");
  REQUIRE(words.size() == 4);
  CHECK(to_string(words[0].where) == "--args:1:1");
  CHECK(to_string(words[1].where) == "--args:1:7");
  CHECK(to_string(words[2].where) == "--args:2:3");
  CHECK(to_string(words[3].where) == "--args:2:7");
}

TEST_CASE("a quote that is not closed is a mistake where it begins") {
  try {
    split_shell_words("serve m\n --c '{\"a\": 1}", "--args");
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) == "--args:2:6: the quote ' that begins here is not closed");
  }
}

}  // namespace
}  // namespace inferometer
