#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "calibration/record/read_measurements.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "sim/cli/calibrate_command.hpp"
#include "sim/cli/calibrate_report.hpp"
#include "sim/cli/measurement_report.hpp"

namespace inferometer {
namespace {

struct ShowArguments {
  std::string file;
  std::string gpu;
};

void run_show(const ShowArguments& given) {
  const std::string text = is_kernel_profile(given.file)
                               ? profile_text(read_kernel_profile(given.file))
                               : measurement_report(read_measurements({given.file}, {given.gpu}));
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_calibrate_show(CLI::App& calibrate_command) {
  const auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command = calibrate_command.add_subcommand(
      "show",
      "What a profile or measurements hold: families, number formats, points, range of each axis, errors");
  command
      ->add_option("FILE", arguments->file,
                   "Profile, record file, or anything else that \"calibrate import\" reads")
      ->required();
  command->add_option("--gpu", arguments->gpu, "As for \"calibrate import\"");
  command->callback([arguments] { run_show(*arguments); });
}

}  // namespace inferometer
