#include <optional>
#include <string>

#include "calibration/record/importers.hpp"
#include "calibration/record/vidur_table.hpp"

namespace inferometer {

void import_vidur_collectives(LineSource& lines, FileContents& contents, RowErrors& errors) {
  MeasurementCsv csv(lines, {}, errors);
  const auto collective = csv.require("collective");
  const auto workers = csv.require("num_workers");
  const auto workers_of_node = csv.require("devices_per_node");
  const auto bytes = csv.require("size");
  const auto all_reduce = csv.find("time_stats.all_reduce.median");
  const auto send_recv = csv.find("time_stats.send_recv.median");
  if (!all_reduce && !send_recv) {
    csv.require("time_stats.all_reduce.median");
  }
  if (errors.count() > 0) {
    return;
  }
  Measurements& set = vidur_set(contents);
  while (csv.next()) {
    // Both are those of torch.distributed, which are NCCL's.
    const bool reduces = csv.text(collective) == "all_reduce";
    const auto& time = reduces ? all_reduce : send_recv;
    if (!time || (!reduces && csv.text(collective) != "send_recv")) {
      contents.leave_out("the collective " + std::string(csv.text(collective)));
      continue;
    }
    const double gpus = csv.count(workers, 2);
    if (csv.count(workers_of_node) < gpus) {
      contents.leave_out("between nodes");
      continue;
    }
    KernelCall call{
        KernelFamily::collective, reduces ? "nccl_all_reduce" : "send_recv", {gpus, csv.count(bytes)}};
    add_rounded_point(std::move(call), "", csv, *time, contents, set);
  }
}

}  // namespace inferometer
