#pragma once

// The program's subcommands, one function and one file (<name>_command.cpp) each.
//
// Each function adds its subcommand with options to `app` and sets a callback on it. The callback runs inside
// CLI11's parse, writes its answer to standard output, and throws InputError for what the user got wrong;
// main prints that and chooses the exit code. Values the options write to must live as long as `app` (a
// shared_ptr held by the callback does). An exit code other than 0 that is not an error, such as a run ended
// by Ctrl-C, is thrown as CLI::RuntimeError(code).

namespace CLI {
class App;
}

namespace inferometer {

/// `run SCENARIO`: what happens under this traffic.
void add_run_command(CLI::App& app);
/// `compare STUDY`: which variant is better, and is the difference real.
void add_compare_command(CLI::App& app);
/// `plan STUDY`: what to buy, what it sustains, why not the others.
void add_plan_command(CLI::App& app);
/// `describe [SECTION]`: every key of a scenario; the models, GPUs, policies and workloads that are built in.
void add_describe_command(CLI::App& app);
/// `memory`: what fits on the GPUs.
void add_memory_command(CLI::App& app);
/// `roofline`: what binds a step, operator by operator.
void add_roofline_command(CLI::App& app);
/// `calibrate import | fit | validate | compare | activity | show`: how fast a GPU's kernels are, and how
/// well we know it.
void add_calibrate_command(CLI::App& app);
/// `workload inspect | convert | generate`: what is in a trace.
void add_workload_command(CLI::App& app);

/// `validate RUNS...`: how far predictions are from measured runs.
void add_validate_command(CLI::App& app);

}  // namespace inferometer
