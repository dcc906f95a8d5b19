#include "sim/study/study_book.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/data_path.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer {
namespace {

const char* const kBase =
    "{model: llama-3-8b, hardware: {gpu: h100-sxm}, workload: {preset: sharegpt, rate: 4 req/s, requests: "
    "10}}";
const char* const kTraced = "{model: llama-3-8b, hardware: {gpu: h100-sxm}, workload: {trace: day.csv}}";
const char* const kTrace = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,10,20\n";

/// A book of one case that lays `change` over the base.
StudyBook book_of(const std::string& base, const std::string& change = "{}",
                  const std::string& file = "study.yaml") {
  StudyCase only;
  only.name = "only";
  only.layers = {{"variant only", opened_paths(read_yaml_text(change, file)), {}}};
  return StudyBook({read_yaml_text(base, file), file}, {only});
}

std::string key_of(const StudyBook& book, const Evaluation& evaluation = {}) {
  return book.key(evaluation);
}

TEST_CASE("a key stays the same for what means the same") {
  const std::string key = key_of(book_of(kBase));
  CHECK(key_of(book_of(kBase)) == key);
  // Written out in another place and way: a default, the order of keys, a unit.
  CHECK(key_of(book_of(kBase, "{hardware.tensor_parallel: 1}")) == key);
  CHECK(key_of(book_of(kBase, "{workload.rate: 4 req/s}")) == key);
  CHECK(
      key_of(book_of("{workload: {requests: 10, rate: 4 req/s, preset: sharegpt}, hardware: {gpu: h100-sxm}, "
                     "model: llama-3-8b}")) == key);
  CHECK(book_of(kBase).fingerprint() == book_of(kBase).fingerprint());
}

TEST_CASE("a key changes with the scenario and with load and seed") {
  const StudyBook book = book_of(kBase);
  const std::string key = key_of(book);
  CHECK(key_of(book_of(kBase, "{engine.max_num_seqs: 64}")) != key);
  CHECK(key_of(book_of(kBase, "{slo.ttft_p99: 500 ms}")) != key);
  CHECK(key_of(book, {0, {}, 2}) != key);
  CHECK(key_of(book, {0, {"workload.rate=5 req/s"}, 1}) != key);
  CHECK(key_of(book, {0, {"workload.rate=5 req/s"}, 1}) != key_of(book, {0, {"workload.rate=6 req/s"}, 1}));
  CHECK(key_of(book, {0, {"a=1", "b=2"}, 1}) != key_of(book, {0, {"a=1b=2"}, 1}));
  CHECK(book_of(kBase, "{engine.max_num_seqs: 64}").fingerprint() != book.fingerprint());
}

/// Of a case whose trace has that content, in a folder of its own.
std::string key_with_trace(const std::string& content) {
  const test::TemporaryDirectory folder;
  static_cast<void>(folder.write("day.csv", content));
  return key_of(book_of(kTraced, "{}", folder.file("study.yaml")));
}

TEST_CASE("a key changes with what the trace contains and not with its place") {
  const std::string key = key_with_trace(kTrace);
  CHECK(key_with_trace(kTrace) == key);
  CHECK(key_with_trace(std::string(kTrace) + "2023-11-16 18:17:04.9799600,10,20\n") != key);
}

/// Shipped data of its own, with a blank line more in one file, for as long as it lives.
class ChangedData {
 public:
  explicit ChangedData(const std::string& file) {
    for (const char* folder : {"hardware", "costmodel/models", "workloads/presets"}) {
      const std::filesystem::path copy = folder_.file(folder);
      std::filesystem::create_directories(copy.parent_path());
      std::filesystem::copy(data_directory(folder), copy, std::filesystem::copy_options::recursive);
    }
    std::ofstream(folder_.file(file), std::ios::app) << "\n";
    setenv("INFEROMETER_DATA_DIR", folder_.file("").c_str(), 1);
  }
  ~ChangedData() { unsetenv("INFEROMETER_DATA_DIR"); }
  ChangedData(const ChangedData&) = delete;
  ChangedData& operator=(const ChangedData&) = delete;

 private:
  test::TemporaryDirectory folder_;
};

TEST_CASE("a key changes with every data file that the case is read from and with no other") {
  const std::string key = key_of(book_of(kBase));
  const auto with = [](const std::string& file) {
    const ChangedData data(file);
    return key_of(book_of(kBase));
  };
  CHECK(with("hardware/gpus/h100-sxm.yaml") != key);
  CHECK(with("costmodel/models/llama-3-8b/config.json") != key);
  CHECK(with("workloads/presets/sharegpt.yaml") != key);
  CHECK(with("hardware/gpus/l4.yaml") == key);
  CHECK(with("workloads/presets/mooncake-conversation.yaml") == key);
}

TEST_CASE("a key changes with the preset that a generator has its lengths from") {
  const char* const generated =
      "{model: llama-3-8b, hardware: {gpu: h100-sxm}, workload: {generator: poisson, lengths: sharegpt, "
      "rate: 4 req/s, requests: 10}}";
  const std::string key = key_of(book_of(generated));
  const ChangedData data("workloads/presets/sharegpt.yaml");
  CHECK(key_of(book_of(generated)) != key);
}

TEST_CASE("what is wrong with a case is kept and thrown when it is asked for") {
  const StudyBook book = book_of(kBase, "{hardware.gpu: h100-smx}");
  REQUIRE(book.mistakes(0).size() == 1);
  CHECK(book.mistakes(0).front().message.find("h100-sxm") != std::string::npos);
  CHECK_THROWS_AS(book.scenario(0), ConfigError);
  CHECK(book_of(kBase).mistakes(0).empty());
}

TEST_CASE("an evaluation is its case with load and seed laid over") {
  const StudyBook book = book_of(kBase, "{engine.max_num_seqs: 64}");
  const Scenario scenario = book.scenario({0, {"workload.rate=5 req/s", "engine.max_num_seqs=32"}, 7});
  CHECK(scenario.seed() == 7);
  CHECK(scenario.workload().rate("rate").count() == 5);
  CHECK(scenario.engine().count("max_num_seqs") == 32);
  CHECK(book.scenario(0).engine().count("max_num_seqs") == 64);
}

TEST_CASE("an evaluation comes back from its text") {
  const Evaluation evaluation{3, {"workload.rate=5 req/s", "a=\"b\"\n"}, 9'007'199'254'740'993};
  CHECK(evaluation_from(to_text(evaluation)) == evaluation);
  CHECK_THROWS_AS(evaluation_from("[1]"), std::exception);
}

}  // namespace
}  // namespace inferometer
