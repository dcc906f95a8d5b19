#include <string>
#include <utility>
#include <vector>

#include "calibration/record/importers.hpp"
#include "calibration/record/vidur_table.hpp"

namespace inferometer {
namespace {

/// Column and variant. Times of whole model executions are left out: the GPU's time is in them.
constexpr std::pair<std::string_view, std::string_view> kHostWork[] = {
    {"schedule_median", "schedule"},
    {"prepare_inputs_e2e_median", "prepare_inputs"},
    {"sampler_e2e_median", "sample"},
    {"process_model_outputs_median", "process_outputs"},
    {"model_execution_launch_median", "execute"},
};

}  // namespace

void import_vidur_host(LineSource& lines, FileContents& contents, RowErrors& errors) {
  MeasurementCsv csv(lines, {}, errors);
  const auto sequences = csv.require("batch_size");
  const auto gpus = csv.require("tensor_parallel_degree");
  const auto model = csv.find("model_name");
  std::vector<std::pair<MeasurementCsv::Column, std::string>> timed;
  for (const auto& [name, variant] : kHostWork) {
    if (const auto column = csv.find(name)) {
      timed.emplace_back(*column, variant);
    }
  }
  if (timed.empty()) {
    csv.require("schedule_median");
  }
  if (errors.count() > 0) {
    return;
  }
  if (csv.find("model_execution_e2e_median")) {
    contents.note("model_execution_e2e_median not used: the GPU's time is in it");
  }
  Measurements& set = vidur_set(contents);
  while (csv.next()) {
    for (const auto& [time, variant] : timed) {
      KernelCall call{KernelFamily::host, variant, {csv.count(sequences), csv.count(gpus)}};
      add_rounded_point(std::move(call), model ? csv.text(*model) : std::string_view(), csv, time, contents,
                        set);
    }
  }
}

}  // namespace inferometer
