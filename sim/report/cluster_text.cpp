#include "sim/report/cluster_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

constexpr int kReplicasWidth = 9;
constexpr int kFigureWidth = 8;

/// The blank is the cell's first character, so that wide numbers stay apart.
std::string cell(const std::optional<double>& value) {
  return fmt::format(" {:>{}}", value ? short_number(*value) : "-", kFigureWidth - 1);
}

std::optional<double> percent(const std::optional<double>& share) {
  return share ? std::optional(100 * *share) : std::nullopt;
}

/// "12.3 GB"
std::string short_bytes(Bytes bytes) {
  static constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
  const auto count = static_cast<double>(bytes.count());
  for (const auto& [size, name] : kUnits) {
    if (count >= size) {
      return short_number(count / size) + " " + name;
    }
  }
  return grouped(bytes.count()) + " B";
}

/// "1 request begun anew", "2 requests begun anew"; nothing for none.
void add_count(std::vector<std::string>& figures, std::int64_t count, const char* noun, const char* what) {
  if (count > 0) {
    figures.push_back(fmt::format("{} {}{} {}", grouped(count), noun, count == 1 ? "" : "s", what));
  }
}

}  // namespace

std::string pool_table_head() {
  std::string head = fmt::format("{:<{}}{:>{}}", "pools", kPoolColumnWidth, "replicas", kReplicasWidth);
  for (const char* column : {"busy %", "KV %", "at most", "running", "MFU %", "MBU %"}) {
    head += fmt::format("{:>{}}", column, kFigureWidth);
  }
  return head;
}

std::string pool_row(const PoolSummary& pool, int width) {
  const auto kv = [&](double blocks) {
    return pool.kv_blocks > 0 ? std::optional(100 * pool.kv_share(blocks)) : std::nullopt;
  };
  std::string row =
      fmt::format("{:<{}}{:>{}}", "  " + pool.name, kPoolColumnWidth, grouped(pool.replicas), kReplicasWidth);
  row += cell(100 * (1 - pool.time_split.idle - pool.time_split.bubble));
  row += cell(kv(pool.kv_occupancy_blocks.mean_busy));
  row += cell(kv(static_cast<double>(pool.kv_occupancy_blocks.peak)));
  row += cell(pool.running.mean_busy);
  row += cell(percent(pool.all_phases.mfu));
  row += cell(percent(pool.all_phases.mbu));
  const std::string gpus = fmt::format("{} x {} each", grouped(pool.gpus), pool.gpu);
  const bool fits = row.size() + 2 + gpus.size() <= static_cast<std::size_t>(width);
  return row + (fits ? "  " : "\n" + std::string(kPoolColumnWidth, ' ')) + gpus;
}

std::vector<std::string> transfer_figures(const ClusterSummary& cluster) {
  const TransferSummary& transfers = cluster.transfers;
  std::vector<std::string> figures;
  if (transfers.count > 0) {
    figures.push_back(
        fmt::format("{} KV caches, {} in all", grouped(transfers.count), short_bytes(transfers.bytes)));
  }
  if (transfers.handover) {
    const DurationStatistics& handover = *transfers.handover;
    figures.push_back("handover: mean " + short_duration(handover.mean_ms));
    figures.push_back("p50 " + short_duration(handover.p50_ms));
    figures.push_back("p90 " + short_duration(handover.p90_ms));
    figures.push_back("p99 " + short_duration(handover.p99_ms));
  }
  if (transfers.aborted > 0) {
    figures.push_back(grouped(transfers.aborted) + " aborted");
  }
  add_count(figures, cluster.local_prefills, "prompt", "computed where they decode");
  return figures;
}

std::vector<std::string> link_figures(const std::vector<LinkUse>& links) {
  std::vector<const LinkUse*> busiest;
  for (const LinkUse& link : links) {
    if (link.bytes > Bytes(0)) {
      busiest.push_back(&link);
    }
  }
  std::stable_sort(busiest.begin(), busiest.end(),
                   [](const LinkUse* a, const LinkUse* b) { return a->utilization > b->utilization; });
  std::vector<std::string> figures;
  for (std::size_t i = 0; i < std::min(busiest.size(), kLinksShown); ++i) {
    figures.push_back(busiest[i]->name + " " + short_number(100 * busiest[i]->utilization) + " %");
  }
  if (busiest.size() > kLinksShown) {
    const auto more = static_cast<std::int64_t>(busiest.size() - kLinksShown);
    figures.push_back(fmt::format("and {} less busy", grouped(more)));
  }
  return figures;
}

std::vector<std::string> replica_figures(const ClusterSummary& cluster) {
  std::vector<std::string> figures;
  const auto add_verb = [&](std::int64_t count, const char* verb) {
    if (count > 0) {
      figures.push_back(fmt::format("{} {}", grouped(count), verb));
    }
  };
  add_verb(cluster.replica_starts, "started");
  add_verb(cluster.replica_drains, "drained");
  add_verb(cluster.replica_failures, "failed");
  add_verb(cluster.replica_moves, "moved to the other pool");
  add_count(figures, cluster.retries, "request", "begun anew");
  add_count(figures, cluster.lost_tokens, "token", "emitted in vain");
  return figures;
}

}  // namespace inferometer
