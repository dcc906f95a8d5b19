#include "sim/cli/calibrate_command.hpp"

#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"

namespace inferometer {

void add_calibrate_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("calibrate", "How fast a GPU's kernels are, and how well we know it");
  command->require_subcommand(1);
  add_calibrate_run(*command);
  add_calibrate_import(*command);
  add_calibrate_fit(*command);
  add_calibrate_validate(*command);
  add_calibrate_compare(*command);
  add_calibrate_activity(*command);
  add_calibrate_host(*command);
  add_calibrate_show(*command);
}

}  // namespace inferometer
