#include "sim/report/trace/trace_window.hpp"

#include <string>
#include <variant>

#include "base/config/table.hpp"
#include "base/config/unit_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kBetween = "..";

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw ConfigError({"--trace-window"}, "expected two times since the start, as in 10 s..20 s, found " +
                                            quoted_excerpt(text) + (why.empty() ? "" : ": " + why));
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

TimePoint time_in(std::string_view whole, std::string_view part) {
  const Parsed parsed = parse_quantity(without_blanks(part), ValueType::duration);
  if (const auto* fault = std::get_if<std::string>(&parsed)) {
    refuse(whole, *fault);
  }
  const Duration time = std::get<Duration>(std::get<Value::Scalar>(parsed));
  if (time < Duration()) {
    refuse(whole, "nothing happens before the start");
  }
  return TimePoint(time);
}

}  // namespace

TraceWindow parse_trace_window(std::string_view text) {
  const std::size_t between = text.find(kBetween);
  if (between == std::string_view::npos) {
    refuse(text, "");
  }
  TraceWindow window{time_in(text, text.substr(0, between)),
                     time_in(text, text.substr(between + kBetween.size()))};
  if (*window.end <= window.begin) {
    refuse(text, "the second must be later than the first");
  }
  return window;
}

}  // namespace inferometer
