#include "sim/report/terminal_summary.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/report/cluster_text.hpp"
#include "sim/report/prefix_sentence.hpp"
#include "sim/report/sensitivity_sentence.hpp"
#include "sim/report/text_layout.hpp"
#include "sim/report/tier_sentence.hpp"

namespace inferometer {
namespace {

constexpr int kNarrowest = 72;
constexpr int kLabelWidth = kPoolColumnWidth;
constexpr int kCellWidth = 10;

enum class Style { heading, good, bad };

/// The blank is the cell's first character, so that years of milliseconds stay apart.
std::string cell(double value) {
  return fmt::format(" {:>{}}", short_number(value), kCellWidth - 1);
}

class SummaryText {
 public:
  SummaryText(const Report& report, bool colour, int width)
      : report_(report), summary_(report.summary), colour_(colour), width_(std::max(width, kNarrowest)) {}

  std::string write() {
    write_title();
    write_throughput();
    write_latencies();
    write_slo();
    write_fairness();
    write_queue();
    write_time_split();
    write_pools();
    write_batches();
    write_memory();
    write_cluster();
    write_cost();
    write_energy();
    write_uncertainty();
    if (report_.sensitivity) {
      sentence("sensitivity", sensitivity_sentence(*report_.sensitivity, summary_));
    }
    write_notes();
    return std::move(text_);
  }

 private:
  void write_title();
  void write_throughput();
  void write_latencies();
  void write_latency(const char* label, const char* metric,
                     const std::optional<DurationStatistics>& statistics, bool grows);
  void write_latency_bounds(const std::string& metric);
  void write_slo();
  void write_fairness();
  void write_queue();
  void write_time_split();
  void write_pools();
  void write_batches();
  void write_speculation();
  void write_stepper();
  void write_memory();
  void write_cluster();
  void write_cost();
  void write_energy();
  void write_uncertainty();
  void write_notes();

  /// " (220-259)" where there is an interval of the metric.
  [[nodiscard]] std::string range(std::string_view metric) const;
  /// Behind a peak: whose it is.
  [[nodiscard]] const char* of_one_replica() const { return summary_.cluster ? " on one replica" : ""; }
  [[nodiscard]] bool is_unstable() const { return summary_.stability.verdict == QueueStability::unstable; }
  [[nodiscard]] std::string styled(Style style, std::string_view text) const;
  /// What stands in the first column.
  [[nodiscard]] std::string label(std::string_view name) const;
  /// A sentence behind a label.
  void sentence(std::string_view name, std::string_view text);
  /// Figures behind a label.
  void items(std::string_view name, const std::vector<std::string>& figures);

  const Report& report_;
  const Summary& summary_;
  bool colour_;
  int width_;
  std::string text_;
};

std::string SummaryText::styled(Style style, std::string_view text) const {
  if (!colour_) {
    return std::string(text);
  }
  const char* code = style == Style::heading ? "1" : style == Style::good ? "32" : "1;31";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string SummaryText::range(std::string_view metric) const {
  const MetricInterval* interval = report_.uncertainty ? report_.uncertainty->find(metric) : nullptr;
  return interval == nullptr
             ? std::string()
             : fmt::format(" ({}-{})", short_number(interval->low), short_number(interval->high));
}

std::string SummaryText::label(std::string_view name) const {
  const std::string padded = fmt::format("{:<{}}", name, kLabelWidth);
  return name.empty() ? padded : styled(Style::heading, name) + padded.substr(name.size());
}

void SummaryText::sentence(std::string_view name, std::string_view text) {
  text_ += label(name) + wrapped(text, kLabelWidth, width_) + "\n";
}

void SummaryText::items(std::string_view name, const std::vector<std::string>& figures) {
  text_ += label(name) + joined(figures, "   ", kLabelWidth, width_) + "\n";
}

void SummaryText::write_title() {
  text_ += styled(Style::heading, report_.scenario) +
           fmt::format(": {} of {} requests done in {} of simulated time\n", grouped(summary_.completed),
                       grouped(summary_.census.injected), short_duration(summary_.duration_seconds * 1e3));
  if (!report_.setup.empty()) {
    text_ += report_.setup + "\n";
  }
  if (summary_.partial) {
    text_ += styled(Style::bad, "PARTIAL: interrupted; these are the results of what was done so far") + "\n";
  }
  for (const RejectionCount& rejection : summary_.rejections) {
    text_ +=
        styled(Style::bad, fmt::format("{} rejected: {}", grouped(rejection.requests), rejection.reason)) +
        "\n";
  }
  if (summary_.cluster) {
    for (const RejectionCount& lost : summary_.cluster->lost) {
      text_ += styled(Style::bad, fmt::format("{} lost: {}", grouped(lost.requests), lost.reason)) + "\n";
    }
  }
  if (summary_.truncated > 0) {
    text_ += fmt::format("{} outputs cut short by max_model_len\n", grouped(summary_.truncated));
  }
  text_ += "\n";
}

void SummaryText::write_throughput() {
  items(
      "throughput",
      {short_number(summary_.request_throughput) + " req/s" + range("request_throughput"),
       short_number(summary_.output_throughput) + " output tok/s" + range("output_throughput"),
       short_number(summary_.total_token_throughput) + " tok/s with input" + range("total_token_throughput"),
       fmt::format("at most {} requests in the system", grouped(summary_.max_concurrent_requests))});
  if (summary_.request_goodput && summary_.goodput_share) {
    items("goodput", {short_number(*summary_.request_goodput) + " req/s" + range("request_goodput"),
                      short_number(100 * *summary_.goodput_share) + " % of requests kept their limits"});
  }
  text_ += "\n";
}

void SummaryText::write_latency(const char* label, const char* metric,
                                const std::optional<DurationStatistics>& statistics, bool grows) {
  if (!statistics) {
    return;
  }
  text_ += fmt::format("{:<{}}", label, kLabelWidth);
  const DurationStatistics& s = *statistics;
  for (const double value : {s.mean_ms, s.p50_ms, s.p90_ms, s.p95_ms, s.p99_ms, s.max_ms}) {
    text_ += cell(value);
  }
  text_ += grows ? " *\n" : "\n";
  write_latency_bounds(metric);
}

/// Below a latency, column by column: what it may be as low and as high as.
void SummaryText::write_latency_bounds(const std::string& metric) {
  if (!report_.uncertainty) {
    return;
  }
  const auto row = [&](double share, double MetricInterval::*bound) {
    std::string cells;
    for (const char* column : {"mean", "p50", "p90", "p95", "p99"}) {
      const MetricInterval* interval = report_.uncertainty->find(fmt::format("{}_{}_ms", column, metric));
      cells += interval != nullptr ? cell(interval->*bound) : fmt::format("{:>{}}", "-", kCellWidth);
    }
    text_ += fmt::format("{:>{}}  ", fmt::format("{:.0f} %", 100 * share), kLabelWidth - 2) + cells + "\n";
  };
  row(Uncertainty::kLow, &MetricInterval::low);
  row(Uncertainty::kHigh, &MetricInterval::high);
}

void SummaryText::write_latencies() {
  std::string head = fmt::format("{:<{}}", "latency, ms", kLabelWidth);
  for (const char* column : {"mean", "p50", "p90", "p95", "p99", "max"}) {
    head += fmt::format("{:>{}}", column, kCellWidth);
  }
  text_ += styled(Style::heading, head) + "\n";
  const bool grows = is_unstable();
  write_latency("  TTFT", "ttft", summary_.ttft, grows);
  write_latency("  ITL", "itl", summary_.itl, false);
  write_latency("  ICL", "icl", summary_.icl, false);
  write_latency("  TPOT", "tpot", summary_.tpot, false);
  write_latency("  E2E", "e2el", summary_.e2el, grows);
  write_latency("  queue", "queue_delay", summary_.queue_delay, grows);
  if (!summary_.e2el) {
    text_ += "  no request finished\n";
  } else if (grows) {
    text_ += styled(Style::bad, "  * no steady state: these grow with the length of the run") + "\n";
  }
  text_ += "\n";
}

void SummaryText::write_slo() {
  for (const SloVerdict& verdict : report_.slo.verdicts) {
    const auto amount = [&](double value) {
      return verdict.is_share() ? short_number(100 * value) + " %" : short_duration(value);
    };
    std::string outcome = "MISSED: nothing to measure";
    if (verdict.value) {
      outcome = fmt::format("{} {} %{}", verdict.met ? "met with" : "MISSED by",
                            short_number(100 * std::abs(*verdict.over)), verdict.met ? " to spare" : "");
    }
    text_ += fmt::format("{}{:<{}}{:>{}}  {} {:<{}}{}\n", styled(Style::heading, "SLO "), verdict.name,
                         kLabelWidth, verdict.value ? amount(*verdict.value) : "-", kCellWidth,
                         verdict.is_share() ? ">=" : "<=", amount(verdict.limit), kCellWidth,
                         styled(verdict.met ? Style::good : Style::bad, outcome));
  }
}

void SummaryText::write_fairness() {
  const FairnessSummary& fairness = summary_.fairness;
  if (!fairness.matters || !fairness.share) {
    return;
  }
  sentence("fairness",
           fmt::format("{} %: Jain's index of the latency per output token, 100 % when all fare alike",
                       short_number(100 * *fairness.share)));
  for (const PrioritySummary& priority : fairness.priorities) {
    if (priority.ttft && priority.e2el) {
      sentence("", fmt::format("priority {}: {} requests, TTFT {} at p50 and {} at p99, E2E {} and {}",
                               priority.priority, grouped(priority.completed),
                               short_duration(priority.ttft->p50_ms), short_duration(priority.ttft->p99_ms),
                               short_duration(priority.e2el->p50_ms), short_duration(priority.e2el->p99_ms)));
    }
  }
  text_ += "\n";
}

void SummaryText::write_queue() {
  const StabilityReport& stability = summary_.stability;
  std::string text = fmt::format("{}: {}", to_string(stability.verdict), stability.sentence);
  if (stability.load) {
    text += fmt::format("; offered {} req/s, {} % of the estimated capacity of {} req/s{}{}",
                        short_number(stability.offered_per_second), short_number(100 * *stability.load),
                        short_number(stability.offered_per_second / *stability.load),
                        range("capacity_requests_per_s"), capacity_condition(stability));
  }
  text = wrapped(text, kLabelWidth, width_);
  text_ += label("queue") + (is_unstable() ? styled(Style::bad, text) : text) + "\n\n";
}

void SummaryText::write_time_split() {
  const TimeSplit& split = summary_.time_split;
  struct Part {
    char letter;
    const char* name;
    double share;
  };
  const std::vector<Part> parts = {{'#', "compute", split.compute},
                                   {'=', "bandwidth", split.bandwidth},
                                   {'x', "communication", split.communication},
                                   {'-', "latency", split.latency},
                                   {'h', "host", split.host},
                                   {'o', "bubble", split.bubble},
                                   {'.', "idle", split.idle}};
  std::vector<BarPart> bar;
  std::vector<std::string> legend;
  for (const Part& part : parts) {
    bar.push_back({part.letter, part.share});
    if (part.share > 0) {
      legend.push_back(fmt::format("{} {} {:.1f} %", part.letter, part.name, 100 * part.share));
    }
  }
  items("time", {"[" + stacked_bar(bar, width_ - kLabelWidth - 2) + "]"});
  if (!legend.empty()) {
    items("", legend);
  }
}

void SummaryText::write_pools() {
  if (!summary_.cluster) {
    return;
  }
  text_ += styled(Style::heading, pool_table_head()) + "\n";
  for (const PoolSummary& pool : summary_.pools) {
    text_ += pool_row(pool, width_) + "\n";
  }
}

void SummaryText::write_batches() {
  const auto phase = [&](StepPhase which, const char* name) {
    const PhaseSummary& steps = summary_.phases[static_cast<std::size_t>(which)];
    if (steps.steps == 0) {
      return;
    }
    std::string text =
        fmt::format("{}: {} in {}", name, grouped(steps.steps), short_duration(steps.seconds * 1e3));
    if (steps.mfu && steps.mbu) {
      text +=
          fmt::format(", MFU {} %, MBU {} %", short_number(100 * *steps.mfu), short_number(100 * *steps.mbu));
    }
    sentence("", text);
  };
  sentence("steps",
           fmt::format("{} in all, {} decoding requests on average, {} at most{}",
                       grouped(summary_.all_phases.steps), short_number(summary_.batch_size.mean_busy),
                       grouped(summary_.batch_size.peak), of_one_replica()));
  phase(StepPhase::prefill, "prefill");
  phase(StepPhase::decode, "decode");
  phase(StepPhase::mixed, "mixed");
  write_stepper();
  write_speculation();
}

void SummaryText::write_speculation() {
  if (!summary_.speculation) {
    return;
  }
  const SpeculationSummary& speculation = *summary_.speculation;
  std::string text = fmt::format(
      "{} of {} drafted tokens accepted ({} %), {} tokens a step and sequence; by position ",
      grouped(speculation.counts.accepted_tokens), grouped(speculation.counts.draft_tokens),
      short_number(100 * speculation.acceptance_rate), short_number(speculation.acceptance_length));
  for (std::size_t i = 0; i < speculation.acceptance_by_position.size(); ++i) {
    text += fmt::format("{}{:.0f}", i == 0 ? "" : ", ", 100 * speculation.acceptance_by_position[i]);
  }
  sentence("speculation", text + " %");
}

void SummaryText::write_stepper() {
  const StepCounts& counts = report_.step_counts;
  if (counts.by_reference > 0) {
    sentence("", "run one by one, by the reference stepper");
    return;
  }
  if (counts.in_stretches + counts.single() == 0) {
    return;
  }
  std::string text = fmt::format("run in {} stretches of steps alike, {} one by one",
                                 grouped(counts.stretches), grouped(counts.single()));
  if (counts.unpromised > 0) {
    text += fmt::format("; {} because the policy does not say how long its plan holds",
                        grouped(counts.unpromised));
  }
  if (counts.speculating > 0) {
    text += fmt::format("; {} because they verify drafts", grouped(counts.speculating));
  }
  if (counts.without_line > 0) {
    text += fmt::format("; {} because the cost model knows no line", grouped(counts.without_line));
  }
  sentence("", text);
  if (report_.stepper == "check") {
    sentence("", "each step and request equal to the reference stepper's");
  }
}

void SummaryText::write_memory() {
  const LevelSummary& held = summary_.kv_occupancy_blocks;
  if (summary_.kv_blocks > 0 && !summary_.cluster) {
    const auto percent = [&](double blocks) {
      return short_number(100 * blocks / static_cast<double>(summary_.kv_blocks));
    };
    sentence("KV cache",
             fmt::format("{} % full while busy, {} % at most, of {} blocks", percent(held.mean_busy),
                         percent(static_cast<double>(held.peak)), grouped(summary_.kv_blocks)));
  }
  if (summary_.prefixes) {
    sentence("prefixes", prefix_sentence(*summary_.prefixes));
  }
  if (summary_.kv_offload) {
    const KvOffloadSummary& offload = *summary_.kv_offload;
    sentence("host KV", tier_sentence(offload.host, offload.block_size));
    if (offload.disk) {
      sentence("disk KV", tier_sentence(*offload.disk, offload.block_size));
    }
  }
  if (summary_.preemptions > 0) {
    std::string text = fmt::format("{}", grouped(summary_.preemptions));
    if (summary_.recomputed_tokens) {
      text += fmt::format(", {} tokens computed again", grouped(*summary_.recomputed_tokens));
    }
    sentence("preemptions", text);
  }
  if (summary_.kv_swap) {
    const KvSwapCounts& swaps = summary_.kv_swap->counts;
    sentence("swaps",
             fmt::format("{} sequences out ({} blocks), {} back in; copying took {} s{}",
                         grouped(swaps.swapped_out), grouped(swaps.out_blocks), grouped(swaps.swapped_in),
                         short_number(to_seconds(swaps.copying)),
                         swaps.recomputed == 0 ? ""
                                               : fmt::format("; {} found no room and were recomputed",
                                                             grouped(swaps.recomputed))));
  }
  sentence("waiting",
           fmt::format("{} requests on average, {} at most{}", short_number(summary_.waiting.mean_total),
                       grouped(summary_.waiting.peak), of_one_replica()));
}

void SummaryText::write_cluster() {
  if (!summary_.cluster) {
    return;
  }
  const ClusterSummary& cluster = *summary_.cluster;
  const auto items_if_any = [&](std::string_view name, const std::vector<std::string>& figures) {
    if (!figures.empty()) {
      items(name, figures);
    }
  };
  items_if_any("transfers", transfer_figures(cluster));
  items_if_any("links", link_figures(cluster.links));
  items_if_any("replicas", replica_figures(cluster));
}

void SummaryText::write_cost() {
  if (!summary_.money) {
    return;
  }
  const Money& money = *summary_.money;
  std::vector<std::string> figures = {fmt::format("${:.2f}/h", money.dollars_per_hour)};
  if (money.dollars_per_million_output_tokens && money.dollars_per_million_tokens) {
    figures.push_back("$" + short_number(*money.dollars_per_million_output_tokens) +
                      " per million output tokens" + range("output_dollars_per_million_tokens"));
    figures.push_back("$" + short_number(*money.dollars_per_million_tokens) +
                      " per million tokens with input" + range("total_dollars_per_million_tokens"));
  }
  if (money.dollars_per_thousand_requests) {
    figures.push_back("$" + short_number(*money.dollars_per_thousand_requests) + " per 1,000 requests" +
                      range("dollars_per_thousand_requests"));
  }
  if (is_unstable()) {
    figures.emplace_back("at overload: less than a service that keeps up would pay");
  }
  items("cost", figures);
}

void SummaryText::write_energy() {
  if (!summary_.energy) {
    return;
  }
  const Energy& energy = *summary_.energy;
  std::vector<std::string> figures = {fmt::format("{} W on average", short_number(energy.mean_watts))};
  if (energy.joules_per_output_token) {
    figures.push_back(short_number(*energy.joules_per_output_token) + " J per output token" +
                      range("joules_per_output_token"));
  }
  if (energy.joules_per_request) {
    figures.push_back(short_number(*energy.joules_per_request) + " J per request" +
                      range("joules_per_request"));
  }
  figures.push_back("estimated from the power limit, MFU and MBU");
  items("energy", figures);
}

void SummaryText::write_uncertainty() {
  if (!report_.uncertainty) {
    return;
  }
  const Uncertainty& uncertainty = *report_.uncertainty;
  sentence(
      "intervals",
      fmt::format("{:.0f} to {:.0f} % of {} runs with kernels as far off as on shapes left out of the fit; "
                  "{} requests replayed in {} steps",
                  100 * Uncertainty::kLow, 100 * Uncertainty::kHigh, grouped(uncertainty.runs),
                  grouped(uncertainty.replayed_requests), grouped(uncertainty.simulated_steps)));
}

void SummaryText::write_notes() {
  for (const std::string& note : report_.notes) {
    sentence("note", note);
  }
}

}  // namespace

std::string terminal_summary(const Report& report, bool colour, int width) {
  return SummaryText(report, colour, width).write();
}

}  // namespace inferometer
