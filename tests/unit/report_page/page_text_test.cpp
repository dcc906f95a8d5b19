#include "sim/report/page/page_text.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

namespace inferometer {

TEST_CASE("text becomes neither elements nor the end of an attribute") {
  CHECK(html_escaped("<b a=\"1\" c='2'>&amp;</b>") ==
        "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
  CHECK(html_escaped("µs\tand\nlines") == "µs\tand\nlines");
}

TEST_CASE("what is no text is replaced") {
  // NUL, escape, delete; a lone continuation byte; an overlong slash; a truncated character.
  CHECK(html_escaped(std::string_view("a\0b\x1b\x7f", 5)) == "a\uFFFDb\uFFFD\uFFFD");
  CHECK(html_escaped("a\x80z") == "a\uFFFDz");
  CHECK(html_escaped("\xC0\xAF") == "\uFFFD\uFFFD");
  CHECK(html_escaped("ok\xE2\x80") == "ok\uFFFD\uFFFD");
}

TEST_CASE("JSON strings cannot end a script and read back as they were") {
  for (const std::string text : {"</script><!-- & -->", "quote \" backslash \\ both \\\"", "line\nfeed\ttab",
                                 "U+2028 \u2028 and U+2029 \u2029", "µ € 😀", ""}) {
    const std::string json = json_string(text);
    CHECK(nlohmann::json::parse(json).get<std::string>() == text);
    CHECK(json.find_first_of("<>&\n\t") == std::string::npos);
    CHECK((json.find("\u2028") == std::string::npos && json.find("\u2029") == std::string::npos));
  }
  CHECK(nlohmann::json::parse(json_string(std::string_view("a\0\x80", 3))).get<std::string>() ==
        "a\uFFFD\uFFFD");
}

TEST_CASE("exact numbers read back as they were") {
  for (const double number : {0.1, 1.0 / 3, 1e300, 5e-324, -220.43125, 12345678901234567.0, 0.0}) {
    CHECK(nlohmann::json::parse(exact_number(number)).get<double>() == number);
  }
  CHECK(exact_number(0.1) == "0.1");
  for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    CHECK_THROWS_AS(exact_number(number), std::logic_error);
    CHECK_THROWS_AS(readable_number(number), std::logic_error);
  }
}

TEST_CASE("readable numbers have six digits and no exponent where people need none") {
  CHECK(readable_number(0) == "0");
  CHECK(readable_number(-0.0) == "0");
  CHECK(readable_number(1) == "1");
  CHECK(readable_number(0.30000000000000004) == "0.3");
  CHECK(readable_number(220.431257) == "220.431");
  CHECK(readable_number(1234567.8) == "1234568");
  CHECK(readable_number(-1.5) == "-1.5");
  CHECK(readable_number(0.0001234567) == "0.000123457");
  CHECK(readable_number(0.000012345) == "1.2345e-05");
  CHECK(readable_number(999999.96) == "1000000");
  CHECK(readable_number(2.5e15) == "2.5e+15");
}

}  // namespace inferometer
