#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "calibration/fit/fit_profile.hpp"
#include "calibration/record/read_measurements.hpp"
#include "sim/cli/calibrate_command.hpp"
#include "sim/cli/calibrate_report.hpp"

namespace inferometer {
namespace {

struct FitOptions {
  std::vector<std::string> data;
  std::string out, gpu, library, date, notice;
  std::vector<std::string> borrowed;
  int folds = 5;
};

/// "nccl:collective"
BorrowedFamily borrowed_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string family = colon == std::string::npos ? "" : text.substr(colon + 1);
  const std::optional<KernelFamily> known = kernel_family_from(family);
  if (colon == std::string::npos || colon == 0 || !known) {
    std::vector<std::string> families;
    for (const KernelFamilyInfo& one : kernel_families()) {
      families.emplace_back(one.name);
    }
    throw ConfigError(Position{}, "--borrow \"" + text + "\" is not LIBRARY:FAMILY; families are " +
                                      join_alternatives(families, "and") + did_you_mean(family, families));
  }
  return {text.substr(0, colon), *known};
}

void require_date(const std::string& text) {
  const std::string_view form = "0000-00-00";
  const auto fits = [](char wanted, char given) {
    return wanted == '0' ? given >= '0' && given <= '9' : given == wanted;
  };
  if (!std::equal(form.begin(), form.end(), text.begin(), text.end(), fits)) {
    throw ConfigError(Position{}, "--date " + quoted_excerpt(text) + " is no date of the form YYYY-MM-DD");
  }
}

void run_fit(const FitOptions& options) {
  if (!options.date.empty()) {
    require_date(options.date);
  }
  ProfileRequest request{.gpu = options.gpu,
                         .library = options.library,
                         .borrowed = {},
                         .date = options.date.empty() ? today() : options.date,
                         .notice = options.notice,
                         .folds = options.folds};
  for (const std::string& text : options.borrowed) {
    request.borrowed.push_back(borrowed_from(text));
  }
  AtomicFile file(options.out);
  const KernelProfile profile =
      fit_profile(read_measurements(options.data, {options.gpu}), request,
                  [](KernelFamily family, const std::string& variant, std::size_t points) {
                    const std::string line =
                        fmt::format("fitting {} {}, {} points\n", to_string(family), variant, points);
                    std::fwrite(line.data(), 1, line.size(), stderr);
                  });
  file.write(to_json(profile));
  file.commit();
  const std::string text = profile_text(profile) + "\nwritten to " + options.out + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_calibrate_fit(CLI::App& parent) {
  const auto options = std::make_shared<FitOptions>();
  CLI::App* command = parent.add_subcommand(
      "fit",
      "Fits a profile to measurements: roofline constants and a correction by family and number format");
  command->add_option("data", options->data, "Files of any form that import reads, or directories of them")
      ->required();
  command->add_option("--out", options->out, "Profile to write (JSON)")->required();
  command->add_option("--gpu", options->gpu, "Which GPU's, when there are several or files do not say");
  command->add_option("--library", options->library, "Whose kernels, when there are several");
  command
      ->add_option(
          "--borrow", options->borrowed,
          "LIBRARY:FAMILY, such as nccl:collective: kernels of another library to take in; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--folds", options->folds, "Parts of the cross-validation behind the errors")
      ->check(CLI::Range(2, 20))
      ->capture_default_str();
  command->add_option("--notice", options->notice, "Licence of the measurements, to be kept in the profile");
  command->add_option("--date", options->date, "Date to put into the profile instead of today's, YYYY-MM-DD");
  command->callback([options] { run_fit(*options); });
}

}  // namespace inferometer
