#pragma once

// The section `workload` of a scenario: where requests come from. Exactly one of
//   preset: NAME     lengths and burstiness fitted from a public trace (workloads/presets.hpp); the same as
//                    {generator: gamma, burstiness: the preset's, lengths: NAME}
//   trace: FILE      requests as they were recorded (workloads/trace_reader.hpp)
//   generator: KIND  arrivals of that kind, lengths of a preset (lengths: NAME) or of `prompt` and `output`

#include <cstdint>
#include <memory>
#include <string>

#include "base/config/table.hpp"
#include "base/config/values.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

/// Reads the folder of presets for their names. Throws ConfigError when it is missing.
Table workload_table();

/// Builds what `section`, parsed by workload_table() without a mistake, describes. A relative path of a trace
/// starts from `base_directory`, the folder of the scenario ("" = where the program runs). Everything random
/// comes from streams "workload/..." of `seed`. Throws ConfigError with all mistakes across keys, TraceError
/// for a trace that cannot be opened. With `trace`, the result is a TraceWorkload.
std::unique_ptr<Workload> make_workload(const Values& section, std::uint64_t seed,
                                        const std::string& base_directory);

}  // namespace inferometer
