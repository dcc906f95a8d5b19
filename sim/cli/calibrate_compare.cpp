#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "calibration/compare/comparison.hpp"
#include "calibration/record/read_measurements.hpp"
#include "sim/cli/calibrate_command.hpp"
#include "sim/cli/comparison_report.hpp"
#include "sim/cli/named_file.hpp"

namespace inferometer {
namespace {

struct CompareOptions {
  std::string a, b, gpu, json;
};

/// "h100-sxm/vllm" and so on, sorted.
std::vector<std::string> shipped_profile_names() {
  std::vector<std::string> names;
  for (const std::string& gpu : builtin_gpu_names()) {
    for (const std::string& library : kernel_profile_libraries(gpu)) {
      names.push_back(gpu + "/" + library);
    }
  }
  return names;
}

/// What a side is: a path goes first, so that a folder may be called like a shipped profile.
KernelTimes read_side(const std::string& name, const std::string& gpu) {
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) {
    return is_kernel_profile(name) ? KernelTimes(name, read_kernel_profile(name))
                                   : KernelTimes(name, read_measurements({name}, {gpu}));
  }
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos) {
    if (auto profile = shipped_kernel_profile(name.substr(0, slash), name.substr(slash + 1))) {
      return {name, std::move(*profile)};
    }
  }
  const std::vector<std::string> names = shipped_profile_names();
  throw ConfigError(Position{}, "\"" + name + "\" is no file, no folder and no shipped profile; those are " +
                                    join_alternatives(names, "and") + did_you_mean(name, names));
}

void run_compare(const CompareOptions& options) {
  const KernelTimes a = read_side(options.a, options.gpu);
  const KernelTimes b = read_side(options.b, options.gpu);
  const Comparison comparison = compare(a, b);
  if (!options.json.empty()) {
    write_file(options.json, comparison_json(a, b, comparison));
  }
  const std::string text = comparison_text(a, b, comparison);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_calibrate_compare(CLI::App& parent) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = parent.add_subcommand(
      "compare", "Two profiles or sets of measurements side by side: rates, and B's times over A's");
  const std::string side =
      "Profile (JSON), shipped profile (h100-sxm/vllm), file of any form that import reads, or a folder of "
      "them";
  command->add_option("A", options->a, side)->required();
  command->add_option("B", options->b, side)->required();
  command->add_option("--gpu", options->gpu,
                      "GPU of measurements that neither say nor are in a folder that says which");
  command->add_option("--json", options->json, "Write the table to this file, too")
      ->type_name("FILE")
      ->check(file_fault);
  command->footer(
      "Two sets of measurements are compared over the calls that both hold, a profile and measurements over "
      "what was\nmeasured, two profiles over calls of well-known models; never beyond what a profile was "
      "fitted "
      "to.");
  command->callback([options] { run_compare(*options); });
}

}  // namespace inferometer
