// What the run costs: money, and energy as estimated.

#include <fmt/format.h>

#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

Cell optional_dollars(const std::string& field, const std::optional<double>& amount) {
  return amount ? cell(dollars(*amount), field, *amount) : Cell("-");
}

std::vector<Cell> money_row(const std::string& name, const Money& money, const std::string& field) {
  return {
      name,
      cell(fmt::format("${:.2f}", money.dollars_per_hour), field + "price_dollars_per_hour",
           money.dollars_per_hour),
      cell(dollars(money.dollars), field + "cost_dollars", money.dollars),
      optional_dollars(field + "output_dollars_per_million_tokens", money.dollars_per_million_output_tokens),
      optional_dollars(field + "total_dollars_per_million_tokens", money.dollars_per_million_tokens),
      optional_dollars(field + "dollars_per_thousand_requests", money.dollars_per_thousand_requests)};
}

std::vector<Cell> energy_row(const std::string& name, const Energy& energy, const std::string& field) {
  const std::optional<double>& each = energy.joules_per_request;
  const std::optional<double>& per_token = energy.joules_per_output_token;
  return {name, cell(short_number(energy.mean_watts) + " W", field + "power_watts_mean", energy.mean_watts),
          cell(short_number(energy.joules / 1e3) + " kJ", field + "energy_joules", energy.joules),
          per_token ? cell(short_number(*per_token) + " J", field + "joules_per_output_token", *per_token)
                    : Cell("-"),
          each ? cell(short_number(*each) + " J", field + "joules_per_request", *each) : Cell("-")};
}

std::vector<Cell> interval_row(const Report& report, std::vector<std::string> metrics) {
  std::vector<Cell> row = {"interval"};
  for (const std::string& metric : metrics) {
    row.emplace_back(interval(report, metric).value_or("-"));
  }
  return row;
}

void add_money(const Report& report, Section& section) {
  const Summary& summary = report.summary;
  if (!summary.money) {
    section.blocks.emplace_back(
        Paragraph{"No price is known for every GPU, so nothing is said of cost: hardware.price "
                  "sets one."});
    return;
  }
  TableBlock table{"Cost",
                   {"of", "$ per hour", "this run", "$ per million output tokens",
                    "$ per million tokens, all", "$ per 1,000 requests"},
                   {}};
  table.rows.push_back(money_row(summary.pools.size() > 1 ? "all" : "run", *summary.money, "money."));
  if (interval(report, "output_dollars_per_million_tokens")) {
    table.rows.push_back(interval_row(
        report, {"", "", "output_dollars_per_million_tokens", "total_dollars_per_million_tokens", ""}));
  }
  for (std::size_t i = 0; summary.pools.size() > 1 && i < summary.pools.size(); ++i) {
    if (const PoolSummary& pool = summary.pools[i]; pool.money) {
      table.rows.push_back(money_row(pool.name, *pool.money, fmt::format("pools.{}.money.", i)));
    }
  }
  section.blocks.emplace_back(std::move(table));
  if (summary.stability.verdict == QueueStability::unstable) {
    section.blocks.emplace_back(
        Paragraph{"At overload every replica is full: a service that keeps up with its traffic pays more.",
                  Tone::warning});
  }
}

void add_energy(const Report& report, Section& section) {
  const Summary& summary = report.summary;
  if (!summary.energy) {
    section.blocks.emplace_back(
        Paragraph{"No power limit is known for every GPU, so nothing is said of energy."});
    return;
  }
  TableBlock table{"Energy of the GPUs, estimated from the power limit and the time split",
                   {"of", "mean power", "this run", "per output token", "per request"},
                   {}};
  table.rows.push_back(energy_row(summary.pools.size() > 1 ? "all" : "run", *summary.energy, "energy."));
  if (interval(report, "joules_per_output_token")) {
    table.rows.push_back(interval_row(report, {"", "energy_joules", "joules_per_output_token", ""}));
  }
  for (std::size_t i = 0; summary.pools.size() > 1 && i < summary.pools.size(); ++i) {
    if (const PoolSummary& pool = summary.pools[i]; pool.energy) {
      table.rows.push_back(energy_row(pool.name, *pool.energy, fmt::format("pools.{}.energy.", i)));
    }
  }
  section.blocks.emplace_back(std::move(table));
}

}  // namespace

Section cost_section(const Report& report) {
  Section section{"Cost and energy", {}};
  add_money(report, section);
  add_energy(report, section);
  return section;
}

}  // namespace inferometer
