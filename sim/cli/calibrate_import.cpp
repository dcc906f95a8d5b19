#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "calibration/record/header_fields.hpp"
#include "calibration/record/read_measurements.hpp"
#include "calibration/record/write_measurements.hpp"
#include "sim/cli/calibrate_command.hpp"
#include "sim/cli/measurement_report.hpp"

namespace inferometer {
namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::vector<std::string> data;
  std::string out;
  std::string gpu;
  bool append = false;
};

/// A record file to write.
struct RecordFile {
  MeasurementHeader header;
  std::string text;
  std::size_t points = 0;
};

/// What to write, by path. Throws before anything is written when one of them cannot be.
std::map<std::string, RecordFile> record_files(std::vector<Measurements> sets, const ImportArguments& given) {
  std::map<std::string, RecordFile> files;
  for (Measurements& set : sets) {
    for (const Measurements& part : split_by_family(std::move(set))) {
      const KernelFamily family =
          part.points.empty() ? part.skipped.front().call.family : part.points.front().call.family;
      const std::string path = (fs::path(given.out) / record_file_name(part.header, family)).string();
      std::error_code ignored;
      const bool is_there = fs::exists(path, ignored);
      if (is_there && !given.append) {
        throw ConfigError(Position{path, 0, 0}, "the file is there already; --append adds to it");
      }
      RecordFile file{part.header, is_there ? appended_record_text(path, part) : record_text(part),
                      part.points.size()};
      const auto [known, is_new] = files.try_emplace(path, std::move(file));
      if (!is_new) {
        throw ConfigError(Position{path, 0, 0}, "two sets would go into one file: " +
                                                    header_difference(known->second.header, part.header) +
                                                    "; import them apart");
      }
    }
  }
  return files;
}

void run_import(const ImportArguments& given) {
  if (given.out.empty()) {
    throw ConfigError(Position{}, "--out is empty; name the directory where files are to be written");
  }
  std::vector<Measurements> sets = read_measurements(given.data, {given.gpu});
  std::string text = measurement_report(sets);
  make_directory(given.out);
  const std::map<std::string, RecordFile> files = record_files(std::move(sets), given);
  text += "\nwritten:\n";
  for (const auto& [path, file] : files) {
    write_file(path, file.text);
    text += fmt::format("  {}: {} points\n", path, file.points);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_calibrate_import(CLI::App& calibrate_command) {
  const auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = calibrate_command.add_subcommand(
      "import",
      "Reads published measurements and writes them as record files, one a GPU, library and family");
  command
      ->add_option("DATA", arguments->data,
                   "Tables of aiconfigurator or Vidur, plain or .gz, our record files, or folders of these")
      ->required();
  command->add_option("--out", arguments->out, "Directory for GPU.LIBRARY.FAMILY.jsonl; made when missing")
      ->required();
  command->add_option(
      "--gpu", arguments->gpu,
      "Built-in GPU that was measured, for files that neither say it nor lie in a folder named "
      "after it");
  command->add_flag(
      "--append", arguments->append,
      "Add to files that are there; an error when they are of another library version or GPU, or "
      "hold the same input already");
  command->callback([arguments] { run_import(*arguments); });
}

}  // namespace inferometer
