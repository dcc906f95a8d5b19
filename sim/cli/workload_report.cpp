#include "sim/cli/workload_report.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace inferometer {
namespace {

constexpr std::int64_t kBarWidth = 44;
constexpr double kMinute_s = 60;
constexpr double kHour_s = 3600;
constexpr double kLargestInSeconds_s = 2 * kMinute_s;
constexpr double kLargestInMinutes_s = 2 * kHour_s;

using Text = std::back_insert_iterator<std::string>;

/// In the unit in which people say it.
std::string time_text(double time_s) {
  if (time_s <= kLargestInSeconds_s) {
    return fmt::format("{:.1f} s", time_s);
  }
  if (time_s <= kLargestInMinutes_s) {
    return fmt::format("{:.1f} min", time_s / kMinute_s);
  }
  return fmt::format("{:.1f} h", time_s / kHour_s);
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string bar(std::int64_t count, std::int64_t largest) {
  const std::int64_t length = largest == 0 ? 0 : (count * kBarWidth + largest - 1) / largest;
  return std::string(static_cast<std::size_t>(length), '#');
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void add_arrivals(const TraceStatistics& statistics, Text out) {
  fmt::format_to(out, "\narrivals\n");
  fmt::format_to(out, "  span                {}\n", time_text(to_seconds(statistics.span)));
  if (statistics.mean_rate_per_s) {
    fmt::format_to(out, "  mean rate           {:.3f} req/s\n", *statistics.mean_rate_per_s);
  }
  fmt::format_to(out, "  busiest second      {} requests\n", statistics.peak_per_second);
  fmt::format_to(out, "  busiest minute      {} requests\n", statistics.peak_per_minute);
  if (statistics.gap_variation) {
    fmt::format_to(out, "  gap variation       {:.3f} (deviation / mean; Poisson: 1, bursts: above)\n",
                   *statistics.gap_variation);
  }
}

void add_lengths(const char* name, const LengthStatistics& lengths, Text out) {
  fmt::format_to(out,
                 "  {:<6} {:>6.0f} {:>6.0f} {:>6.0f} {:>6.0f} {:>6.0f} {:>6.0f} {:>7.0f} {:>7.0f} {:>8.1f}\n",
                 name, lengths.min, lengths.p10, lengths.p25, lengths.p50, lengths.p75, lengths.p90,
                 lengths.p99, lengths.max, lengths.mean);
}

void add_tokens(const TraceStatistics& statistics, Text out) {
  fmt::format_to(out, "\ntokens      min    p10    p25    p50    p75    p90     p99     max     mean\n");
  add_lengths("prompt", statistics.prompt, out);
  add_lengths("output", statistics.output, out);
  fmt::format_to(out, "  total               {} prompt, {} output\n", statistics.prompt.total_tokens,
                 statistics.output.total_tokens);
  if (statistics.length_rank_correlation) {
    fmt::format_to(out, "  rank correlation    {:.3f} between prompt and output\n",
                   *statistics.length_rank_correlation);
  }
}

double turns_per_session(const TraceStatistics& statistics) {
  return static_cast<double>(statistics.requests_in_sessions) / static_cast<double>(statistics.sessions);
}

void add_sessions(const TraceStatistics& statistics, Text out) {
  if (statistics.sessions == 0) {
    return;
  }
  fmt::format_to(out, "\nsessions\n");
  fmt::format_to(out, "  sessions            {} with {} requests\n", statistics.sessions,
                 statistics.requests_in_sessions);
  fmt::format_to(out, "  turns               {:.2f} on average, {} at most\n", turns_per_session(statistics),
                 statistics.most_turns);
  if (statistics.requests_that_wait > 0) {
    fmt::format_to(out, "  wait for answers    {} requests; arrivals as if each were answered at once\n",
                   statistics.requests_that_wait);
  }
}

void add_reuse_within(const char* name, std::int64_t tokens, std::int64_t distinct, std::int64_t all,
                      Text out) {
  fmt::format_to(out, "  {:<19} {:>5.2f} % of prompt tokens, {} distinct\n", name, percent(tokens, all),
                 distinct);
}

void add_references(const WorkloadReport& report, Text out) {
  const PrefixReuse& reuse = report.statistics.reuse;
  const std::string what =
      report.hash_block_tokens > 0 ? fmt::format("blocks of {} tokens", report.hash_block_tokens) : "runs";
  fmt::format_to(out, "  references          {} to {} distinct {}\n", reuse.references, reuse.distinct, what);
  fmt::format_to(out, "  seen before         {} of {}, {:.2f} %\n", reuse.references_seen, reuse.references,
                 percent(reuse.references_seen, reuse.references));
  if (reuse.full_references > 0) {
    fmt::format_to(out, "  of full blocks      {} of {}, {:.2f} %\n", reuse.full_references_seen,
                   reuse.full_references, percent(reuse.full_references_seen, reuse.full_references));
  }
}

void add_reuse(const WorkloadReport& report, Text out) {
  const TraceStatistics& statistics = report.statistics;
  const PrefixReuse& reuse = statistics.reuse;
  const std::int64_t all = statistics.prompt.total_tokens;
  if (statistics.requests_with_content == 0) {
    return;
  }
  fmt::format_to(out, "\nprefixes of prompts that were there before\n");
  add_references(report, out);
  add_reuse_within("last used in 1 min", reuse.tokens_within[0], reuse.distinct_tokens_within[0], all, out);
  add_reuse_within("last used in 10 min", reuse.tokens_within[1], reuse.distinct_tokens_within[1], all, out);
  add_reuse_within("ever: the most hits", reuse.tokens, reuse.distinct_tokens, all, out);
  if (statistics.sessions > 0) {
    fmt::format_to(out, "  by same session     {:>5.2f} % of prompt tokens\n",
                   percent(reuse.same_session_tokens, all));
    fmt::format_to(out, "  by others alone     {:>5.2f} %\n",
                   percent(reuse.tokens - reuse.same_session_tokens, all));
  }
  if (reuse.requests > 0) {
    fmt::format_to(out, "  depth               {:.0f} tokens on average in {} requests, {} at most\n",
                   static_cast<double>(reuse.tokens) / static_cast<double>(reuse.requests), reuse.requests,
                   reuse.longest_tokens);
  }
}

void add_length_histogram(const char* name, const LengthStatistics& lengths, std::int64_t requests,
                          Text out) {
  const std::vector<std::int64_t>& counts = lengths.per_power_of_two;
  fmt::format_to(out, "\n{}\n", name);
  const std::int64_t largest = *std::max_element(counts.begin(), counts.end());
  const auto first = static_cast<std::size_t>(
      std::find_if(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; }) -
      counts.begin());
  for (std::size_t i = first; i < counts.size(); ++i) {
    const std::int64_t low = std::int64_t{1} << i;
    const std::string range = fmt::format("{}-{}", low, 2 * low - 1);
    fmt::format_to(
        out, "{}\n",
        without_trailing_blanks(fmt::format("  {:>21} {:>5.1f} %  {}", i == 0 ? "1" : range,
                                            percent(counts[i], requests), bar(counts[i], largest))));
  }
}

void add_time_histogram(const TraceStatistics& statistics, Text out) {
  const std::vector<std::int64_t>& counts = statistics.arrivals_over_time;
  if (statistics.span == Duration(0)) {
    return;
  }
  const double part_s = to_seconds(statistics.span) / static_cast<double>(counts.size());
  fmt::format_to(out, "\narrivals over time, requests per second\n");
  const std::int64_t largest = *std::max_element(counts.begin(), counts.end());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string from = "from " + time_text(part_s * static_cast<double>(i));
    fmt::format_to(out, "{}\n",
                   without_trailing_blanks(fmt::format("  {:<19} {:>9.2f}  {}", from,
                                                       static_cast<double>(counts[i]) / part_s,
                                                       bar(counts[i], largest))));
  }
}

nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json lengths_json(const LengthStatistics& lengths) {
  return {{"total", lengths.total_tokens},
          {"mean", lengths.mean},
          {"min", lengths.min},
          {"p10", lengths.p10},
          {"p25", lengths.p25},
          {"p50", lengths.p50},
          {"p75", lengths.p75},
          {"p90", lengths.p90},
          {"p99", lengths.p99},
          {"max", lengths.max},
          {"per_power_of_two", lengths.per_power_of_two}};
}

nlohmann::ordered_json reuse_json(const WorkloadReport& report) {
  const PrefixReuse& reuse = report.statistics.reuse;
  const std::int64_t all = report.statistics.prompt.total_tokens;
  return {{"block_tokens", report.hash_block_tokens},
          {"requests_with_content", report.statistics.requests_with_content},
          {"references", reuse.references},
          {"references_seen", reuse.references_seen},
          {"full_references", reuse.full_references},
          {"full_references_seen", reuse.full_references_seen},
          {"distinct_references", reuse.distinct},
          {"reused_tokens", reuse.tokens},
          {"reused_percent", percent(reuse.tokens, all)},
          {"reused_tokens_same_session", reuse.same_session_tokens},
          {"reused_tokens_within_1_min", reuse.tokens_within[0]},
          {"reused_tokens_within_10_min", reuse.tokens_within[1]},
          {"distinct_reused_tokens", reuse.distinct_tokens},
          {"distinct_reused_tokens_within_1_min", reuse.distinct_tokens_within[0]},
          {"distinct_reused_tokens_within_10_min", reuse.distinct_tokens_within[1]},
          {"requests_that_reuse", reuse.requests},
          {"longest_reused_tokens", reuse.longest_tokens}};
}

}  // namespace

std::string workload_text(const WorkloadReport& report) {
  std::string text;
  const Text out = std::back_inserter(text);
  const TraceStatistics& statistics = report.statistics;
  fmt::format_to(out, "{}\n  format              {}\n  requests            {}\n", report.file, report.format,
                 statistics.requests);
  if (report.skipped_lines > 0) {
    fmt::format_to(out, "  bad lines skipped   {}\n", report.skipped_lines);
  }
  if (statistics.requests == 0) {
    return text;
  }
  if (report.has_times) {
    add_arrivals(statistics, out);
  }
  add_tokens(statistics, out);
  add_sessions(statistics, out);
  add_reuse(report, out);
  add_length_histogram("prompt tokens", statistics.prompt, statistics.requests, out);
  add_length_histogram("output tokens", statistics.output, statistics.requests, out);
  if (report.has_times) {
    add_time_histogram(statistics, out);
  }
  return text;
}

std::string workload_json(const WorkloadReport& report) {
  const TraceStatistics& statistics = report.statistics;
  nlohmann::ordered_json arrivals = nullptr;
  if (report.has_times) {
    arrivals = {{"span_s", to_seconds(statistics.span)},
                {"mean_rate_per_s", or_null(statistics.mean_rate_per_s)},
                {"gap_variation", or_null(statistics.gap_variation)},
                {"peak_per_second", statistics.peak_per_second},
                {"peak_per_minute", statistics.peak_per_minute},
                {"over_time", statistics.arrivals_over_time}};
  }
  nlohmann::ordered_json reuse = nullptr;
  if (statistics.requests_with_content > 0) {
    reuse = reuse_json(report);
  }
  const nlohmann::ordered_json json = {
      {"file", report.file},
      {"format", report.format},
      {"requests", statistics.requests},
      {"skipped_lines", report.skipped_lines},
      {"arrivals", arrivals},
      {"prompt_tokens", lengths_json(statistics.prompt)},
      {"output_tokens", lengths_json(statistics.output)},
      {"length_rank_correlation", or_null(statistics.length_rank_correlation)},
      {"prefix_reuse", reuse},
      {"sessions", statistics.sessions},
      {"requests_in_sessions", statistics.requests_in_sessions},
      {"most_turns", statistics.most_turns},
      {"requests_that_wait", statistics.requests_that_wait}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace inferometer
