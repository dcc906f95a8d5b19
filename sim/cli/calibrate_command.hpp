#pragma once

// The subcommands of `calibrate`, one file each.

namespace CLI {
class App;
}

namespace inferometer {

void add_calibrate_run(CLI::App& parent);
void add_calibrate_import(CLI::App& calibrate_command);
void add_calibrate_show(CLI::App& calibrate_command);
/// `calibrate fit DATA... --out FILE`: from measurements to a profile.
void add_calibrate_fit(CLI::App& parent);
/// `calibrate validate PROFILE DATA...`: how far a profile is from measurements.
void add_calibrate_validate(CLI::App& parent);
/// `calibrate compare A B`: two profiles or sets of measurements side by side.
void add_calibrate_compare(CLI::App& parent);
/// `calibrate activity LOG...`: how busy GPUs were, by logs of `dcgmi dmon`.
void add_calibrate_activity(CLI::App& parent);
/// `calibrate host RESULTS...`: from measured runs to host times.
void add_calibrate_host(CLI::App& parent);

}  // namespace inferometer
