// The fast readers of numbers against the strict ones, on random texts near and on the border of what the
// fast ones know. Behind every text stands random text, as in a line.

#include "workloads/plain_numbers.hpp"

#include <cstdio>
#include <iterator>
#include <optional>
#include <string>

#include "base/random.hpp"
#include "tests/support/catch.hpp"
#include "workloads/trace_fields.hpp"

using namespace inferometer;

namespace {

constexpr int kTexts = 200'000;
constexpr std::int64_t kSecond = 1'000'000'000'000;

std::string any_of(RandomStream& random, std::string_view characters, std::uint64_t most) {
  std::string text;
  for (std::uint64_t left = random.below(most + 1); left > 0; --left) {
    text += characters[random.below(characters.size())];
  }
  return text;
}

std::string digits(RandomStream& random, std::uint64_t most) {
  return any_of(random, "0123456789", most);
}

/// The text somewhere in a longer one.
class InLine {
 public:
  InLine(const std::string& text, RandomStream& random)
      : size_(text.size()), line_(text + any_of(random, "0123456789.,:-+eE \n\"\xFF", 40)) {
    line_.resize(size_ + kPlainNumberPadding + 40, '7');
  }
  [[nodiscard]] std::string_view text() const { return std::string_view(line_).substr(0, size_); }

 private:
  std::size_t size_;
  std::string line_;
};

using TimeReader = bool (*)(std::string_view, WidePicoseconds&);

bool read_strict_seconds(std::string_view text, WidePicoseconds& time) {
  return read_seconds(text, 0, time);
}

// Whether the fast reader took the text; what it took must be what the strict one says.
bool taken(TimeReader plain, TimeReader strict, const std::string& text, RandomStream& random) {
  const InLine line(text, random);
  WidePicoseconds fast = 0;
  if (!plain(line.text(), fast)) {
    return false;
  }
  WidePicoseconds exact = -1;
  if (!strict(line.text(), exact) || exact != fast) {
    FAIL("read differently: " << text);
  }
  return true;
}

std::optional<std::int64_t> plain_seconds(const std::string& text) {
  RandomStream random(1, "test");
  WidePicoseconds time = 0;
  return read_plain_seconds(InLine(text, random).text(), time)
             ? std::optional(static_cast<std::int64_t>(time))
             : std::nullopt;
}

std::optional<std::int64_t> plain_integer(const std::string& text) {
  RandomStream random(1, "test");
  std::int64_t value = 0;
  return read_plain_integer(InLine(text, random).text(), value) ? std::optional(value) : std::nullopt;
}

std::string random_timestamp(RandomStream& random) {
  const auto two_digits = [&random](std::uint64_t bound) {
    const std::uint64_t number = random.below(bound);
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  std::string text = std::to_string(1900 + random.below(300)) + "-" + two_digits(14) + "-" + two_digits(33) +
                     (random.below(2) == 0 ? " " : "T") + two_digits(25) + ":" + two_digits(61) + ":" +
                     two_digits(61);
  text += random.below(4) == 0 ? "" : "." + digits(random, 11);
  constexpr std::string_view kOffsets[] = {"", "", "+00:00", "Z", "+02:30", "-00:00", "+00:0", " "};
  text += kOffsets[random.below(std::size(kOffsets))];
  if (random.below(4) == 0) {
    text[random.below(text.size())] = "0123456789-: .TZ/;"[random.below(18)];
  }
  return text;
}

}  // namespace

TEST_CASE("plain numbers have the value they write", "[plain_numbers]") {
  CHECK(plain_integer("0") == 0);
  CHECK(plain_integer("7") == 7);
  CHECK(plain_integer("2048") == 2048);
  CHECK(plain_integer("00000012") == 12);
  CHECK(plain_integer("98765432") == 98'765'432);
  CHECK(plain_seconds("0") == 0);
  CHECK(plain_seconds("01234567") == 1'234'567 * kSecond);
  CHECK(plain_seconds("3.") == 3 * kSecond);
  CHECK(plain_seconds("0.1") == kSecond / 10);
  CHECK(plain_seconds("1.12345678") == kSecond + 123'456'780'000);
  CHECK(plain_seconds("1.123456789") == kSecond + 123'456'789'000);
  CHECK(plain_seconds("1234567.123456789012") == 1'234'567'123'456'789'012);
}

TEST_CASE("what is no plain number is left to the strict readers", "[plain_numbers]") {
  for (const char* text : {"", "-1", "+1", "123456789", "1x", "x", " 1", "1 ", "1.", "1e1"}) {
    INFO(text);
    CHECK_FALSE(plain_integer(text).has_value());
  }
  for (const char* text :
       {"", ".", ".5", "-1", "123456789", "1.1234567890123", "1e1", "1.5e1", "1.2.3", "1 ", "1,"}) {
    INFO(text);
    CHECK_FALSE(plain_seconds(text).has_value());
  }
}

TEST_CASE("whole numbers are read alike fast and strictly", "[plain_numbers]") {
  RandomStream random(1, "test/integers");
  int count = 0;
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = i % 2 == 0 ? digits(random, 10) : any_of(random, "0123456789+- .e", 10);
    const InLine line(text, random);
    std::int64_t fast = 0;
    if (read_plain_integer(line.text(), fast)) {
      std::int64_t exact = -1;
      if (!read_integer(line.text(), exact) || exact != fast) {
        FAIL("read differently: " << text);
      }
      ++count;
    }
  }
  // Of the lengths 0 to 10, half of the texts being digits, 8 in 11 are plain.
  CHECK(count > kTexts / 3);
}

TEST_CASE("seconds are read alike fast and strictly", "[plain_numbers]") {
  RandomStream random(2, "test/seconds");
  int count = 0;
  for (int i = 0; i < kTexts; ++i) {
    std::string text;
    if (i % 2 == 0) {
      text = digits(random, 12) + (random.below(4) == 0 ? "" : "." + digits(random, 16)) +
             (random.below(8) == 0 ? any_of(random, "eE+-0123456789", 4) : "");
    } else {
      text = any_of(random, "0123456789..eE+-", 24);
    }
    count += taken(read_plain_seconds, read_strict_seconds, text, random) ? 1 : 0;
  }
  CHECK(count > kTexts / 5);
}

TEST_CASE("time stamps are read alike fast and strictly", "[plain_numbers]") {
  RandomStream random(3, "test/timestamps");
  int count = 0;
  for (int i = 0; i < kTexts; ++i) {
    count += taken(read_plain_timestamp, read_timestamp, random_timestamp(random), random) ? 1 : 0;
  }
  CHECK(count > kTexts / 8);
}

TEST_CASE("every second and every day of some years is a plain time stamp", "[plain_numbers]") {
  RandomStream random(4, "test/calendar");
  WidePicoseconds time = 0;
  for (std::int64_t second = 0; second < 86'400; ++second) {
    char clock[16];
    std::snprintf(clock, sizeof(clock), "%02d:%02d:%02d", static_cast<int>(second / 3600),
                  static_cast<int>(second / 60 % 60), static_cast<int>(second % 60));
    const InLine line("1970-01-01 " + std::string(clock), random);
    REQUIRE(read_plain_timestamp(line.text(), time));
    REQUIRE(time == static_cast<WidePicoseconds>(second) * kSecond);
  }
  // From 2023-01-01, day 19358 since 1970, over the leap day of 2024.
  constexpr int kMonthDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  std::int64_t day = 19'358;
  for (int year = 2023; year <= 2025; ++year) {
    for (int month = 1; month <= 12; ++month) {
      const int days = kMonthDays[month - 1] + (year == 2024 && month == 2 ? 1 : 0);
      for (int of_month = 1; of_month <= days; ++of_month, ++day) {
        char date[32];
        std::snprintf(date, sizeof(date), "%04d-%02d-%02dT00:00:00", year, month, of_month);
        REQUIRE(read_plain_timestamp(InLine(date, random).text(), time));
        REQUIRE(time == static_cast<WidePicoseconds>(day * 86'400) * kSecond);
      }
    }
  }
}
