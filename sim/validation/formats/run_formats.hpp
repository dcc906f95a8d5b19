#pragma once

// The formats of measured runs: how each is told and read. Who uses it: read_runs.cpp alone.

#include <functional>
#include <string>
#include <vector>

#include "costmodel/json_object.hpp"
#include "sim/validation/csv_rows.hpp"
#include "sim/validation/measured_run.hpp"

namespace inferometer {

/// A CSV format is told by columns that all have to be in the header.
struct CsvRunFormat {
  std::string name;                  ///< "aiconfigurator", for messages
  std::vector<std::string> columns;  ///< that it must have
  /// Mistakes go to the Diagnostics that the rows were made with.
  std::function<std::vector<MeasuredRun>(CsvRows& rows, const std::string& path, Diagnostics& mistakes)> read;
};

CsvRunFormat aiconfigurator_format();
CsvRunFormat inference_perf_format();
CsvRunFormat trtllm_offline_format();
CsvRunFormat own_csv_format();
CsvRunFormat recorded_requests_format();

/// A JSON format is told by keys of its outermost object. `name` is the run's.
struct JsonRunFormat {
  std::string name;
  std::vector<std::string> keys;
  std::function<std::vector<MeasuredRun>(const JsonObject& object, const std::string& path,
                                         const std::string& name)>
      read;
};

JsonRunFormat bench_serve_format();
JsonRunFormat aiperf_format_of_runs();
JsonRunFormat guidellm_format();

/// The file's name without folders and its ending.
std::string stem_of(const std::string& path);

}  // namespace inferometer
