#include "sim/cli/plugin_option.hpp"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/scenario/load_plugin.hpp"

namespace inferometer {

void add_plugin_option(CLI::App& command) {
  command
      .add_option_function<std::vector<std::string>>(
          "--plugin",
          [](const std::vector<std::string>& plugins) {
            for (const std::string& plugin : plugins) {
              load_plugin(plugin);
            }
          },
          "Take policies and routers from a shared object, whose code then runs; may be repeated")
      ->type_name("FILE")
      ->take_all()
      ->allow_extra_args(false);
}

}  // namespace inferometer
