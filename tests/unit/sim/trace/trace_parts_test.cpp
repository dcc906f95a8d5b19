#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/report/trace/trace_event.hpp"
#include "sim/report/trace/trace_window.hpp"
#include "sim/report/trace/track_spool.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer::testing {
namespace {

TEST_CASE("times of a trace are exact to the picosecond") {
  const auto time = [](std::int64_t ps) {
    return TraceEvent('i', {3, 1}, "x").at(TimePoint(picoseconds(ps))).text();
  };
  CHECK(time(0) == ",\n{\"ph\":\"i\",\"pid\":3,\"tid\":1,\"name\":\"x\",\"ts\":0.000000}");
  CHECK(time(1).find("\"ts\":0.000001}") != std::string::npos);
  CHECK(time(999'999).find("\"ts\":0.999999}") != std::string::npos);
  // 2^63 - 1, the last time there is: a double of microseconds would have no decimals left.
  CHECK(time(9'223'372'036'854'775'807).find("\"ts\":9223372036854.775807}") != std::string::npos);
}

TEST_CASE("names in a trace may hold what JSON must not") {
  CHECK(TraceEvent('M', {}, "a \"b\"\n\\").text() ==
        ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"a \\\"b\\\"\\n\\\\\"}");
}

TEST_CASE("arguments of a trace event stand in groups") {
  CHECK(
      TraceEvent('X', {}, "x")
          .begin_group("a")
          .end_group()
          .argument("n", 1)
          .begin_group("b")
          .argument("t", Duration(-1))
          .percentage("p", 0.125)
          .end_group()
          .argument("s", "y")
          .text() ==
      ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"x\",\"args\":{\"a\":{},\"n\":1,\"b\":{\"t\":-0.000001,"
      "\"p\":12.50},\"s\":\"y\"}}");
}

TEST_CASE("a window is two times with their units") {
  const TraceWindow window = parse_trace_window("500 ms..2s");
  CHECK((window.begin == TimePoint(milliseconds(500))));
  CHECK((window.end == TimePoint(seconds(2))));
  CHECK((parse_trace_window(" 0 s .. 1.5 min ").end == TimePoint(seconds(90))));
  for (const char* text : {"", "10 s", "..", "10 s..", "..10 s", "10..20", "20 s..10 s", "10 s..10 s",
                           "-1 s..1 s", "1 s...2 s", "1 s..2 GB"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_trace_window(text), ConfigError);
  }
}

TEST_CASE("what touches a window is partly within it") {
  const TraceWindow window{TimePoint(Duration(10)), TimePoint(Duration(20))};
  const auto touches = [&](std::int64_t from, std::int64_t to) {
    return window.touches(TimePoint(Duration(from)), TimePoint(Duration(to)));
  };
  CHECK_FALSE(touches(5, 10));
  CHECK(touches(5, 11));
  CHECK(touches(19, 30));
  CHECK_FALSE(touches(20, 30));
  CHECK(touches(5, 30));
  CHECK(touches(10, 10));
  CHECK_FALSE(touches(9, 9));
}

// Each track gets more than is kept in memory.
TEST_CASE("tracks come out one after the other whatever the order they came in") {
  const test::TemporaryDirectory folder;
  TrackSpool spool(folder.file("trace.json"), 3);
  std::vector<std::string> tracks(3);
  for (int i = 0; i < 9'000; ++i) {
    for (const std::size_t track : {2, 0, 1, 0}) {
      const std::string text = std::to_string(i) + "abcdefghijklmnopqrstuvwxyz"[track] + ' ';
      spool.append(track, text);
      tracks[track] += text;
    }
  }
  std::ostringstream out;
  spool.write_to(out);
  CHECK((out.str() == tracks[0] + tracks[1] + tracks[2]));
  CHECK(out.str().size() > 3 * (1 << 16) / 2);
}

TEST_CASE("parts that cannot be written are an error of the user") {
  TrackSpool spool("/no/such/folder/trace.json", 1);
  CHECK_THROWS_AS(spool.append(0, std::string(1 << 17, ' ')), ConfigError);
}

}  // namespace
}  // namespace inferometer::testing
