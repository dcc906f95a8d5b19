#include "sim/cli/vllm_args_option.hpp"

#include <CLI/CLI.hpp>

#include "sim/engine_arguments/vllm_command.hpp"

namespace inferometer {

void add_vllm_args_option(CLI::App& command, std::string& arguments) {
  command
      .add_option(
          "--vllm-args", arguments,
          "Lay the command line of vLLM over the scenario, as it is: \"serve Qwen/Qwen3-32B -tp 2 "
          "--max-num-seqs 128\"; --set goes over it. \"inferometer describe vllm-args\" says what becomes "
          "of each flag")
      ->type_name("ARGUMENTS")
      ->check([](const std::string& text) {
        return text.find_first_not_of(" \t\r\n") == std::string::npos
                   ? "expected a command line, found nothing"
                   : "";
      });
}

std::function<ScenarioLayer(const ConfigNode& below)> vllm_command(const std::string& arguments) {
  if (arguments.empty()) {
    return {};
  }
  return [arguments](const ConfigNode& below) { return vllm_layer(arguments, below); };
}

}  // namespace inferometer
