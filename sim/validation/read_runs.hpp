#pragma once

// Measured runs from what benchmark tools leave. Who uses it: `inferometer validate` and `inferometer
// calibrate host`.

#include <string>
#include <vector>

#include "sim/validation/measured_run.hpp"

namespace inferometer {

/// The runs of a file or a folder, in its order; folders are searched for runs, files in the order of their
/// names. What a file is tells its content, never its name:
///   CSV   the columns of aiconfigurator's silicon tables, of inference-perf's stages with a shared prefix,
///   of
///         TensorRT-LLM's offline throughput, our own (`own_csv_help()`), and requests one by one beside
///         exp-config.yaml;
///   JSON  the keys of `vllm bench serve --save-result` and SGLang's bench_serving (also a line each), of
///   AIPerf's
///         profile_export and of GuideLLM's benchmarks.
/// Throws ConfigError or TraceError: nothing there; a file of no such format (lists the formats, and the
/// columns that are missing from the nearest); figures that cannot be, with file, line and column, all of
/// them up to 20; two runs of one name in a file. In a folder, files of no known format are passed over
/// unless none is known. O(bytes).
std::vector<MeasuredRun> read_measured_runs(const std::string& path);

/// The columns of our own CSV, for whoever writes one: text with line ends.
std::string own_csv_help();

/// Those of several files and folders, in this order. Throws also when there is none in all of them.
/// Precondition: at least one path.
std::vector<MeasuredRun> read_measured_runs(const std::vector<std::string>& paths);

}  // namespace inferometer
