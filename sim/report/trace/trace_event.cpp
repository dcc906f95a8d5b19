#include "sim/report/trace/trace_event.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace inferometer {
namespace {

constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;

bool is_plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

void append_string(std::string& text, std::string_view value) {
  if (std::all_of(value.begin(), value.end(), is_plain)) {
    text += '"';
    text += value;
    text += '"';
  } else {
    text += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

void append_microseconds(std::string& text, Duration time) {
  const std::int64_t ps = time.count() < 0 ? -time.count() : time.count();
  fmt::format_to(std::back_inserter(text), "{}{}.{:06}", time.count() < 0 ? "-" : "",
                 ps / kPicosecondsPerMicrosecond, ps % kPicosecondsPerMicrosecond);
}

}  // namespace

TraceEvent::TraceEvent(char phase, const TraceThread& thread, std::string_view name) {
  fmt::format_to(std::back_inserter(text_), ",\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{}", phase, thread.process,
                 thread.thread);
  key("name");
  append_string(text_, name);
}

TraceEvent& TraceEvent::at(TimePoint time) {
  key("ts");
  append_microseconds(text_, time.since_start());
  return *this;
}

TraceEvent& TraceEvent::lasting(Duration duration) {
  key("dur");
  append_microseconds(text_, duration);
  return *this;
}

TraceEvent& TraceEvent::in(std::string_view category, std::int64_t id) {
  key("id");
  fmt::format_to(std::back_inserter(text_), "{}", id);
  return in(category);
}

TraceEvent& TraceEvent::in(std::string_view category) {
  key("cat");
  append_string(text_, category);
  return *this;
}

TraceEvent& TraceEvent::on_thread() {
  key("s");
  append_string(text_, "t");
  return *this;
}

TraceEvent& TraceEvent::argument(std::string_view name, std::int64_t value) {
  argument_key(name);
  fmt::format_to(std::back_inserter(text_), "{}", value);
  return *this;
}

TraceEvent& TraceEvent::argument(std::string_view name, std::string_view value) {
  argument_key(name);
  append_string(text_, value);
  return *this;
}

TraceEvent& TraceEvent::argument(std::string_view name, Duration value) {
  argument_key(name);
  append_microseconds(text_, value);
  return *this;
}

TraceEvent& TraceEvent::percentage(std::string_view name, double share) {
  argument_key(name);
  fmt::format_to(std::back_inserter(text_), "{:.2f}", 100 * share);
  return *this;
}

TraceEvent& TraceEvent::begin_group(std::string_view name) {
  argument_key(name);
  text_ += '{';
  is_first_ = true;
  return *this;
}

TraceEvent& TraceEvent::end_group() {
  text_ += '}';
  is_first_ = false;
  return *this;
}

std::string TraceEvent::text() {
  text_ += has_arguments_ ? "}}" : "}";
  return std::move(text_);
}

void TraceEvent::key(std::string_view name) {
  text_ += ",\"";
  text_ += name;
  text_ += "\":";
}

void TraceEvent::argument_key(std::string_view name) {
  if (!has_arguments_) {
    key("args");
    text_ += '{';
    has_arguments_ = true;
  } else if (!is_first_) {
    text_ += ',';
  }
  is_first_ = false;
  append_string(text_, name);
  text_ += ':';
}

std::string name_event(std::string_view what, const TraceThread& thread, std::string_view name) {
  return TraceEvent('M', thread, what).argument("name", name).text();
}

std::string order_event(const TraceThread& thread) {
  return TraceEvent('M', thread, "process_sort_index").argument("sort_index", thread.process).text();
}

}  // namespace inferometer
