// One small trace in each format: found from its content, exact times, lengths and what else it carries.

#include "tests/support/catch.hpp"
#include "tests/unit/workloads/trace_test_support.hpp"
#include "workloads/trace_format.hpp"

using namespace inferometer;
using inferometer::test::arrivals_ps;
using inferometer::test::open_text;
using inferometer::test::requests_of;
using inferometer::test::take_all;

namespace {

using Times = std::vector<std::int64_t>;

struct Lengths {
  std::int64_t prompt, output;
  bool operator==(const Lengths&) const = default;
};

std::vector<Lengths> lengths_of(const std::vector<Request>& requests) {
  std::vector<Lengths> lengths;
  for (const Request& request : requests) {
    lengths.push_back({request.prompt.count(), request.output.count()});
  }
  return lengths;
}

}  // namespace

TEST_CASE("Azure 2023", "[trace]") {
  const auto trace = open_text(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 23:59:59.9999999,374,44\r\n"
      "2023-11-17 00:00:00.0000001,396,109\r\n"
      "2023-11-17 00:00:00.0000001,1,2");
  const std::vector<Request> requests = take_all(*trace);
  CHECK(trace->format() == "azure");
  CHECK(trace->hash_block_tokens() == 0);
  CHECK(arrivals_ps(requests) == Times{0, 200'000, 200'000});
  CHECK(lengths_of(requests) == std::vector<Lengths>{{374, 44}, {396, 109}, {1, 2}});
  CHECK(requests[2].id == 2);
  CHECK(requests[1].max_new == TokenCount(109));
  CHECK(requests[1].session == -1);
}

TEST_CASE("Azure 2024, with another order of columns and one more", "[trace]") {
  const std::vector<Request> requests = requests_of(
      "model,GeneratedTokens,timestamp,ContextTokens\n"
      "\"a,b\",10,2024-05-10 00:00:00.009930+00:00,2162\n"
      "\"a \"\"b\"\"\",20,2024-05-10T00:00:00.017335Z,\"14\"\n");
  CHECK(arrivals_ps(requests) == Times{0, 7'405'000'000});
  CHECK(lengths_of(requests) == std::vector<Lengths>{{2162, 10}, {14, 20}});
}

TEST_CASE("Mooncake", "[trace]") {
  const auto trace = open_text(
      "{\"timestamp\": 5, \"input_length\": 1030, \"output_length\": 500, \"hash_ids\": [0, "
      "18446744073709551614,2 ]}\n"
      "{\"hash_ids\":[],\"output_length\":1,\"input_length\":2,\"timestamp\":27.25,\"other\":{\"a\":[1,2]}}\n"
      "{\"timestamp\": 30, \"input_length\": 3, \"output_length\": 4, \"session_id\": 7}\n");
  const std::vector<Request> requests = take_all(*trace);
  CHECK(trace->format() == "mooncake");
  CHECK(trace->hash_block_tokens() == 512);
  CHECK(arrivals_ps(requests) == Times{0, 22'250'000'000, 25'000'000'000});
  CHECK(lengths_of(requests) == std::vector<Lengths>{{1030, 500}, {2, 1}, {3, 4}});
  CHECK(requests[0].content == std::vector<ContentRun>{{1, 512}, {18446744073709551615u, 512}, {3, 6}});
  CHECK(requests[0].output_content == 0);
  CHECK(requests[1].content.empty());
  CHECK(requests[0].session == -1);
  CHECK(requests[2].session == 7);
}

TEST_CASE("Mooncake with named sessions", "[trace]") {
  const std::vector<Request> requests = requests_of(
      R"({"session_id": "a", "timestamp": 0, "input_length": 1, "output_length": 1})"
      "\n"
      R"({"session_id": "b", "timestamp": 0, "input_length": 1, "output_length": 1})"
      "\n"
      R"({"session_id": "a", "timestamp": 0, "input_length": 1, "output_length": 1, "delay": null})");
  CHECK(requests[0].session == requests[2].session);
  CHECK(requests[0].session != requests[1].session);
  CHECK(requests[0].session >= 0);
}

TEST_CASE("Qwen-Bailian", "[trace]") {
  const auto trace = open_text(
      R"({"chat_id": 5, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 40, "output_length": 9, "type": "text", "turn": 1, "hash_ids": [1, 2, 7]})"
      "\n"
      R"({"chat_id": 8, "parent_chat_id": 5, "timestamp": 61.5, "input_length": 41, "output_length": 9, "type": "text", "turn": 2, "hash_ids": [1, 2, 3]})"
      "\n"
      R"({"chat_id": 9, "parent_chat_id": 8, "timestamp": 61.5, "input_length": 42, "output_length": 9, "type": "text", "turn": 3, "hash_ids": []})"
      "\n"
      R"({"chat_id": 10, "parent_chat_id": 3, "timestamp": 62, "input_length": 43, "output_length": 9, "type": "text", "turn": 2, "hash_ids": []})");
  const std::vector<Request> requests = take_all(*trace);
  CHECK(trace->format() == "qwen_bailian");
  CHECK(trace->hash_block_tokens() == 16);
  CHECK(arrivals_ps(requests) == Times{0, 386'000'000'000, 386'000'000'000, 886'000'000'000});
  CHECK(requests[0].session == 5);
  CHECK(requests[1].session == 5);
  CHECK(requests[2].session == 5);
  CHECK(requests[3].session == 3);
  CHECK(requests[1].content == std::vector<ContentRun>{{2, 16}, {3, 16}, {4, 9}});
}

TEST_CASE("BurstGPT", "[trace]") {
  const auto trace = open_text(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n"
      "45,\"GPT-4, old\",1087,230,1317,API log\n");
  const std::vector<Request> requests = take_all(*trace);
  CHECK(trace->format() == "burstgpt");
  CHECK(arrivals_ps(requests) == Times{0, 40'000'000'000'000});
  CHECK(lengths_of(requests) == std::vector<Lengths>{{472, 18}, {1087, 230}});
}

TEST_CASE("Vidur", "[trace]") {
  const auto trace = open_text(
      "arrived_at,num_prefill_tokens,num_decode_tokens\n"
      "0.0,10,20\n"
      "9.5e-05,11,21\n"
      "0.123456789012,12,22\n");
  const std::vector<Request> requests = take_all(*trace);
  CHECK(trace->format() == "vidur");
  CHECK(arrivals_ps(requests) == Times{0, 95'000'000, 123'456'789'012});
  CHECK(lengths_of(requests) == std::vector<Lengths>{{10, 20}, {11, 21}, {12, 22}});
}

TEST_CASE("our own CSV", "[trace]") {
  const auto trace = open_text(
      "arrival_s,prompt_tokens,output_tokens,max_new_tokens,session,class,priority\n"
      "1.5,10,20,30,4,2,5\n"
      "1.500000000001,11,21,,,,\n");
  const std::vector<Request> requests = take_all(*trace);
  CHECK(trace->format() == "inferometer");
  CHECK(arrivals_ps(requests) == Times{0, 1});
  CHECK(requests[0].max_new == TokenCount(30));
  CHECK(requests[0].session == 4);
  CHECK(requests[0].service_class == 2);
  CHECK(requests[1].max_new == TokenCount(21));
  CHECK(requests[1].session == -1);
  CHECK(requests[0].priority == 5);
  CHECK(requests[1].service_class == 0);
  CHECK(requests[1].priority == 0);
}

TEST_CASE("length pairs get Poisson arrivals", "[trace]") {
  TraceOptions options;
  options.rate = PerSecond(4);
  std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) {
    text += "XXX,42,285\n";
  }
  const auto trace = open_text(text, options);
  const std::vector<Request> requests = take_all(*trace);
  CHECK(trace->format() == "lengths");
  REQUIRE(requests.size() == kCount);
  CHECK(requests[7].prompt == TokenCount(42));
  // 5000 s expected, standard deviation sqrt(20000) / 4 = 35 s.
  CHECK(to_seconds(requests.back().arrival.since_start()) == Approx(5'000).margin(4 * 35));
  CHECK(arrivals_ps(requests) == arrivals_ps(requests_of(text, options)));
  options.seed = 2;
  CHECK(arrivals_ps(requests) != arrivals_ps(requests_of(text, options)));
}

TEST_CASE("times under a name that no format has are not passed over", "[trace]") {
  TraceOptions options;
  options.rate = PerSecond(1);
  for (const char* column : {"arrival_ms", "Timestamp", "request_timestamp_ms", "ts", "created_at",
                             "start_time", "time_ms", "date"}) {
    INFO(column);
    CHECK_THROWS_AS(open_text(std::string(column) + ",prompt_tokens,output_tokens\n12,3,4\n", options),
                    TraceError);
  }
  // Durations and counts are no arrivals.
  for (const char* column : {"time_to_first_token", "latency", "id", "turns", "response_time"}) {
    INFO(column);
    CHECK(open_text(std::string(column) + ",prompt_tokens,output_tokens\n12,3,4\n", options)->format() ==
          "lengths");
  }
}

TEST_CASE("length pairs under the names of several tools", "[trace]") {
  TraceOptions options;
  options.rate = PerSecond(1);
  for (const char* header :
       {"prompt_tokens,output_tokens", "input_len,output_len", "num_prefill_tokens,num_decode_tokens",
        "input_tokens,completion_tokens", "TIMESTAMP,ContextTokens,GeneratedTokens"}) {
    const bool has_time = std::string(header).starts_with("TIME");
    const auto trace = open_text(std::string(header) + (has_time ? "\n-,3,4\n" : "\n3,4\n"), options);
    INFO(header);
    CHECK(trace->format() == "lengths");
    CHECK(lengths_of(take_all(*trace)) == std::vector<Lengths>{{3, 4}});
  }
}

TEST_CASE("every format's own example is found as that format only", "[trace]") {
  const std::vector<std::pair<std::string, TraceSample>> samples{
      {"azure", {"TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:15:46,1,1"}},
      {"lengths", {"TIMESTAMP,ContextTokens,GeneratedTokens", "XXX,1,1"}},
      {"inferometer", {"arrival_s,prompt_tokens,output_tokens", "0,1,1"}},
      {"lengths", {"prompt_tokens,output_tokens", "1,1"}},
      {"vidur", {"arrived_at,num_prefill_tokens,num_decode_tokens", "0,1,1"}},
      {"burstgpt", {"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type", "0,a,1,1,2,b"}},
      {"mooncake", {R"({"timestamp": 0, "input_length": 1, "output_length": 1})", ""}},
      {"aiperf", {R"({"session_id": "a", "input_length": 1, "output_length": 1})", ""}},
      {"qwen_bailian", {R"({"chat_id": 0, "parent_chat_id": -1, "timestamp": 0, "input_length": 1})", ""}}};
  for (const auto& [name, sample] : samples) {
    for (const TraceFormat& format : trace_formats().entries()) {
      INFO(name << " as " << format.name);
      CHECK((format.open(sample) != nullptr) == (format.name == name));
    }
  }
}

TEST_CASE("a header without requests is an empty workload", "[trace]") {
  CHECK(requests_of("arrival_s,prompt_tokens,output_tokens\n").empty());
}
