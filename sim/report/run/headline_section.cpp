// The figures shown large, and each limit.

#include <fmt/format.h>

#include "sim/report/prefix_sentence.hpp"
#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

class Headlines {
 public:
  explicit Headlines(const Report& report) : report_(report), summary_(report.summary) {}

  std::vector<KeyFigure> all() {
    if (summary_.completed > 0) {
      add_throughput();
      add_latency("ttft", summary_.ttft);
      add_latency("itl", summary_.itl);
      add_latency("e2el", summary_.e2el);
    }
    add_goodput();
    add_load();
    add_price();
    return std::move(figures_);
  }

 private:
  void add(std::string name, std::string value, std::string remark, std::string field, double number,
           Tone tone = Tone::plain) {
    figures_.push_back({std::move(name), std::move(value), std::move(remark), tone,
                        ResultsNumber{std::move(field), number}});
  }

  /// The interval of a metric as a remark; nothing without.
  [[nodiscard]] std::string between(const char* metric, const char* unit) const {
    const std::optional<std::string> found = interval(report_, metric);
    return found ? *found + unit : "";
  }

  void add_throughput() {
    add("throughput", short_number(summary_.request_throughput) + " req/s",
        between("request_throughput", " req/s"), "metrics.request_throughput", summary_.request_throughput);
    add("output tokens", short_number(summary_.output_throughput) + " tok/s",
        between("output_throughput", " tok/s"), "metrics.output_throughput", summary_.output_throughput);
    add("tokens with input", short_number(summary_.total_token_throughput) + " tok/s",
        between("total_token_throughput", " tok/s"), "metrics.total_token_throughput",
        summary_.total_token_throughput);
  }

  void add_latency(const std::string& metric, const std::optional<DurationStatistics>& statistics) {
    if (!statistics) {
      return;
    }
    const std::string name = "p99_" + metric + "_ms";
    std::string remark = between(name.c_str(), "");
    Tone tone = Tone::plain;
    for (const SloVerdict& verdict : report_.slo.verdicts) {
      if (verdict.name == metric + "_p99") {
        remark += fmt::format("{}limit {}, {}", remark.empty() ? "" : "; ",
                              slo_amount(verdict, verdict.limit), outcome(verdict));
        tone = !verdict.met ? Tone::bad : is_in_doubt(report_, verdict) ? Tone::warning : Tone::good;
      }
    }
    add("p99 " + latency_name(metric), short_duration(statistics->p99_ms), remark, "metrics." + name,
        statistics->p99_ms, tone);
  }

  void add_goodput() {
    if (summary_.goodput_share && summary_.request_goodput) {
      add("goodput", percent(*summary_.goodput_share),
          fmt::format("of requests kept their own limits: {} req/s{}",
                      short_number(*summary_.request_goodput), interval_behind(report_, "request_goodput")),
          "requests.goodput_share", *summary_.goodput_share);
    }
  }

  void add_load() {
    const StabilityReport& stability = summary_.stability;
    if (stability.load && *stability.load > 0) {
      const double capacity = stability.offered_per_second / *stability.load;
      add("load", percent(*stability.load),
          fmt::format("of an estimated capacity of {} req/s{}{}", short_number(capacity),
                      interval_behind(report_, "capacity_requests_per_s"), capacity_condition(stability)),
          "stability.load_share", *stability.load,
          stability.verdict == QueueStability::unstable ? Tone::bad : Tone::plain);
    }
  }

  void add_price() {
    if (summary_.money && summary_.money->dollars_per_million_output_tokens) {
      const double price = *summary_.money->dollars_per_million_output_tokens;
      add("per million output tokens", dollars(price),
          between("output_dollars_per_million_tokens", " dollars"), "money.output_dollars_per_million_tokens",
          price);
    }
    if (summary_.energy && summary_.energy->joules_per_output_token) {
      const double joules = *summary_.energy->joules_per_output_token;
      add("energy per output token", short_number(joules) + " J",
          "estimated" + interval_behind(report_, "joules_per_output_token"), "energy.joules_per_output_token",
          joules);
    }
  }

  const Report& report_;
  const Summary& summary_;
  std::vector<KeyFigure> figures_;
};

TableBlock limits_table(const Report& report) {
  TableBlock table{"Limits", {"limit", "asked for", "got", "outcome"}, {}};
  for (std::size_t i = 0; i < report.slo.verdicts.size(); ++i) {
    const SloVerdict& verdict = report.slo.verdicts[i];
    const std::string field = fmt::format("slo.{}.", i);
    const std::string asked =
        (verdict.is_share() ? "at least " : "at most ") + slo_amount(verdict, verdict.limit);
    const bool is_doubtful = is_in_doubt(report, verdict);
    const Tone tone = !verdict.met ? Tone::bad : is_doubtful ? Tone::warning : Tone::good;
    table.rows.push_back({verdict.name, cell(asked, field + "limit", verdict.limit),
                          verdict.value
                              ? cell(slo_amount(verdict, *verdict.value), field + "value", *verdict.value)
                              : Cell("-"),
                          Cell(outcome(verdict) + (is_doubtful ? ", in doubt" : ""), tone)});
  }
  return table;
}

}  // namespace

Section headline_section(const Report& report) {
  Section section{"At a glance", {}};
  std::vector<KeyFigure> figures = Headlines(report).all();
  if (figures.empty()) {
    section.blocks.emplace_back(Paragraph{"No request finished, so there are no figures to show."});
  } else {
    section.blocks.emplace_back(std::move(figures));
  }
  if (!report.slo.verdicts.empty()) {
    section.blocks.emplace_back(limits_table(report));
  }
  return section;
}

}  // namespace inferometer
