// The answer of a run, in sentences.

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sim/report/prefix_sentence.hpp"
#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

/// Of steps in which kernels went beyond what was measured, from which on that is a warning.
constexpr double kMuchExtrapolated = 0.1;

Paragraph what_was_done(const Report& report) {
  const Summary& summary = report.summary;
  if (summary.census.injected == 0) {
    return {"No request arrived, so there is nothing to report.", Tone::warning};
  }
  std::string text = fmt::format("{} of {} done in {} of simulated time", grouped(summary.completed),
                                 counted(summary.census.injected, "request"),
                                 short_duration(1e3 * summary.duration_seconds));
  if (summary.completed == 0) {
    return {text + ": no request finished, so there are no latencies and no throughput.", Tone::bad};
  }
  text += fmt::format(": {} req/s{} and {} output tok/s{}", short_number(summary.request_throughput),
                      interval_behind(report, "request_throughput"), short_number(summary.output_throughput),
                      interval_behind(report, "output_throughput"));
  if (summary.ttft) {
    text += fmt::format("; TTFT {}{} and E2E latency {}{} at p99", short_duration(summary.ttft->p99_ms),
                        interval_behind(report, "p99_ttft_ms"), short_duration(summary.e2el->p99_ms),
                        interval_behind(report, "p99_e2el_ms"));
  }
  text += ".";
  if (report.uncertainty) {
    text += fmt::format(
        " In brackets: {:.0f} to {:.0f} % of {} runs with kernels as far off as on shapes left out of the "
        "fit.",
        100 * Uncertainty::kLow, 100 * Uncertainty::kHigh, grouped(report.uncertainty->runs));
  }
  return {text, Tone::plain};
}

/// Of those met, the one with the least to spare; of those missed, each.
Paragraph limits(const Report& report) {
  const std::vector<SloVerdict>& verdicts = report.slo.verdicts;
  if (verdicts.empty()) {
    return {"The scenario sets no limits (section slo), so nothing is met or missed.", Tone::plain};
  }
  if (report.slo.all_met()) {
    const auto tightest =
        std::min_element(verdicts.begin(), verdicts.end(), [](const SloVerdict& a, const SloVerdict& b) {
          return std::abs(a.over.value_or(0)) < std::abs(b.over.value_or(0));
        });
    return {fmt::format("{} met; {} has least to spare: {}, limit {}, {}.",
                        verdicts.size() == 1 ? "The limit is" : "All limits are", tightest->name,
                        slo_amount(*tightest, tightest->value.value_or(0)),
                        slo_amount(*tightest, tightest->limit), outcome(*tightest)),
            Tone::good};
  }
  std::string text = "Limits missed:";
  for (const SloVerdict& verdict : verdicts) {
    if (!verdict.met) {
      text += fmt::format(" {}{}, limit {}, {};", verdict.name,
                          verdict.value ? " " + slo_amount(verdict, *verdict.value) : "",
                          slo_amount(verdict, verdict.limit), outcome(verdict));
    }
  }
  text.back() = '.';
  return {text, Tone::bad};
}

Paragraph queue(const Report& report) {
  const StabilityReport& stability = report.summary.stability;
  std::string text = fmt::format("Queue: {}", to_string(stability.verdict));
  text += stability.sentence.empty() ? "" : ", " + stability.sentence;
  if (stability.load && *stability.load > 0) {
    text += fmt::format("; offered {} req/s, {} of the estimated capacity of {} req/s{}{}",
                        short_number(stability.offered_per_second), percent(*stability.load),
                        short_number(stability.offered_per_second / *stability.load),
                        interval_behind(report, "capacity_requests_per_s"), capacity_condition(stability));
  }
  const bool is_unstable = stability.verdict == QueueStability::unstable;
  return {sentence(text), is_unstable                                   ? Tone::bad
                          : stability.verdict == QueueStability::stable ? Tone::good
                                                                        : Tone::plain};
}

void add_doubts(const Report& report, std::vector<Paragraph>& answer) {
  std::string doubtful;
  for (const SloVerdict& verdict : report.slo.verdicts) {
    if (is_in_doubt(report, verdict)) {
      doubtful += (doubtful.empty() ? "" : ", ") + verdict.name;
    }
  }
  if (!doubtful.empty()) {
    answer.push_back({"In doubt: " + doubtful +
                          ". Re-runs with other errors of the cost model lie on both sides of the limit.",
                      Tone::warning});
  }
}

void add_prefixes(const Summary& summary, std::vector<Paragraph>& answer) {
  if (summary.prefixes) {
    answer.push_back({"Prefix cache: " + prefix_sentence(*summary.prefixes) + ".", Tone::plain});
  }
}

void add_losses(const Summary& summary, std::vector<Paragraph>& answer) {
  for (const RejectionCount& rejection : summary.rejections) {
    answer.push_back(
        {sentence(fmt::format("{} rejected: {}", counted(rejection.requests, "request"), rejection.reason)),
         Tone::bad});
  }
  if (summary.cluster) {
    for (const RejectionCount& lost : summary.cluster->lost) {
      answer.push_back(
          {sentence(fmt::format("{} lost: {}", counted(lost.requests, "request"), lost.reason)), Tone::bad});
    }
  }
  if (summary.truncated > 0) {
    answer.push_back(
        {fmt::format("{} cut short by max_model_len.", counted(summary.truncated, "output")), Tone::warning});
  }
  if (summary.preemptions > 0) {
    std::string text =
        counted(summary.preemptions, "preemption") + ": there were fewer KV blocks than requests needed";
    if (summary.recomputed_tokens) {
      text += fmt::format("; {} computed again", counted(*summary.recomputed_tokens, "token"));
    }
    if (summary.kv_swap) {
      text += fmt::format("; {} swapped to host memory", grouped(summary.kv_swap->counts.swapped_out));
    }
    answer.push_back({text + ".", Tone::warning});
  }
}

}  // namespace

std::vector<Paragraph> answer_of(const Report& report) {
  const Summary& summary = report.summary;
  std::vector<Paragraph> answer;
  if (summary.partial) {
    answer.push_back(
        {"Partial: the run was interrupted; these are the results of what was done so far.", Tone::bad});
  }
  answer.push_back(what_was_done(report));
  if (summary.census.injected > 0) {
    answer.push_back(limits(report));
    add_doubts(report, answer);
    answer.push_back(queue(report));
  }
  add_prefixes(summary, answer);
  add_losses(summary, answer);
  if (summary.extrapolated_share > 0) {
    answer.push_back(
        {fmt::format("{} of the time in steps went to kernels outside of what was measured: their prices are "
                     "extrapolated.",
                     percent(summary.extrapolated_share)),
         summary.extrapolated_share >= kMuchExtrapolated ? Tone::warning : Tone::plain});
  }
  return answer;
}

}  // namespace inferometer
