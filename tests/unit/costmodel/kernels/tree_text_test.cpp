// Codes of trees as text and back.

#include "costmodel/kernels/tree_text.hpp"

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

std::string complaint_about(const std::string& text) {
  try {
    codes_from_text(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a code is three digits of base 64 above -2^17") {
  // 2^17 = 32 * 64^2; digits are A-Z, a-z, 0-9, + and /: 32 is g, 63 is /.
  CHECK(tree_text({0}) == "gAA");
  CHECK(tree_text({1, -1}) == "gABf//");
  CHECK(tree_text({-131'072}) == "AAA");
  CHECK(tree_text({131'071}) == "///");
  CHECK(tree_text({26, 52, 62, 64}) == "gAagA0gA+gBA");
  CHECK(tree_text({}).empty());
}

TEST_CASE("every code reads back") {
  std::vector<int> codes;
  for (int code = -131'072; code <= 131'071; ++code) {
    codes.push_back(code);
  }
  CHECK(codes_from_text(tree_text(codes)) == codes);
  CHECK(codes_from_text("").empty());
}

TEST_CASE("every character that is no digit is refused, with its place") {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int byte = 0; byte < 256; ++byte) {
    std::string text = "gAAgAA";
    text[4] = static_cast<char>(byte);
    INFO("byte " << byte);
    if (kDigits.find(static_cast<char>(byte)) != std::string_view::npos) {
      CHECK(complaint_about(text).empty());
    } else {
      check_says(complaint_about(text), {"character 5 "});
    }
  }
}

TEST_CASE("a text of other than whole codes is refused") {
  for (const char* text : {"g", "gA", "gAAg", "gAAgA"}) {
    check_says(complaint_about(text), {"three characters a code", "cut off"});
  }
}

}  // namespace
}  // namespace inferometer
