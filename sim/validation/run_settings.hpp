#pragma once

// How readers write what a file says into a MeasuredRun: as settings of a scenario, in one spelling. Who uses
// it: the readers of formats/.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/validation/measured_run.hpp"

namespace inferometer {

/// "path=value", in place of what was set before; workload.generator and engine.policy come first. A text
/// that comes from a file goes through set_text(), which quotes it.
void set(MeasuredRun& run, std::string_view path, std::string_view value);
void set(MeasuredRun& run, std::string_view path, std::int64_t value);
void set_text(MeasuredRun& run, std::string_view path, std::string_view text);

/// The built-in model of that name and the quantization that the name implies. One that is not built in is
/// set as its short name, which the scenario refuses with the nearest one, unless the user sets another
/// model.
void set_model(MeasuredRun& run, std::string_view id);
/// The same for a GPU.
void set_gpu(MeasuredRun& run, std::string_view name);
/// engine.quantization for a tool's word for a precision, unless the model's name has implied it.
void set_precision(MeasuredRun& run, std::string_view precision);

/// True once engine.quantization is fp8 or fp8_block.
bool quantization_is_fp8(const MeasuredRun& run);

/// hardware.KEY, when it is more than one.
void set_parallel(MeasuredRun& run, std::string_view key, std::int64_t value);

// The workload. `which` is "prompt" or "output".

void set_fixed(MeasuredRun& run, std::string_view which, std::int64_t tokens);
void set_uniform(MeasuredRun& run, std::string_view which, std::int64_t least, std::int64_t most);
/// Uniform lengths of that mean and standard deviation, none under 1 token; fixed where the deviation is
/// none.
void set_spread(MeasuredRun& run, std::string_view which, double mean, double deviation);
/// The lengths that were sent, by their quantiles in steps of a twentieth. Precondition: not empty.
void set_lengths(MeasuredRun& run, std::string_view which, std::vector<std::int64_t> tokens);

/// Each client sends its next request when it has its answer. More clients than requests are as many as
/// requests.
void set_closed_loop(MeasuredRun& run, std::int64_t clients, std::int64_t requests);
/// Poisson arrivals whose last one comes at exactly requests / rate.
void set_poisson(MeasuredRun& run, double rate, std::int64_t requests);
void set_all_at_once(MeasuredRun& run, std::int64_t requests);

/// Names of figures that a run may have: those of headline_metrics() that tools measure, and kLoneTtft.
const std::vector<std::string>& measured_metrics();

/// What the folders and the name of a file say of the engine and the GPU: "vllm_0.15.1_runs.csv" is of vLLM
/// 0.15.1. Used where the file itself says nothing, with a note.
void fill_from_path(MeasuredRun& run, const std::string& path);

}  // namespace inferometer
