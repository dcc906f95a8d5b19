// What came of drafted tokens.

#include <fmt/format.h>

#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {

Section speculation_section(const Report& report) {
  const SpeculationSummary& speculation = *report.summary.speculation;
  Section section{"Speculation", {}};
  section.blocks.emplace_back(Paragraph{fmt::format(
      "{} of {} drafted tokens were accepted ({}): a sequence emitted {} tokens in each step that "
      "verified drafts.",
      grouped(speculation.counts.accepted_tokens), grouped(speculation.counts.draft_tokens),
      percent(speculation.acceptance_rate), short_number(speculation.acceptance_length))});
  if (const DraftCounts& counts = speculation.counts;
      counts.draft_tokens < counts.drafts * counts.most_tokens) {
    section.blocks.emplace_back(Paragraph{fmt::format(
        "The engine chose how many to draft: where it drafted, {} for a sequence on average and {} at most.",
        short_number(static_cast<double>(counts.draft_tokens) / static_cast<double>(counts.drafts)),
        counts.most_tokens)});
  }
  TableBlock table{"Drafts accepted up to each position", {"position", "share of drafts"}, {}};
  for (std::size_t i = 0; i < speculation.acceptance_by_position.size(); ++i) {
    table.rows.push_back({fmt::format("{}", i + 1),
                          share_cell(fmt::format("metrics.spec_decode_per_position_acceptance_rates.{}", i),
                                     speculation.acceptance_by_position[i])});
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace inferometer
