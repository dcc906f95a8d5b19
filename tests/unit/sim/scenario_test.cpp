#include "sim/scenario/scenario.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

/// Text by name.
using Files = std::map<std::string, std::string>;

/// A folder with files, gone at the end.
class Folder {
 public:
  explicit Folder(const Files& files)
      : path_(std::filesystem::temp_directory_path() /
              ("inferometer_scenario_" + std::to_string(std::random_device{}()))) {
    for (const auto& [name, text] : files) {
      const std::filesystem::path path = path_ / name;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << text;
    }
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

const std::string kBase =
    "model: llama-3-8b\n"
    "hardware: {gpu: h100-sxm}\n"
    "engine: {max_num_seqs: 64, max_num_batched_tokens: 1024}\n"
    "workload: {preset: azure-conversation, rate: 3 req/s, requests: 100}\n"
    "seed: 5\n";

/// The mistakes found, or none.
std::vector<Diagnostic> mistakes_in(const std::string& path, const ScenarioOverrides& overrides = {}) {
  try {
    load_scenario(path, overrides);
  } catch (const ConfigError& error) {
    return error.diagnostics();
  }
  return {};
}

TEST_CASE("a scenario lays its keys over those of the file it extends, key by key") {
  const Folder folder(
      {{"base.yaml", kBase}, {"top.yaml", "extends: base.yaml\nengine: {max_num_seqs: 32}\n"}});
  const Scenario scenario = load_scenario(folder.file("top.yaml"));
  CHECK(scenario.engine().count("max_num_seqs") == 32);
  CHECK(scenario.engine().count("max_num_batched_tokens") == 1024);
  CHECK(scenario.model.name == "llama-3-8b");
  CHECK(scenario.seed() == 5);
  // Where a value came from is where it is written.
  CHECK(scenario.engine().where("max_num_seqs").file == folder.file("top.yaml"));
  CHECK(scenario.engine().where("max_num_batched_tokens").file == folder.file("base.yaml"));
}

TEST_CASE("extends goes from file to file, each path from its own folder") {
  const Folder folder(
      {{"bases/deep/base.yaml", kBase},
       {"bases/middle.yaml", "extends: deep/base.yaml\nseed: 6\nengine: {max_num_seqs: 48}\n"},
       {"runs/top.yaml", "extends: ../bases/middle.yaml\nengine: {max_num_seqs: 16}\n"}});
  const Scenario scenario = load_scenario(folder.file("runs/top.yaml"));
  CHECK(scenario.seed() == 6);
  CHECK(scenario.engine().count("max_num_seqs") == 16);
  CHECK(scenario.engine().count("max_num_batched_tokens") == 1024);
  REQUIRE(scenario.inputs.size() == 8);  // itself, two below it, model, GPU, both profiles, preset
  CHECK(scenario.inputs[0].name == "top.yaml");
  CHECK(scenario.inputs[1].name == "../bases/middle.yaml");
  CHECK(scenario.inputs[2].name == "deep/base.yaml");
  for (const Scenario::Input& input : scenario.inputs) {
    CHECK(std::filesystem::exists(input.path));
  }
}

TEST_CASE("a circle of extends ends, at the line that closes it") {
  const Folder folder(Files{{"a.yaml", "extends: b.yaml\n"}, {"b.yaml", "seed: 1\nextends: ./a.yaml\n"}});
  const std::vector<Diagnostic> mistakes = mistakes_in(folder.file("a.yaml"));
  REQUIRE(mistakes.size() == 1);
  CHECK(mistakes[0].where.file == folder.file("b.yaml"));
  CHECK(mistakes[0].where.line == 2);
  CHECK(mistakes[0].where.column == 10);
  check_says(mistakes[0].message, {"circle"});
}

TEST_CASE("extending a file that is not there") {
  const Folder folder(Files{{"a.yaml", "extends: nowhere.yaml\n"}});
  const std::vector<Diagnostic> mistakes = mistakes_in(folder.file("a.yaml"));
  REQUIRE(mistakes.size() == 1);
  CHECK(mistakes[0].where.line == 1);
  check_says(mistakes[0].message, {"there is no file", folder.file("nowhere.yaml")});
}

TEST_CASE("a mistake in an extended file is reported there") {
  const Folder folder(
      Files{{"base.yaml", kBase + "sede: 7\n"}, {"top.yaml", "extends: base.yaml\nsed: 7\n"}});
  const std::vector<Diagnostic> mistakes = mistakes_in(folder.file("top.yaml"));
  REQUIRE(mistakes.size() == 2);
  CHECK(mistakes[0].where.file == folder.file("base.yaml"));
  CHECK(mistakes[0].where.line == 6);
  CHECK(mistakes[1].where.file == folder.file("top.yaml"));
  CHECK(mistakes[1].where.line == 2);
  for (const Diagnostic& mistake : mistakes) {
    check_says(mistake.message, {"seed"});
  }
}

TEST_CASE("the command line goes over the file and what it extends, the later over the earlier") {
  const Folder folder(
      {{"base.yaml", kBase}, {"top.yaml", "extends: base.yaml\nengine: {max_num_seqs: 32}\n"}});
  const Scenario scenario = load_scenario(
      folder.file("top.yaml"),
      {{"engine.max_num_seqs=8", "engine.max_num_batched_tokens=256", "engine.max_num_seqs=9"}, {}});
  CHECK(scenario.engine().count("max_num_seqs") == 9);
  CHECK(scenario.engine().count("max_num_batched_tokens") == 256);
}

TEST_CASE("the seed: 1, unless the file says otherwise, unless --set does, unless --seed does") {
  const std::string bare = kBase.substr(0, kBase.find("seed"));
  CHECK(load_scenario_text(bare, "a.yaml").seed() == 1);
  CHECK(load_scenario_text(kBase, "a.yaml").seed() == 5);
  CHECK(load_scenario_text(kBase, "a.yaml", {{"seed=6"}, {}}).seed() == 6);
  CHECK(load_scenario_text(kBase, "a.yaml", {{"seed=6"}, 7}).seed() == 7);
}

TEST_CASE("names of models and GPUs that nobody knows, both at once and in their places") {
  const std::string text =
      "model: lama-3-8b\n"
      "hardware:\n"
      "  tensor_parallel: 1\n"
      "  gpu: h100-sxn\n"
      "workload: {preset: azure-conversation, rate: 1 req/s, requests: 10}\n";
  try {
    load_scenario_text(text, "folder/a.yaml");
    FAIL("loaded");
  } catch (const ConfigError& error) {
    REQUIRE(error.diagnostics().size() == 2);
    const Diagnostic& model = error.diagnostics()[0];
    CHECK(to_string(model.where) == "folder/a.yaml:1:8");
    check_says(model.message, {"\"lama-3-8b\"", "\"llama-3-8b\""});
    const Diagnostic& gpu = error.diagnostics()[1];
    CHECK(to_string(gpu.where) == "folder/a.yaml:4:8");
    check_says(gpu.message, {"\"h100-sxn\"", "\"h100-sxm\""});
  }
}

TEST_CASE("relative paths start where they are written, whoever extends the file") {
  const std::string shipped = INFEROMETER_SOURCE_DIR;
  const Folder folder(Files{{"shared/base.yaml",
                             "model: models/config.json\nhardware: {gpu: gpus/mine.yaml}\n"
                             "workload: {trace: traces/small.csv}\n"},
                            {"runs/top.yaml", "extends: ../shared/base.yaml\n"},
                            {"shared/traces/small.csv", "arrival_s,prompt_tokens,output_tokens\n0,1,1\n"},
                            {"shared/models/readme", ""},
                            {"shared/gpus/readme", ""}});
  std::filesystem::copy_file(shipped + "/costmodel/models/qwen3-0.6b/config.json",
                             folder.file("shared/models/config.json"));
  std::filesystem::copy_file(shipped + "/hardware/gpus/l4.yaml", folder.file("shared/gpus/mine.yaml"));
  const Scenario scenario = load_scenario(folder.file("runs/top.yaml"));
  CHECK(scenario.model.layers == 28);  // of Qwen3-0.6B
  const auto canonical = [](const std::string& path) {
    return std::filesystem::weakly_canonical(path).string();
  };
  CHECK(canonical(scenario.trace_directory()) == canonical(folder.file("shared")));
  for (const Scenario::Input& input : scenario.inputs) {
    CAPTURE(input.name, input.path);
    CHECK(std::filesystem::exists(input.path));
  }
}

TEST_CASE("a price in the scenario takes the place of the GPU's own") {
  const double listed = load_scenario_text(kBase, "a.yaml").gpu.price.count();
  CHECK(listed > 0);
  CHECK(load_scenario_text(kBase, "a.yaml", {{"hardware.price=1.25 $/h"}, {}}).gpu.price.count() == 1.25);
}

}  // namespace
}  // namespace inferometer
