#include "sim/cli/workload_options.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/config/table.hpp"
#include "base/config/unit_text.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

const std::vector<std::string> kKinds{"inferometer", "mooncake", "jsonl"};

Value::Scalar read_quantity(const std::string& option, const std::string& text, ValueType type) {
  const Parsed parsed = parse_quantity(text, type);
  if (const std::string* fault = std::get_if<std::string>(&parsed)) {
    throw ConfigError(Position{option}, *fault);
  }
  return std::get<Value::Scalar>(parsed);
}

/// One side of START:END; nothing between is no bound.
std::optional<Duration> read_bound(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  return std::get<Duration>(read_quantity("--window", text, ValueType::duration));
}

void read_window(const std::string& text, TraceOptions& options) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw ConfigError(
        Position{"--window"},
        fmt::format("expected START:END such as \"10 min:20 min\" (one may be left out), found \"{}\"",
                    text));
  }
  options.window_start = read_bound(text.substr(0, colon));
  options.window_end = read_bound(text.substr(colon + 1));
  if (options.window_start && *options.window_start < Duration(0)) {
    throw ConfigError(Position{"--window"},
                      fmt::format("expected a start of 0 s or later, found \"{}\"", text));
  }
  if (options.window_end && *options.window_end <= options.window_start.value_or(Duration(0))) {
    throw ConfigError(Position{"--window"},
                      fmt::format("expected an end after the start, found \"{}\"", text));
  }
}

double read_factor(const std::string& option, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || stop != end || !std::isfinite(value) || value <= 0) {
    throw ConfigError(Position{option}, fmt::format("expected a number above 0, found \"{}\"", text));
  }
  return value;
}

}  // namespace

void add_trace_reading_options(CLI::App& command, TraceReadingOptions& options) {
  command.add_option("--rate-scale", options.rate_scale,
                     "Times the trace's request rate; 2 halves all times");
  command.add_option(
      "--window", options.window,
      "START:END in time since the first request, such as \"10 min:20 min\"; the end is excluded");
  command.add_option("--limit", options.limit, "At most so many requests")
      ->each([&options](const std::string&) { options.has_limit = true; });
  command
      .add_option("--block-size", options.block_size,
                  "Prompt tokens of a hash id, where the format leaves that open (512)")
      ->each([&options](const std::string&) { options.has_block_size = true; });
  command.add_flag("--skip-bad-lines", options.skip_bad_lines,
                   "Count and report broken lines instead of stopping");
}

TraceOptions trace_options(const TraceReadingOptions& given) {
  TraceOptions options;
  options.skip_bad_lines = given.skip_bad_lines;
  if (!given.rate_scale.empty()) {
    options.rate_scale = read_factor("--rate-scale", given.rate_scale);
  }
  if (!given.window.empty()) {
    read_window(given.window, options);
  }
  if (given.has_limit) {
    if (given.limit < 1) {
      throw ConfigError(Position{"--limit"},
                        fmt::format("expected at least 1 request, found {}", given.limit));
    }
    options.limit = given.limit;
  }
  if (given.has_block_size) {
    options.hash_block_tokens = given.block_size;
  }
  return options;
}

PerSecond read_rate_option(const std::string& name, const std::string& text) {
  const auto rate = std::get<PerSecond>(read_quantity(name, text, ValueType::rate));
  if (rate <= PerSecond(0)) {
    throw ConfigError(Position{name}, fmt::format("expected a rate above 0 req/s, found \"{}\"", text));
  }
  return rate;
}

TraceFileKind read_trace_kind(const std::string& text) {
  if (text == kKinds[0]) {
    return TraceFileKind::inferometer_csv;
  }
  if (text == kKinds[1]) {
    return TraceFileKind::mooncake;
  }
  if (text == kKinds[2]) {
    return TraceFileKind::json_lines;
  }
  throw ConfigError(Position{"--to"}, fmt::format("expected {}, found \"{}\"{}", join_alternatives(kKinds),
                                                  text, did_you_mean(text, kKinds)));
}

void print_skipped_lines(const TraceWorkload& trace) {
  if (trace.skipped_lines() == 0) {
    return;
  }
  for (const std::string& message : trace.skipped_messages()) {
    std::fprintf(stderr, "skipped: %s\n", message.c_str());
  }
  std::fprintf(stderr, "skipped %lld bad lines in all\n", static_cast<long long>(trace.skipped_lines()));
}

}  // namespace inferometer
