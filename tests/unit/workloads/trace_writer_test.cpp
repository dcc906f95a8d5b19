#include "workloads/trace_writer.hpp"

#include <iterator>

#include "tests/support/catch.hpp"
#include "tests/unit/workloads/trace_test_support.hpp"

using namespace inferometer;
using inferometer::test::requests_of;
using inferometer::test::take_all;
using inferometer::test::TemporaryDirectory;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Request> sample() {
  Request first;
  first.prompt = TokenCount(374);
  first.output = first.max_new = TokenCount(44);
  Request second;
  second.arrival = TimePoint(picoseconds(4'314'579'000'001));
  second.prompt = TokenCount(396);
  second.output = TokenCount(109);
  second.max_new = TokenCount(200);
  second.session = 7;
  second.service_class = 2;
  second.block_hashes = {5, 18446744073709551615u};
  return {first, second};
}

void write(const std::string& path, TraceFileKind kind) {
  const auto writer = open_trace_writer(path, kind);
  for (const Request& request : sample()) {
    writer->add(request);
  }
  writer->finish();
}

}  // namespace

TEST_CASE("our CSV holds exact times and leaves what is usual empty", "[trace_writer]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.csv");
  write(path, TraceFileKind::inferometer_csv);
  CHECK(content_of(path) ==
        "arrival_s,prompt_tokens,output_tokens,max_new_tokens,session,class\n"
        "0,374,44,,,\n"
        "4.314579000001,396,109,200,7,2\n");
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_CASE("Mooncake lines hold hashes and sessions", "[trace_writer]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.jsonl");
  write(path, TraceFileKind::mooncake);
  CHECK(content_of(path) ==
        "{\"timestamp\": 0, \"input_length\": 374, \"output_length\": 44}\n"
        "{\"timestamp\": 4314.579000001, \"input_length\": 396, \"output_length\": 109, \"session_id\": 7, "
        "\"hash_ids\": [5, 18446744073709551615]}\n");
}

TEST_CASE("what was written is read back, compressed or not", "[trace_writer]") {
  const TemporaryDirectory directory;
  for (const char* name : {"a.csv", "a.csv.gz", "a.jsonl.gz"}) {
    INFO(name);
    const bool is_csv = std::string(name).starts_with("a.csv");
    const std::string path = directory.file(name);
    write(path, is_csv ? TraceFileKind::inferometer_csv : TraceFileKind::mooncake);
    CHECK(content_of(path).starts_with("\x1f\x8b") == std::string(name).ends_with(".gz"));
    const auto trace = open_trace(path, {});
    const std::vector<Request> read = take_all(*trace);
    REQUIRE(read.size() == 2);
    const Request written = sample()[1];
    CHECK(read[1].arrival == written.arrival);
    CHECK(read[1].prompt == written.prompt);
    CHECK(read[1].output == written.output);
    CHECK(read[1].session == written.session);
    CHECK(read[1].max_new == (is_csv ? written.max_new : written.output));
    CHECK(read[1].service_class == (is_csv ? written.service_class : 0));
    CHECK(read[1].block_hashes == (is_csv ? std::vector<std::uint64_t>{} : written.block_hashes));
  }
}

TEST_CASE("a file that is not finished leaves what was there", "[trace_writer]") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.csv", "old");
  {
    const auto writer = open_trace_writer(path, TraceFileKind::inferometer_csv);
    for (int i = 0; i < 10'000; ++i) {
      writer->add(sample()[1]);
    }
    CHECK(content_of(path) == "old");
  }
  CHECK(content_of(path) == "old");
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_CASE("a file that cannot be made is an error", "[trace_writer]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("no/such/a.csv");
  CHECK_THROWS_WITH(open_trace_writer(path, TraceFileKind::mooncake),
                    path + ": cannot write: No such file or directory");
}
