// Pools, what goes between them, and replicas that come and go.

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/report/cluster_text.hpp"
#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

/// A page shows no more links than that: of a large cluster, results.json has all.
constexpr std::size_t kLinksOfPage = 20;

/// Of a replica's blocks; results.json has their number.
Cell held_cell(const PoolSummary& pool, double blocks) {
  return pool.kv_blocks > 0 ? Cell(percent(pool.kv_share(blocks))) : Cell("-");
}

TableBlock pool_table(const Summary& summary) {
  TableBlock table{"Pools",
                   {"pool", "replicas at most", "GPUs of each", "busy", "KV held while busy", "KV at most",
                    "running", "waiting at most", "preemptions", "MFU", "MBU"},
                   {}};
  for (std::size_t i = 0; i < summary.pools.size(); ++i) {
    const PoolSummary& pool = summary.pools[i];
    const std::string field = fmt::format("pools.{}.", i);
    const LevelSummary& held = pool.kv_occupancy_blocks;
    table.rows.push_back({pool.name, count_cell(field + "replicas", pool.replicas),
                          fmt::format("{} x {}", grouped(pool.gpus), pool.gpu),
                          percent(1 - pool.time_split.idle - pool.time_split.bubble),
                          held_cell(pool, held.mean_busy), held_cell(pool, static_cast<double>(held.peak)),
                          cell(short_number(pool.running.mean_busy), field + "running_requests.mean_busy",
                               pool.running.mean_busy),
                          count_cell(field + "most_waiting_requests", pool.max_waiting),
                          count_cell(field + "preemptions", pool.preemptions),
                          share_cell(field + "steps.all.mfu_share", pool.all_phases.mfu),
                          share_cell(field + "steps.all.mbu_share", pool.all_phases.mbu)});
  }
  return table;
}

void add_transfers(const ClusterSummary& cluster, Section& section) {
  const TransferSummary& transfers = cluster.transfers;
  if (transfers.count == 0 && transfers.aborted == 0) {
    section.blocks.emplace_back(Paragraph{"No KV cache went from one replica to another."});
    return;
  }
  const std::string field = "cluster.transfers.";
  TableBlock table{"KV caches handed over", {"figure", "value"}, {}};
  table.rows.push_back({"KV caches", count_cell(field + "count", transfers.count)});
  table.rows.push_back({"bytes carried", count_cell(field + "carried_bytes", transfers.bytes.count())});
  table.rows.push_back({"aborted", count_cell(field + "aborted", transfers.aborted)});
  table.rows.push_back(
      {"prompts computed where they decode", count_cell("cluster.local_prefills", cluster.local_prefills)});
  if (transfers.handover) {
    const auto add = [&](const char* name, const char* prefix, double ms) {
      table.rows.push_back(
          {name, cell(short_duration(ms), fmt::format("{}{}_handover_ms", field, prefix), ms)});
    };
    add("handover, mean", "mean", transfers.handover->mean_ms);
    add("handover, p50", "p50", transfers.handover->p50_ms);
    add("handover, p90", "p90", transfers.handover->p90_ms);
    add("handover, p99", "p99", transfers.handover->p99_ms);
  }
  section.blocks.emplace_back(std::move(table));
}

/// By their place among those that carried something, which is the order of results.json.
void add_links(const std::vector<LinkUse>& links, Section& section) {
  std::vector<const LinkUse*> used;
  for (const LinkUse& link : links) {
    if (link.bytes > Bytes(0)) {
      used.push_back(&link);
    }
  }
  if (used.empty()) {
    section.blocks.emplace_back(Paragraph{"No link of the network carried anything."});
    return;
  }
  std::vector<std::size_t> busiest(used.size());
  for (std::size_t i = 0; i < used.size(); ++i) {
    busiest[i] = i;
  }
  std::stable_sort(busiest.begin(), busiest.end(),
                   [&](std::size_t a, std::size_t b) { return used[a]->utilization > used[b]->utilization; });
  busiest.resize(std::min(busiest.size(), kLinksOfPage));
  TableBlock table{used.size() > kLinksOfPage ? fmt::format("The busiest {} of {} links", kLinksOfPage,
                                                            grouped(static_cast<std::int64_t>(used.size())))
                                              : "Links",
                   {"link", "carries, GB/s", "carried, GB", "utilization"},
                   {}};
  for (const std::size_t place : busiest) {
    const LinkUse& link = *used[place];
    const std::string field = fmt::format("links.{}.", place);
    const auto bytes = static_cast<double>(link.bytes.count());
    table.rows.push_back(
        {link.name,
         cell(short_number(link.capacity.count() / 1e9), field + "capacity_bytes_per_s",
              link.capacity.count()),
         cell(short_number(bytes / 1e9), field + "carried_bytes", bytes),
         Cell(percent(link.utilization), ResultsNumber{field + "utilization_share", link.utilization},
              link.utilization > 1 ? Tone::warning : Tone::plain)});
  }
  section.blocks.emplace_back(std::move(table));
}

}  // namespace

Section cluster_section(const Report& report) {
  const ClusterSummary& cluster = *report.summary.cluster;
  Section section{"Cluster", {}};
  section.blocks.emplace_back(pool_table(report.summary));
  add_transfers(cluster, section);
  add_links(cluster.links, section);
  const std::vector<std::string> events = replica_figures(cluster);
  std::string text =
      events.empty() ? "No replica started, drained, failed or moved after the beginning" : "Replicas:";
  for (const std::string& event : events) {
    text += (&event == &events.front() ? " " : ", ") + event;
  }
  section.blocks.emplace_back(Paragraph{text + "."});
  return section;
}

}  // namespace inferometer
