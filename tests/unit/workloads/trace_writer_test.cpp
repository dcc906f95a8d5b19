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
  second.priority = -3;
  second.content = {{6, 300}, {1, 96}};
  second.output_content = 9;
  Request third;
  third.arrival = second.arrival;
  third.prompt = TokenCount(600);
  third.output = third.max_new = TokenCount(1);
  third.content = {{6, 512}, {18446744073709551615u, 88}};
  return {first, second, third};
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
        "arrival_s,prompt_tokens,output_tokens,max_new_tokens,session,class,priority\n"
        "0,374,44,,,,\n"
        "4.314579000001,396,109,200,7,2,-3\n"
        "4.314579000001,600,1,,,,\n");
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_CASE("Mooncake lines hold blocks of 512 tokens and sessions", "[trace_writer]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.jsonl");
  write(path, TraceFileKind::mooncake);
  CHECK(content_of(path) ==
        "{\"timestamp\": 0, \"input_length\": 374, \"output_length\": 44}\n"
        "{\"timestamp\": 4314.579000001, \"input_length\": 396, \"output_length\": 109, \"session_id\": 7}\n"
        "{\"timestamp\": 4314.579000001, \"input_length\": 600, \"output_length\": 1, \"hash_ids\": [5, "
        "18446744073709551614]}\n");
}

TEST_CASE("JSON lines of ours hold all there is", "[trace_writer]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.jsonl");
  write(path, TraceFileKind::json_lines);
  CHECK(content_of(path) ==
        "{\"timestamp\": 0, \"input_length\": 374, \"output_length\": 44}\n"
        "{\"timestamp\": 4314.579000001, \"input_length\": 396, \"output_length\": 109, \"session_id\": 7, "
        "\"max_new_tokens\": 200, \"class\": 2, \"priority\": -3, \"content\": [[6, 300], [1, 96]], "
        "\"output_content\": 9}\n"
        "{\"timestamp\": 4314.579000001, \"input_length\": 600, \"output_length\": 1, \"hash_ids\": [5, "
        "18446744073709551614]}\n");
}

TEST_CASE("what was written is read back, compressed or not", "[trace_writer]") {
  const TemporaryDirectory directory;
  const std::vector<std::pair<std::string, TraceFileKind>> files{{"a.csv", TraceFileKind::inferometer_csv},
                                                                 {"a.csv.gz", TraceFileKind::inferometer_csv},
                                                                 {"a.jsonl.gz", TraceFileKind::mooncake},
                                                                 {"b.jsonl", TraceFileKind::json_lines},
                                                                 {"b.jsonl.gz", TraceFileKind::json_lines}};
  for (const auto& [name, kind] : files) {
    INFO(name);
    const bool is_csv = kind == TraceFileKind::inferometer_csv;
    const bool is_ours = kind != TraceFileKind::mooncake;
    const bool is_all = kind == TraceFileKind::json_lines;
    const std::string path = directory.file(name);
    write(path, kind);
    CHECK(content_of(path).starts_with("\x1f\x8b") == name.ends_with(".gz"));
    const std::vector<Request> read = take_all(*open_trace(path, {}));
    REQUIRE(read.size() == 3);
    const Request written = sample()[1];
    CHECK(read[1].arrival == written.arrival);
    CHECK(read[1].prompt == written.prompt);
    CHECK(read[1].output == written.output);
    CHECK(read[1].session == written.session);
    CHECK(read[1].max_new == (is_ours ? written.max_new : written.output));
    CHECK(read[1].service_class == (is_ours ? written.service_class : 0));
    CHECK(read[1].priority == (is_ours ? written.priority : 0));
    CHECK(read[1].content == (is_all ? written.content : std::vector<ContentRun>{}));
    CHECK(read[1].output_content == (is_all ? written.output_content : 0));
    CHECK(read[2].content == (is_csv ? std::vector<ContentRun>{} : sample()[2].content));
  }
}

TEST_CASE("requests that wait are written with their delay where a reader will see it", "[trace_writer]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.jsonl");
  Request first = sample()[0];
  first.session = 4;
  Request second = sample()[1];
  second.session = 4;
  const auto writer = open_trace_writer(path, TraceFileKind::json_lines);
  writer->add(first);
  writer->add(second, milliseconds(1'500));
  writer->finish();
  const auto trace = open_trace(path, {});
  Request request;
  trace->take(request);
  CHECK_FALSE(trace->delay().has_value());
  CHECK_FALSE(trace->next_arrival().has_value());
  trace->finished(request.id, TimePoint(seconds(7)));
  CHECK(trace->next_arrival() == TimePoint(milliseconds(8'500)));
  trace->take(request);
  CHECK(trace->delay() == milliseconds(1'500));
  CHECK(request.content == second.content);

  const auto table = open_trace_writer(directory.file("a.csv"), TraceFileKind::inferometer_csv);
  CHECK_THROWS_AS(table->add(first, seconds(1)), TraceError);
  const auto lines = open_trace_writer(directory.file("b.jsonl"), TraceFileKind::mooncake);
  lines->add(sample()[0]);
  CHECK_THROWS_AS(lines->add(second, seconds(1)), TraceError);
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
