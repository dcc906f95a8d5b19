// A page with every kind of block and every oddity a page may meet: sample_page FILE. What check_reports.py
// starts with.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "sim/report/page/page.hpp"

namespace {

using namespace inferometer;

const std::string kHostile =
    R"hostile(<script>alert(1)</script>"' onclick="alert(2)" <!-- </style></title>)hostile";

/// Sums of exponentials would do as well: what matters are 100,000 points and a long tail. The inverse of the
/// distribution function of a Weibull distribution of shape 0.7.
std::vector<ChartPoint> long_tail(double scale_ms, std::size_t count) {
  std::vector<ChartPoint> points;
  for (std::size_t place = 0; place < count; ++place) {
    const double share = (static_cast<double>(place) + 0.5) / static_cast<double>(count);
    points.push_back({scale_ms * std::pow(-std::log1p(-share), 1 / 0.7), share, ""});
  }
  return points;
}

Chart distribution() {
  Chart chart{"ttft-cdf",
              "Time to first token",
              "Half of the requests wait 60 ms or less, one in a hundred over 800 ms.",
              ChartKind::lines,
              {"TTFT, ms", true},
              {"share of requests"},
              {},
              {},
              {}};
  chart.series.push_back({"chunked_prefill", long_tail(100, 100'000)});
  chart.series.push_back({"static " + kHostile, long_tail(220, 100'000), true});
  chart.lines = {
      {"p99 limit 500 ms", 500, true}, {"p50 limit 480 ms", 480, true}, {"99 %", 0.99}, {kHostile, 0.985}};
  return chart;
}

Chart timeline() {
  Chart chart{"timeline",
              "KV cache and queue over time",
              "Between the bursts the cache empties; the fifth burst fills it.",
              ChartKind::lines,
              {"time, s"},
              {"requests, blocks / 1,000"},
              {},
              {},
              {{"KV blocks there are", 27.9}}};
  ChartSeries blocks{"KV blocks held, thousands"};
  ChartSeries running{"running requests"};
  ChartSeries waiting{"waiting requests"};
  for (int second = 0; second < 600; ++second) {
    const double time_s = second;
    const double burst =
        std::exp(-std::pow(std::fmod(time_s, 120) - 60, 2) / 300) * (time_s > 480 ? 1.0 : 0.6);
    blocks.points.push_back({time_s, 27.9 * burst, ""});
    running.points.push_back({time_s, 60 * burst + 3 * std::sin(time_s), ""});
    waiting.points.push_back({time_s, std::max(0.0, 90 * burst - 50), ""});
  }
  chart.series = {blocks, running, waiting};
  return chart;
}

Chart roofline() {
  constexpr double kPeakTflops = 989;
  constexpr double kHbmTerabytesPerSecond = 3.35;
  Chart chart{"roofline",
              "Steps on the roofline",
              "Decode steps lie on the slope of the memory, prefill under the roof.",
              ChartKind::points,
              {"arithmetic intensity, FLOP/B", true},
              {"achieved, TFLOP/s", true},
              {},
              {},
              {{"ridge, 295 FLOP/B", kPeakTflops / kHbmTerabytesPerSecond, true}}};
  ChartSeries roof{"roof: HBM 3.35 TB/s, bf16 989 TFLOP/s"};
  roof.is_line = true;
  for (const double intensity : {0.5, 295.0, 5000.0}) {
    roof.points.push_back({intensity, std::min(kPeakTflops, intensity * kHbmTerabytesPerSecond), ""});
  }
  roof.colour = 5;
  const auto cloud = [&](const std::string& name, double from, double to, double reached) {
    ChartSeries series{name};
    for (int step = 0; step < 24; ++step) {
      const double intensity = from * std::pow(to / from, step / 23.0);
      const double share = std::exp(-std::pow(step - 12, 2) / 40);
      series.points.push_back({intensity, reached * std::min(kPeakTflops, intensity * kHbmTerabytesPerSecond),
                               std::to_string(static_cast<int>(100 * share)) + " % of " + name, share});
    }
    return series;
  };
  chart.series = {cloud("decode", 1, 120, 0.8), cloud("mixed", 90, 900, 0.62),
                  cloud("prefill", 600, 3000, 0.68), roof};
  return chart;
}

Chart time_split(std::vector<std::string> pools) {
  Chart chart{"time-" + std::to_string(pools.size()),
              "Where the time went",
              "Most of it waits for memory.",
              ChartKind::stacked_bars,
              {"pool"},
              {"share of the time, %"},
              {},
              {},
              {}};
  const std::vector<std::pair<std::string, double>> parts = {
      {"compute", 25.4}, {"bandwidth", 42.3}, {"latency", 11.8},  {"communication", 4},
      {"host", 5.5},     {"bubble", 2},       {"idle", 9.0000001}};
  for (const auto& [name, share] : parts) {
    chart.series.push_back({name, std::vector<ChartPoint>(pools.size(), ChartPoint{0, share, ""})});
  }
  chart.categories = std::move(pools);
  return chart;
}

Chart few_points() {
  Chart chart{"rate",
              "p99 TTFT by rate",
              "It rises slowly up to 20 requests a second, then tenfold.",
              ChartKind::lines,
              {"offered rate, req/s"},
              {"p99 TTFT, ms", true},
              {},
              {},
              {{"limit 500 ms", 500}, {"saturation, 23.5 req/s", 23.5, true}}};
  chart.series.push_back({"h100-sxm",
                          {{5, 120, ""},
                           {10, 160, ""},
                           {15, 210, ""},
                           {20, 420, ""},
                           {22, 1800, ""},
                           {24, 21'000, "unstable"}}});
  chart.series.push_back(
      {"a100-80gb-sxm", {{5, 260, ""}, {10, 390, ""}, {12, 2400, ""}, {15, 16'000, "unstable"}}, true});
  return chart;
}

Chart within_a_decade() {
  Chart chart{"narrow",
              "Inter-token latency",
              "All within 9.4 and 21 ms.",
              ChartKind::lines,
              {"ITL, ms", true},
              {"share"},
              {},
              {},
              {}};
  chart.series.push_back({"ITL", {{9.4, 0, ""}, {11, 0.5, ""}, {14, 0.9, ""}, {21, 1, ""}}});
  return chart;
}

Chart nothing_to_draw() {
  return {"nothing",
          "Queue delay",
          "No request waited.",
          ChartKind::lines,
          {"delay, ms", true},
          {"share"},
          {},
          {{"queue delay", {{0, 0.5, ""}, {0, 1, ""}}}},
          {}};
}

/// One point on logarithmic axes, a series without points, values all alike, one name twice.
std::vector<Block> odd_charts() {
  Chart single{"single",
               "One request",
               "It took 220 ms.",
               ChartKind::lines,
               {"TTFT, ms", true},
               {"share", true},
               {},
               {},
               {}};
  single.series = {{"TTFT", {{220, 1, ""}}}, {"none", {}}};
  Chart level{
      "level", "Nothing happened", "Zero all the time.", ChartKind::lines, {"time, s"}, {"requests"}, {}, {},
      {}};
  level.series = {{"waiting", {{0, 0, ""}, {1, 0, ""}, {2, 0, ""}}},
                  {"waiting", {{0, 0, ""}, {1, 0, ""}, {2, 0, ""}}}};
  Chart large{"large",
              "Large and small numbers",
              "From a millionth to a quadrillion.",
              ChartKind::points,
              {"bytes", true},
              {"seconds", true},
              {},
              {},
              {{"limit", 1e12, true}}};
  large.series = {{"transfers", {{1e-6, 1e-9, "the smallest"}, {3, 5, ""}, {1e15, 1e7, "the largest"}}}};
  return {single, level, large};
}

TableBlock latencies() {
  return {"Latency, ms",
          {"", "mean", "p50", "p90", "p95", "p99", "max"},
          {{"TTFT",
            "55.1",
            {"34.8", {"metrics.p50_ttft_ms", 34.812345}},
            "127",
            "149",
            {"220", {"metrics.p99_ttft_ms", 220.4}, Tone::good},
            "432"},
           {"ITL",
            "12.4",
            "9.47",
            "21.2",
            "35.3",
            {"49.0", {"metrics.p99_itl_ms", 49.04}, Tone::warning},
            "53.9"},
           {"E2E", "2,698", "1,680", "5,616", "6,288", "8,038", "14,617"}}};
}

TableBlock wide_table() {
  TableBlock table{"Replicas " + kHostile, {"replica"}, {}};
  for (int column = 0; column < 14; ++column) {
    table.columns.push_back("column number " + std::to_string(column));
  }
  for (int row = 0; row < 6; ++row) {
    table.rows.emplace_back(table.columns.size(), Cell("12,345.6"));
    table.rows.back()[0] = row == 3 ? kHostile : "replica-" + std::to_string(row);
    table.rows.back()[5] = {"failed", Tone::bad};
  }
  return table;
}

Page sample_page() {
  Page page{kHostile,
            "llama-3-8b on 1 x h100-sxm, chunked_prefill; " + kHostile,
            {},
            {},
            "inferometer, a sample; " + kHostile};
  page.answer = {
      {"The GPU keeps up: 11.8 requests a second of 12.0 offered, 51 % of what it could.", Tone::good},
      {"p99 ITL is 49.0 ms (47.1 to 52.3 ms), so the limit of 50 ms is only just met.", Tone::warning},
      {"3.2 % of the time went to kernels outside of what was measured. " + kHostile, Tone::bad},
      {"One H100 costs $2.95 an hour: $0.322 per million output tokens.", Tone::plain}};
  const std::vector<KeyFigure> figures = {
      {"throughput", "2,542 tok/s", "11.8 req/s", Tone::plain,
       ResultsNumber{"metrics.output_throughput", 2541.87}},
      {"p99 TTFT", "220 ms", "limit 500 ms, met", Tone::good, ResultsNumber{"metrics.p99_ttft_ms", 220.4}},
      {"p99 ITL", "49.0 ms", "limit 50 ms, just met", Tone::warning,
       ResultsNumber{"metrics.p99_itl_ms", 49.04}},
      {"goodput", "61.0 %", "limit 99 %, not met", Tone::bad,
       ResultsNumber{"requests.goodput_share", 0.6103}},
      {"load", "51.1 %", "of 23.5 req/s", Tone::plain, {}},
      {kHostile, kHostile, kHostile, Tone::plain, ResultsNumber{kHostile, 1}}};
  page.sections = {
      {"Key figures", {figures}},
      {"Latency " + kHostile, {distribution(), within_a_decade(), nothing_to_draw(), latencies()}},
      {"Over time", {timeline()}},
      {"What bound the steps",
       {roofline(), time_split({"decode", "prefill, 2 x 8 h100-sxm", kHostile}), time_split({"all"})}},
      {"Load", {Paragraph{"By rate: " + kHostile}, few_points()}},
      {"Oddities", odd_charts()},
      {"Cluster", {wide_table()}},
      {"Inputs",
       {Listing{"Resolved scenario " + kHostile,
                "\nmodel: llama-3-8b\n  name: " + kHostile + "\n" + std::string(300, 'x')}}}};
  return page;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: sample_page FILE\n", stderr);
    return 2;
  }
  std::ofstream file(argv[1], std::ios::binary);
  file << html_text(sample_page());
  file.close();
  return file ? 0 : 1;
}
