#include "workloads/trace_fields.hpp"

#include <limits>
#include <optional>

#include "base/text.hpp"
#include "tests/support/catch.hpp"
#include "workloads/rate_scaler.hpp"

using namespace inferometer;

namespace {

std::optional<std::int64_t> seconds_ps(std::string_view text, int power = 0) {
  WidePicoseconds time = 0;
  if (!read_seconds(text, power, time)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(time);
}

// Picoseconds after the given second since 1970.
std::optional<std::int64_t> after(std::int64_t unix_seconds, std::string_view text) {
  WidePicoseconds time = 0;
  if (!read_timestamp(text, time)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(time - static_cast<WidePicoseconds>(unix_seconds) * 1'000'000'000'000);
}

}  // namespace

TEST_CASE("decimal seconds are exact to the picosecond", "[trace_fields]") {
  CHECK(seconds_ps("0") == 0);
  CHECK(seconds_ps("12") == 12'000'000'000'000);
  CHECK(seconds_ps("0.1") == 100'000'000'000);
  CHECK(seconds_ps(".5") == 500'000'000'000);
  CHECK(seconds_ps("3.") == 3'000'000'000'000);
  CHECK(seconds_ps("1234567.123456789012") == 1'234'567'123'456'789'012);
  CHECK(seconds_ps("0.0000000000014") == 1);
  CHECK(seconds_ps("0.0000000000015") == 2);
  CHECK(seconds_ps("0.00000000000149999999999999999999999999999999999") == 1);
  CHECK(seconds_ps("00000000000000000000000000000000000001") == 1'000'000'000'000);
  CHECK(seconds_ps("9.5e-05") == 95'000'000);
  CHECK(seconds_ps("1E2") == 100'000'000'000'000);
  CHECK(seconds_ps("1e+2") == 100'000'000'000'000);
  CHECK(seconds_ps("1e-200") == 0);
  CHECK(seconds_ps("27482", -3) == 27'482'000'000'000);
  CHECK(seconds_ps("27482.000000001", -3) == 27'482'000'000'001);
}

TEST_CASE("what is not a time in seconds is refused", "[trace_fields]") {
  for (const char* text :
       {"", ".", "-1", "+1", "1,5", "1.2.3", "abc", "1e", "1e+", "1e+-2", "e5", "nan", "inf", "0x10", " 1",
        "1 ", "1e400", "10000000000000", "99999999999999999999999999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(seconds_ps(text).has_value());
  }
}

// Unix times from the calendar: 2023-11-16 is day 19677, 2024-02-29 is day 19782.
TEST_CASE("time stamps are exact and know the calendar", "[trace_fields]") {
  const std::int64_t azure = 19'677 * 86'400 + 18 * 3'600 + 15 * 60 + 46;
  CHECK(after(azure, "2023-11-16 18:15:46.6805900") == 680'590'000'000);
  CHECK(after(azure, "2023-11-16T18:15:46.123456789Z") == 123'456'789'000);
  CHECK(after(azure, "2023-11-16 18:15:46") == 0);
  CHECK(after(azure, "2023-11-16 18:15:46+00:00") == 0);
  CHECK(after(azure, "2023-11-16 20:45:46.5+02:30") == 500'000'000'000);
  CHECK(after(azure, "2023-11-16 17:15:46-01:00") == 0);
  CHECK(after(19'782 * 86'400, "2024-02-29 00:00:00") == 0);
  CHECK(after(0, "1970-01-01 00:00:00.000000001") == 1'000);
}

TEST_CASE("what is not a time stamp is refused", "[trace_fields]") {
  for (const char* text :
       {"", "XXX", "2023-11-16", "2023-02-29 00:00:00", "2023-13-01 00:00:00", "2023-00-01 00:00:00",
        "2023-04-31 00:00:00", "2023-11-16 24:00:00", "2023-11-16 18:60:46", "2023-11-16 18:15:60",
        "2023-11-16 18:15:46.", "2023/11/16 18:15:46", "2023-11-16 18:15:46.1234567890",
        "2023-11-16 18:15:46 ", "2023-11-16 18:15:46+0000", "2023-11-16 18:15:46z", "2023-11-16_18:15:46",
        "2023-11-16 18-15-46", "23-11-16 18:15:46.00"}) {
    INFO(text);
    CHECK_FALSE(after(0, text).has_value());
  }
}

TEST_CASE("decimal text drops zeros behind the point", "[trace_fields]") {
  CHECK(decimal_text(0, 12) == "0");
  CHECK(decimal_text(1, 12) == "0.000000000001");
  CHECK(decimal_text(1'500, 3) == "1.5");
  CHECK(decimal_text(20'000, 3) == "20");
  CHECK(decimal_text(-250, 3) == "-0.25");
  CHECK(decimal_text(std::numeric_limits<std::int64_t>::max(), 12) == "9223372.036854775807");
}

TEST_CASE("found text is shown printable and short", "[trace_fields]") {
  CHECK(quoted_excerpt("abc") == "\"abc\"");
  CHECK(quoted_excerpt(std::string_view("a\0\n\xFF", 4)) == "\"a\\x00\\x0a\\xff\"");
  CHECK(quoted_excerpt(std::string(61, 'x')) == "\"" + std::string(60, 'x') + "...\"");
}

TEST_CASE("a rate factor divides times to the nearest picosecond", "[rate_scaler]") {
  CHECK(RateScaler(1).divide(Duration(7)) == Duration(7));
  CHECK(RateScaler(2).divide(Duration(7)) == Duration(4));  // 3.5: halves up
  CHECK(RateScaler(4).divide(Duration(5)) == Duration(1));
  CHECK(RateScaler(3).divide(Duration(10)) == Duration(3));
  CHECK(RateScaler(1.5).divide(Duration(10)) == Duration(7));  // 6.67
  CHECK(RateScaler(0.5).divide(Duration(7)) == Duration(14));
  CHECK(RateScaler(0.1).divide(seconds(1)) == seconds(10));
  // The double nearest to 0.0001 is 0.000100000000000000004792...: 1 s becomes 10^16 ps - 0.48 ps.
  CHECK(RateScaler(0.0001).divide(seconds(1)) == seconds(10'000));
  CHECK(RateScaler(1e30).divide(seconds(1'000'000)) == Duration(0));
  CHECK(RateScaler(1e-30).divide(Duration(0)) == Duration(0));
}

TEST_CASE("a rate factor that stretches beyond 106 days gives nothing", "[rate_scaler]") {
  const Duration longest(std::numeric_limits<std::int64_t>::max());
  CHECK(RateScaler(1).divide(longest) == longest);
  CHECK(RateScaler(0.5).divide(Duration(longest.count() / 2)) == Duration(longest.count() - 1));
  CHECK_FALSE(RateScaler(0.5).divide(Duration(longest.count() / 2 + 1)).has_value());
  CHECK_FALSE(RateScaler(1e-300).divide(Duration(1)).has_value());
  CHECK_FALSE(RateScaler(0.999).divide(longest).has_value());
}
