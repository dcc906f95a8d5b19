#include "sim/cli/calibrate_command.hpp"

#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"

namespace inferometer {

void add_calibrate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("calibrate", "How fast a GPU's kernels are: measurements of them");
  command->require_subcommand(1);
  add_calibrate_import(*command);
  add_calibrate_show(*command);
}

}  // namespace inferometer
