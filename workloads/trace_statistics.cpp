#include "workloads/trace_statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/check.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kTimeParts = 16;

LengthStatistics length_statistics(std::vector<std::int64_t> tokens) {
  LengthStatistics result;
  if (tokens.empty()) {
    return result;
  }
  std::sort(tokens.begin(), tokens.end());
  result.total_tokens = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
  result.mean = static_cast<double>(result.total_tokens) / static_cast<double>(tokens.size());
  result.min = static_cast<double>(tokens.front());
  result.p10 = percentile(tokens, 0.10);
  result.p25 = percentile(tokens, 0.25);
  result.p50 = percentile(tokens, 0.50);
  result.p75 = percentile(tokens, 0.75);
  result.p90 = percentile(tokens, 0.90);
  result.p99 = percentile(tokens, 0.99);
  result.max = static_cast<double>(tokens.back());
  result.per_power_of_two.resize(std::bit_width(static_cast<std::uint64_t>(tokens.back())));
  for (const std::int64_t count : tokens) {
    ++result.per_power_of_two[std::bit_width(static_cast<std::uint64_t>(count)) - 1];
  }
  return result;
}

std::int64_t peak_in_bins(const std::vector<std::int64_t>& arrivals_ps, Duration bin) {
  std::int64_t peak = 0;
  std::int64_t in_bin = 0;
  std::int64_t current = -1;
  for (const std::int64_t arrival_ps : arrivals_ps) {
    const std::int64_t index = arrival_ps / bin.count();
    in_bin = index == current ? in_bin + 1 : 1;
    current = index;
    peak = std::max(peak, in_bin);
  }
  return peak;
}

std::vector<std::int64_t> counts_over_time(const std::vector<std::int64_t>& arrivals_ps, Duration span) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(kTimeParts));
  const std::int64_t part_ps = span.count() / kTimeParts + 1;
  for (const std::int64_t arrival_ps : arrivals_ps) {
    ++counts[static_cast<std::size_t>((arrival_ps - arrivals_ps.front()) / part_ps)];
  }
  return counts;
}

void describe_arrivals(const std::vector<std::int64_t>& arrivals_ps, TraceStatistics& result) {
  if (arrivals_ps.empty()) {
    return;
  }
  result.span = Duration(arrivals_ps.back() - arrivals_ps.front());
  result.peak_per_second = peak_in_bins(arrivals_ps, seconds(1));
  result.peak_per_minute = peak_in_bins(arrivals_ps, seconds(60));
  result.arrivals_over_time = counts_over_time(arrivals_ps, result.span);
  if (result.span == Duration(0)) {
    return;
  }
  const double gaps = static_cast<double>(arrivals_ps.size() - 1);
  const double mean_ps = static_cast<double>(result.span.count()) / gaps;
  result.mean_rate_per_s = kPicosecondsPerSecond / mean_ps;
  if (arrivals_ps.size() < 3) {
    return;
  }
  double squares = 0;
  for (std::size_t i = 1; i < arrivals_ps.size(); ++i) {
    const double off = static_cast<double>(arrivals_ps[i] - arrivals_ps[i - 1]) / mean_ps - 1;
    squares += off * off;
  }
  result.gap_variation = std::sqrt(squares / gaps);
}

// Twice the mean rank of each value, so that ties stay whole numbers.
std::vector<double> doubled_ranks(const std::vector<std::int64_t>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&values](std::size_t a, std::size_t b) {
    return std::pair(values[a], a) < std::pair(values[b], b);
  });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) {
      ++end;
    }
    for (std::size_t i = first; i < end; ++i) {
      ranks[order[i]] = static_cast<double>(first + end - 1);
    }
    first = end;
  }
  return ranks;
}

}  // namespace

double percentile(const std::vector<std::int64_t>& sorted, double share) {
  INFEROMETER_CHECK(!sorted.empty() && share >= 0 && share <= 1,
                    "a percentile needs values and a share in [0, 1]");
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  const auto low = static_cast<double>(sorted[below]);
  return low + fraction * (static_cast<double>(sorted[above]) - low);
}

std::optional<double> rank_correlation(const std::vector<std::int64_t>& a,
                                       const std::vector<std::int64_t>& b) {
  INFEROMETER_CHECK(a.size() == b.size(), "a rank correlation needs pairs");
  const std::vector<double> ranks_a = doubled_ranks(a);
  const std::vector<double> ranks_b = doubled_ranks(b);
  const double mean = static_cast<double>(a.size()) - 1;
  double products = 0;
  double squares_a = 0;
  double squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double off_a = ranks_a[i] - mean;
    const double off_b = ranks_b[i] - mean;
    products += off_a * off_b;
    squares_a += off_a * off_a;
    squares_b += off_b * off_b;
  }
  if (squares_a == 0 || squares_b == 0) {
    return std::nullopt;
  }
  return products / std::sqrt(squares_a) / std::sqrt(squares_b);
}

TraceStatistics gather_statistics(Workload& workload, std::int64_t hash_block_tokens) {
  TraceStatistics result;
  std::vector<std::int64_t> arrivals_ps;
  std::vector<std::int64_t> prompts;
  std::vector<std::int64_t> outputs;
  PrefixReuseCounter reuse(hash_block_tokens);
  std::unordered_map<std::int64_t, std::int64_t> turns;
  Request request;
  while (workload.next_arrival()) {
    workload.take(request);
    arrivals_ps.push_back(request.arrival.since_start().count());
    prompts.push_back(request.prompt.count());
    outputs.push_back(request.output.count());
    reuse.add(request);
    result.requests_with_content += request.content.empty() ? 0 : 1;
    result.requests_that_wait += workload.delay() ? 1 : 0;
    if (request.session >= 0) {
      ++result.requests_in_sessions;
      result.most_turns = std::max(result.most_turns, ++turns[request.session]);
    }
    workload.finished(request.id, request.arrival);
  }
  result.requests = static_cast<std::int64_t>(arrivals_ps.size());
  result.sessions = static_cast<std::int64_t>(turns.size());
  result.reuse = reuse.result();
  describe_arrivals(arrivals_ps, result);
  result.length_rank_correlation = rank_correlation(prompts, outputs);
  result.prompt = length_statistics(std::move(prompts));
  result.output = length_statistics(std::move(outputs));
  return result;
}

}  // namespace inferometer
