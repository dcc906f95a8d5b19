#include "base/config/unit_text.hpp"

#include <regex>

#include "base/config/table.hpp"
#include "base/random.hpp"
#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

template <class T>
T parsed(const std::string& text, ValueType type) {
  const Parsed result = parse_quantity(text, type);
  INFO(text << ": " << (result.index() == 1 ? std::get<1>(result) : "read"));
  REQUIRE(result.index() == 0);
  return std::get<T>(std::get<0>(result));
}

std::string fault(const std::string& text, ValueType type) {
  const Parsed result = parse_quantity(text, type);
  return result.index() == 1 ? std::get<1>(result) : "no fault: " + to_text(std::get<0>(result));
}

Duration time(const std::string& text) {
  return parsed<Duration>(text, ValueType::duration);
}
double bandwidth(const std::string& text) {
  return parsed<BytesPerSecond>(text, ValueType::bandwidth).count();
}

}  // namespace

TEST_CASE("durations are exact") {
  CHECK(time("0.1 s").count() == 100'000'000'000);
  CHECK(time("500 ms") == milliseconds(500));
  CHECK(time("500ms") == milliseconds(500));
  CHECK(time("3 ps").count() == 3);
  CHECK(time("1.001 ns").count() == 1001);
  CHECK(time("2 us") == microseconds(2));
  CHECK(time("2 µs") == microseconds(2));  // U+00B5
  CHECK(time("2 μs") == microseconds(2));  // U+03BC
  CHECK(time("1.5 min") == seconds(90));
  CHECK(time("0.25 h") == seconds(900));
  CHECK(time("1e3 ms") == seconds(1));
  CHECK(time("1.50E-3 s") == microseconds(1500));
  CHECK(time("0 s").count() == 0);
  CHECK(time("-2 ms") == milliseconds(-2));
  CHECK(time("0.000000000001 s").count() == 1);
  // 9007199254740993 = 2^53 + 1 is not a double.
  CHECK(time("9007199254740993 ps").count() == 9007199254740993);
  CHECK(time("9223372036854775807 ps").count() == 9223372036854775807);
}

TEST_CASE("durations that are not whole picoseconds or too large are refused") {
  CHECK(fault("0.5 ps", ValueType::duration) == "\"0.5 ps\" is not a whole number of picoseconds");
  CHECK(fault("1e-13 s", ValueType::duration) == "\"1e-13 s\" is not a whole number of picoseconds");
  CHECK(fault("9223372036854775808 ps", ValueType::duration) ==
        "\"9223372036854775808 ps\" is too large; at most 9223372036854775807 picoseconds");
  CHECK(fault("1e9999 s", ValueType::duration) ==
        "\"1e9999 s\" is too large; at most 9223372036854775807 picoseconds");
  CHECK(fault("100000000000000000000000000001 s", ValueType::duration) ==
        "\"100000000000000000000000000001 s\" is too large; at most 9223372036854775807 picoseconds");
}

TEST_CASE("bytes tell GB from GiB") {
  const auto bytes = [](const std::string& text) { return parsed<Bytes>(text, ValueType::bytes).count(); };
  CHECK(bytes("80 GB") == 80'000'000'000);
  CHECK(bytes("80 GiB") == 85'899'345'920);
  CHECK(bytes("40 MiB") == 41'943'040);
  CHECK(bytes("1.5 KiB") == 1536);
  CHECK(bytes("1 kB") == 1000);
  CHECK(bytes("1 KB") == 1000);
  CHECK(bytes("0.5 TiB") == std::int64_t{1} << 39);
  CHECK(fault("0.3 KiB", ValueType::bytes) == "\"0.3 KiB\" is not a whole number of bytes");
}

TEST_CASE("rates are rounded once") {
  CHECK(bandwidth("3.35 TB/s") == 3.35e12);
  CHECK(bandwidth("400 Gb/s") == 50e9);  // bits
  CHECK(bandwidth("400 GB/s") == 400e9);
  CHECK(bandwidth("1 GiB/s") == 1073741824.0);
  CHECK(parsed<FlopsPerSecond>("989 TFLOPS", ValueType::compute_rate).count() == 989e12);
  CHECK(parsed<FlopsPerSecond>("989.4 TFLOP/s", ValueType::compute_rate).count() == 989.4e12);
  CHECK(parsed<FlopsPerSecond>("1.979 PFLOPS", ValueType::compute_rate).count() == 1.979e15);
  CHECK(parsed<PerSecond>("12 req/s", ValueType::rate).count() == 12);
  CHECK(parsed<PerSecond>("90 req/min", ValueType::rate).count() == 1.5);
  CHECK(parsed<PerSecond>("1800 req/h", ValueType::rate).count() == 0.5);
  CHECK(parsed<DollarsPerHour>("2.95 $/h", ValueType::price_rate).count() == 2.95);
  CHECK(parsed<Watts>("0.7 kW", ValueType::power).count() == 700);
  CHECK(parsed<Hertz>("1830 MHz", ValueType::frequency).count() == 1.83e9);
}

TEST_CASE("what is not a quantity is refused with an example") {
  CHECK(fault("3.35", ValueType::bandwidth) == "\"3.35\" has no unit; write e.g. \"3.35 TB/s\"");
  CHECK(fault("5 sec", ValueType::duration) ==
        "\"5 sec\" has the unit \"sec\", which is not one of ps, ns, us, ms, s, min or h");
  CHECK(
      fault("3.35 TBps", ValueType::bandwidth) ==
      "\"3.35 TBps\" has the unit \"TBps\", which is not one of B/s, kB/s, MB/s, GB/s or TB/s; did you mean "
      "\"TB/s\"?");
  CHECK(fault("2.95 EUR/h", ValueType::price_rate) ==
        "\"2.95 EUR/h\" has the unit \"EUR/h\"; the only unit is $/h");
  for (const std::string text : {"", "ms", "abc", ".5 s", "5. s", "+5 s", "05 s", "nan s", "inf s", ".inf",
                                 "0x10 s", "1_000 s", "1,5 s", "- 5 s", "--5 s"}) {
    CHECK(parse_quantity(text, ValueType::duration).index() == 1);
  }
  CHECK(fault(".inf", ValueType::power) == "\".inf\" is not a power; write e.g. \"700 W\"");
  CHECK(fault("5  s", ValueType::duration).starts_with("\"5  s\" has the unit \" s\""));
  CHECK(fault("1e400 W", ValueType::power) == "\"1e400 W\" is outside the range of numbers");
  CHECK(fault("1e-400 W", ValueType::power) == "\"1e-400 W\" is outside the range of numbers");
}

TEST_CASE("quantities are written with the unit that makes them shortest and exact") {
  CHECK(to_text(milliseconds(500)) == "500 ms");
  CHECK(to_text(milliseconds(1500)) == "1.5 s");
  CHECK(to_text(seconds(90)) == "90 s");
  CHECK(to_text(seconds(120)) == "2 min");
  CHECK(to_text(seconds(7200)) == "2 h");
  CHECK(to_text(picoseconds(1)) == "1 ps");
  CHECK(to_text(picoseconds(0)) == "0 ms");
  CHECK(to_text(milliseconds(-3)) == "-3 ms");
  CHECK(to_text(Bytes(80'000'000'000)) == "80 GB");
  CHECK(to_text(Bytes(41'943'040)) == "40 MiB");
  CHECK(to_text(Bytes(1)) == "1 B");
  CHECK(to_text(BytesPerSecond(3.35e12)) == "3.35 TB/s");
  CHECK(to_text(BytesPerSecond(12.5e9)) == "12.5 GB/s");  // not 100 Gb/s
  CHECK(to_text(FlopsPerSecond(989e12)) == "989 TFLOPS");
  CHECK(to_text(PerSecond(12)) == "12 req/s");
  CHECK(to_text(PerSecond(1.0 / 60)) == "1 req/min");
  CHECK(to_text(DollarsPerHour(2.95)) == "2.95 $/h");
  CHECK(to_text(DollarsPerHour(0.25)) == "0.25 $/h");
  CHECK(to_text(Watts(700)) == "700 W");
  CHECK(to_text(Hertz(1.755e9)) == "1755 MHz");
  CHECK(to_text(std::int64_t{256}) == "256");
  CHECK(to_text(0.9) == "0.9");
  CHECK(to_text(true) == "true");
  CHECK(to_text(std::string("x y")) == "x y");
}

namespace {

void check_round_trip(const Value::Scalar& scalar, ValueType type) {
  const std::string text = to_text(scalar);
  INFO(text);
  const Parsed back = parse_quantity(text, type);
  REQUIRE(back.index() == 0);
  REQUIRE(std::get<0>(back) == scalar);
}

}  // namespace

TEST_CASE("what is written is read back to the same value") {
  RandomStream random(1, "test/units");
  for (int i = 0; i < 300; ++i) {
    const auto whole = static_cast<std::int64_t>(random.next() >> (1 + random.below(63)));
    check_round_trip(Duration(whole), ValueType::duration);
    check_round_trip(Bytes(whole), ValueType::bytes);
    const int exponent = static_cast<int>(random.below(60)) - 20;
    const double number = std::ldexp(1 + random.uniform(), exponent);
    check_round_trip(BytesPerSecond(number), ValueType::bandwidth);
    check_round_trip(FlopsPerSecond(number), ValueType::compute_rate);
    check_round_trip(PerSecond(number), ValueType::rate);
    check_round_trip(DollarsPerHour(number), ValueType::price_rate);
    check_round_trip(Watts(number), ValueType::power);
    check_round_trip(Hertz(number), ValueType::frequency);
  }
  check_round_trip(Watts(1e300), ValueType::power);
  check_round_trip(PerSecond(5e-300), ValueType::rate);
  check_round_trip(PerSecond(0), ValueType::rate);
}

TEST_CASE("the pattern for editors takes what is written and refuses what is not") {
  const std::regex pattern(quantity_pattern(ValueType::price_rate), std::regex::ECMAScript);
  CHECK(std::regex_match(to_text(DollarsPerHour(2.95)), pattern));
  CHECK(std::regex_match("1.5e-3 $/h", pattern));
  for (const std::string wrong : {"2.95", "2.95 W", "2.95  $/h", "-1 $/h", "02 $/h", "$/h", "2. $/h"}) {
    CHECK_FALSE(std::regex_match(wrong, pattern));
  }
}
