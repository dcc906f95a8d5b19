#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "calibration/fit/validation.hpp"
#include "calibration/record/read_measurements.hpp"
#include "sim/cli/calibrate_command.hpp"
#include "sim/cli/calibrate_report.hpp"

namespace inferometer {
namespace {

struct ValidateOptions {
  std::string profile;
  std::vector<std::string> data;
  std::string json;
  std::string split = "shape";
  int held_out = 0;
};

void run_validate(const ValidateOptions& options) {
  const KernelProfile profile = read_kernel_profile(options.profile);
  const std::vector<Measurements> measured = read_measurements(options.data, {profile.gpu});
  const SplitBy split = options.split == "point"   ? SplitBy::point
                        : options.split == "model" ? SplitBy::model
                                                   : SplitBy::shape;
  const Validation validation = options.held_out > 0
                                    ? validate_held_out(profile, measured, split, options.held_out)
                                    : validate(profile, measured);
  if (!options.json.empty()) {
    write_file(options.json, validation_json(validation));
  }
  const std::string text = validation_text(validation);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_calibrate_validate(CLI::App& parent) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      parent.add_subcommand("validate", "How far a profile's predictions are from measurements");
  command->add_option("profile", options->profile, "Profile (JSON)")->required();
  command->add_option("data", options->data, "Files of any form that import reads, or directories of them")
      ->required();
  command->add_option("--json", options->json, "Write the errors to this file, too");
  command
      ->add_option(
          "--held-out", options->held_out,
          "Instead of the profile's own fits, refit this many times, each without a share of the shapes, "
          "and predict those")
      ->check(CLI::Range(2, 20));
  command
      ->add_option("--split", options->split,
                   "With --held-out, what is left out together: whole shapes (shape), the experts of a model "
                   "however they "
                   "are split (model) or single points (point)")
      ->check(CLI::IsMember({"shape", "model", "point"}))
      ->capture_default_str();
  command->callback([options] { run_validate(*options); });
}

}  // namespace inferometer
