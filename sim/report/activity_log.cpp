#include "sim/report/activity_log.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/check.hpp"

namespace inferometer {
namespace {

// As DCGM lays its columns out: ten places for the GPU, 13 a column, flush left.
constexpr const char* kRow = "{:<10}{:<13}{:<13}\n";
constexpr std::size_t kPeriodsAHeader = 14;  // as many as DCGM has between two

std::string header() {
  return fmt::format(kRow, "#Entity", "SMACT", "DRAMA") + fmt::format(kRow, "ID", "", "");
}

double share(double part, double whole) {
  return std::min(part / whole, 1.0);
}

}  // namespace

void write_activity_log(const ActivityRecorder& recorder, const std::vector<ReplicaGpus>& gpus,
                        std::ostream& out) {
  INFEROMETER_CHECK(gpus.size() == recorder.replicas().size(), "each replica has its GPUs");
  std::size_t periods = 0;
  for (const auto& replica : recorder.replicas()) {
    periods = std::max(periods, replica.size());
  }
  const double period_s = to_seconds(recorder.period());
  for (std::size_t i = 0; i < periods; ++i) {
    if (i % kPeriodsAHeader == 0) {
      out << header();
    }
    std::int64_t gpu = 0;
    for (std::size_t place = 0; place < recorder.replicas().size(); ++place) {
      const std::vector<ActivityPeriod>& replica = recorder.replicas()[place];
      const ReplicaGpus& its = gpus[place];
      const ActivityPeriod period = i < replica.size() ? replica[i] : ActivityPeriod{};
      const double whole_s = period_s * static_cast<double>(its.stages);
      const std::string sm = fmt::format("{:.3f}", share(to_seconds(period.busy), whole_s));
      const std::string dram = fmt::format(
          "{:.3f}", share(static_cast<double>(period.hbm_bytes.count()), its.bandwidth.count() * whole_s));
      for (std::int64_t rank = 0; rank < its.gpus; ++rank) {
        out << fmt::format(kRow, fmt::format("GPU {}", gpu++), sm, dram);
      }
    }
  }
}

}  // namespace inferometer
