#pragma once

// The subcommands of `calibrate`, one file each.

namespace CLI {
class App;
}

namespace inferometer {

void add_calibrate_import(CLI::App& calibrate_command);
void add_calibrate_show(CLI::App& calibrate_command);

}  // namespace inferometer
