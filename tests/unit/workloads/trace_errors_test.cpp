// The exact message of everything that can be wrong in a trace.

#include "tests/support/catch.hpp"
#include "tests/unit/workloads/trace_test_support.hpp"

using namespace inferometer;
using inferometer::test::error_of;
using inferometer::test::open_text;
using inferometer::test::requests_of;
using inferometer::test::take_all;

namespace {

const std::string kAzure = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
const std::string kOwn = "arrival_s,prompt_tokens,output_tokens,max_new_tokens,session,class\n";

std::string mooncake(const std::string& second_line) {
  return "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n" + second_line;
}

}  // namespace

TEST_CASE("a broken CSV line names its place, what was expected and what was found", "[trace]") {
  const std::string good = "2023-11-16 18:15:46.6805900,374,44\n";
  const auto azure_error = [&](const std::string& line) { return error_of(kAzure + good + line); };
  CHECK(azure_error("2023-11-16 18:15:47,abc,44") ==
        "t:3:21: expected ContextTokens to be a whole number from 1 to 2147483648, found \"abc\"");
  CHECK(azure_error("2023-11-16 18:15:47,0,44") ==
        "t:3:21: expected ContextTokens to be a whole number from 1 to 2147483648, found \"0\"");
  CHECK(azure_error("2023-11-16 18:15:47,-5,44") ==
        "t:3:21: expected ContextTokens to be a whole number from 1 to 2147483648, found \"-5\"");
  CHECK(azure_error("2023-11-16 18:15:47,5,2147483649") ==
        "t:3:23: expected GeneratedTokens to be a whole number from 1 to 2147483648, found \"2147483649\"");
  CHECK(azure_error("2023-11-16 18:15:47,5,99999999999999999999") ==
        "t:3:23: expected GeneratedTokens to be a whole number from 1 to 2147483648, found "
        "\"99999999999999999999\"");
  CHECK(azure_error("2023-11-16 18:15:47,2147483648,1.0") ==
        "t:3:32: expected GeneratedTokens to be a whole number from 1 to 2147483648, found \"1.0\"");
  CHECK(azure_error("2023-11-16 18:15:47,5,0") ==
        "t:3:23: expected GeneratedTokens to be a whole number from 1 to 2147483648, found \"0\" (a request "
        "that failed "
        "or emitted nothing; skipping bad lines leaves it out)");
  CHECK(azure_error("2023-11-16 18:15:47,5") == "t:3:22: expected 3 fields as in the header, found 2");
  CHECK(azure_error("2023-11-16 18:15:47,5,6,") == "t:3:25: expected 3 fields as in the header, found 4");
  CHECK(azure_error("16.11.2023 18:15:47,5,6") ==
        "t:3:1: expected TIMESTAMP to be a time such as 2023-11-16 18:15:46.6805900, found \"16.11.2023 "
        "18:15:47\"");
  CHECK(azure_error("2023-11-16 18:15:47,\"5,6") ==
        "t:3:21: expected a closing quote on the same line, found none");
  CHECK(azure_error("2023-11-16 18:15:47,\"5\"x,6") ==
        "t:3:24: expected a comma after the closing quote, found \"x\"");
  CHECK(azure_error(std::string("2023-11-16 18:15:47,5\0,6", 24)) ==
        "t:3:21: expected ContextTokens to be a whole number from 1 to 2147483648, found \"5\\x00\"");
}

TEST_CASE("times in seconds are checked", "[trace]") {
  CHECK(error_of("arrived_at,num_prefill_tokens,num_decode_tokens\n-1,2,3") ==
        "t:2:1: expected arrived_at to be a time in seconds from 0 to 1e12 (exponents within +-10000), found "
        "\"-1\"");
  CHECK(error_of("Timestamp,Model,Request tokens,Response tokens\n1s,a,2,3") ==
        "t:2:1: expected Timestamp to be a time in seconds from 0 to 1e12 (exponents within +-10000), found "
        "\"1s\"");
  const auto own_error = [](const std::string& time) {
    return error_of("prompt_tokens,arrival_s,output_tokens\n1," + time + ",1");
  };
  for (const std::string time : {"1000000000001", "1e13", "1e10001", "1e-10001", "1e99999"}) {
    CHECK(own_error(time) ==
          "t:2:3: expected arrival_s to be a time in seconds from 0 to 1e12 (exponents within +-10000), "
          "found \"" +
              time + "\"");
  }
  for (const char* time : {"1000000000000", "1e12", "1e-10000"}) {
    CHECK(own_error(time).empty());
  }
}

TEST_CASE("a failed request of BurstGPT is an error", "[trace]") {
  CHECK(error_of("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n1,GPT-4,20,0,20,API "
                 "log\n") ==
        "t:2:12: expected Response tokens to be a whole number from 1 to 2147483648, found \"0\" (a request "
        "that failed "
        "or emitted nothing; skipping bad lines leaves it out)");
}

TEST_CASE("the optional columns of our own CSV are checked", "[trace]") {
  CHECK(error_of(kOwn + "0,10,20,19,,") ==
        "t:2:9: expected max_new_tokens to be at least the 20 output tokens of the line, found 19");
  CHECK(error_of(kOwn + "0,10,20,x,,") ==
        "t:2:9: expected max_new_tokens to be a whole number from 1 to 2147483648, found \"x\"");
  CHECK(error_of(kOwn + "0,10,20,,-1,") ==
        "t:2:10: expected session to be empty or a whole number from 0 to 9223372036854775807, found \"-1\"");
  CHECK(error_of(kOwn + "0,10,20,,,2147483648") ==
        "t:2:11: expected class to be empty or a whole number from 0 to 2147483647, found \"2147483648\"");
  const std::string header = "arrival_s,prompt_tokens,output_tokens,priority\n";
  CHECK(requests_of(header + "0,10,20,-7")[0].priority == -7);
  CHECK(error_of(header + "0,10,20,-2147483649") ==
        "t:2:9: expected priority to be empty or a whole number from -2147483648 to 2147483647, found "
        "\"-2147483649\"");
}

TEST_CASE("a broken JSON line names its place, what was expected and what was found", "[trace]") {
  const auto with = [](const std::string& members) { return error_of(mooncake("{" + members + "}")); };
  CHECK(with(R"("timestamp": 0, "output_length": 1)") == "t:2: expected \"input_length\", found none");
  CHECK(with(R"("timestamp": 0, "input_length": null, "output_length": 1)") ==
        "t:2: expected \"input_length\", found none");
  CHECK(with(R"("timestamp": 0, "input_length": "12", "output_length": 1)") ==
        "t:2:34: expected \"input_length\" to be a whole number from 1 to 2147483648, found \"\"12\"\"");
  CHECK(with(R"("timestamp": 0, "input_length": 1, "output_length": 0)") ==
        "t:2:54: expected \"output_length\" to be a whole number from 1 to 2147483648, found \"0\" (a "
        "request that failed "
        "or emitted nothing; skipping bad lines leaves it out)");
  CHECK(with(R"("timestamp": -1, "input_length": 1, "output_length": 1)") ==
        "t:2:15: expected \"timestamp\" to be a number from 0 to 1e15 (exponents within +-10000), found "
        "\"-1\"");
  CHECK(with(R"("timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": [1, -2])") ==
        "t:2:69: expected \"hash_ids\" to be an array of whole numbers from 0 to 18446744073709551614, found "
        "\"[1, -2]\"");
  CHECK(with(R"("timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": 5)") ==
        "t:2:69: expected \"hash_ids\" to be an array of whole numbers from 0 to 18446744073709551614, found "
        "\"5\"");
  CHECK(with(R"("timestamp": 0, "input_length": 1, "input_length": 1, "output_length": 1)") ==
        "t:2:53: expected \"input_length\" once, found it twice");
  CHECK(with(R"("delay": 500, "input_length": 1, "output_length": 1)") ==
        "t:2:11: expected \"session_id\" beside \"delay\": a request follows the answer before it in its "
        "session");
  CHECK(with(R"("timestamp": 0, "delay": 5, "input_length": 1, "output_length": 1)") ==
        "t:2:27: expected \"timestamp\" or \"delay\", found both");
  CHECK(with(R"("timestamp": 0, "text_input": "Why?", "output_length": 1)") ==
        "t:2:32: expected \"input_length\", found only \"text_input\", whose tokens nobody counted");
}

TEST_CASE("what is not one JSON object is an error", "[trace]") {
  for (const char* line :
       {"{", "{]", "[1, 2]", "5", "{\"timestamp\" 0}", "{\"timestamp\": 0", "{\"timestamp\": [0}",
        "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1} x",
        "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}{}",
        "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, \"a\": \"\xFF\"}"}) {
    INFO(line);
    CHECK(error_of(mooncake(line)) ==
          "t:2: expected one JSON object on the line, found text that is none: cut off, misspelt, or more "
          "behind it");
  }
}

TEST_CASE("Qwen-Bailian chats are checked", "[trace]") {
  const auto with = [](const std::string& chats) {
    return error_of("{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, " + chats + "}");
  };
  CHECK(with("\"chat_id\": 1") == "t:1: expected \"parent_chat_id\", found none");
  CHECK(with("\"chat_id\": -1, \"parent_chat_id\": -1") ==
        "t:1:68: expected \"chat_id\" to be a whole number from 0 to 9223372036854775807, found \"-1\"");
  CHECK(with("\"chat_id\": 1, \"parent_chat_id\": -2") ==
        "t:1:89: expected \"parent_chat_id\" to be a whole number from -1 to 9223372036854775807, found "
        "\"-2\"");
  CHECK(with("\"chat_id\": 1.5, \"parent_chat_id\": -2") ==
        "t:1:68: expected \"chat_id\" to be a whole number from 0 to 9223372036854775807, found \"1.5\"");
  CHECK(error_of(R"({"timestamp": 1e13, "input_length": 1, "chat_id": 1})") ==
        "t:1:15: expected \"timestamp\" to be a number from 0 to 1e12 (exponents within +-10000), found "
        "\"1e13\"");
}

TEST_CASE("a time that goes back is an error that says what helps", "[trace]") {
  CHECK(error_of(kOwn + "5,1,1,,,\n5,1,1,,,\n4.75,1,1,,,\n") ==
        "t:4:1: expected a time not before the line above, found one 0.25 s earlier; put the trace in order "
        "with inferometer "
        "workload convert --sort");
  const std::string wanted =
      "expected a time not before the line above, found one 2 s earlier; put the trace in order with "
      "inferometer workload convert --sort";
  CHECK(error_of(
            "ContextTokens,TIMESTAMP,GeneratedTokens\n1,2023-11-16 18:15:47,1\n11,2023-11-16 18:15:45,1\n") ==
        "t:3:4: " + wanted);
  CHECK(error_of("{\"timestamp\": 2500, \"input_length\": 1, \"output_length\": 1}\n"
                 "{\"input_length\": 1, \"output_length\": 1, \"timestamp\": 500}\n") == "t:2:54: " + wanted);
  CHECK(error_of("{\"timestamp\": 2, \"input_length\": 1, \"output_length\": 1, \"chat_id\": 1, "
                 "\"parent_chat_id\": -1}\n"
                 "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, \"chat_id\": 2, "
                 "\"parent_chat_id\": -1}\n") == "t:2:15: " + wanted);
}

TEST_CASE("a trace over 106 days is an error", "[trace]") {
  const std::string message =
      "t:3: the trace spans more than 106 days (9,223,372 s): choose a time window or a larger rate_scale";
  CHECK(error_of(kAzure + "2023-01-01 00:00:00,1,1\n2023-06-01 00:00:00,1,1") == message);
  TraceOptions options;
  options.rate_scale = 0.5;
  CHECK(error_of(kAzure + "2023-01-01 00:00:00,1,1\n2023-03-01 00:00:00,1,1", options) == message);
  TraceOptions slow;
  slow.rate = PerSecond(1e-300);
  CHECK(error_of("prompt_tokens,output_tokens\n1,1", slow) ==
        "t:2: the trace spans more than 106 days (9,200,000 s): choose a time window or a larger rate_scale");
}

TEST_CASE("an unknown format shows the first line and the known ones", "[trace]") {
  const std::string message = error_of("\ntime,in,out\n1,2,3\n");
  CHECK(message.starts_with(
      "t:2: expected a request trace, found a file that begins with \"time,in,out\"; known are\n"
      "  inferometer: arrival_s,prompt_tokens,output_tokens[,max_new_tokens][,session][,class][,priority]\n"
      "  azure: TIMESTAMP,ContextTokens,GeneratedTokens\n"));
  CHECK(error_of("") == "t: expected a request trace, found nothing in the file");
  CHECK(error_of("\n\r\n") == "t: expected a request trace, found nothing in the file");
  CHECK(error_of(std::string(5, '\0'))
            .starts_with("t:1: expected a request trace, found a file that begins with "
                         "\"\\x00\\x00\\x00\\x00\\x00\"; known are\n"));
}

TEST_CASE("a header that lacks one column of a format says which", "[trace]") {
  CHECK(error_of("arrival,prompt_tokens,output_tokens\n0,1,1") ==
        "t:1:1: expected the column arrival_s (trace format inferometer), found \"arrival\"; did you mean "
        "\"arrival_s\"?");
  CHECK(
      error_of("\narrival_s, Promt_Tokens ,output_tokens\n0,1,1") ==
      "t:2:11: expected the column prompt_tokens (trace format inferometer), found \"Promt_Tokens\"; did you "
      "mean \"prompt_tokens\"?");
  CHECK(error_of("Timestamp,Model,Request tokens,Respons tokens,Total tokens,Log Type\n0,a,1,1,2,b") ==
        "t:1:32: expected the column Response tokens (trace format burstgpt), found \"Respons tokens\"; did "
        "you "
        "mean \"Response tokens\"?");
  CHECK(error_of("arrived_at,num_prefill_tokens,num_decode_token\n0,1,1") ==
        "t:1:31: expected the column num_decode_tokens (trace format vidur), found \"num_decode_token\"; did "
        "you "
        "mean \"num_decode_tokens\"?");
  CHECK(error_of("TIMESTAMP,ContextTokens,out\n2023-11-16 18:15:46,1,1") ==
        "t:1: expected the column GeneratedTokens (trace format azure), found none like it in "
        "\"TIMESTAMP,ContextTokens,out\"");
}

TEST_CASE("a column that the format has does not stand in for the missing one", "[trace]") {
  CHECK(error_of("arrival_s,prompt_tokens,max_new_tokens\n0,1,1") ==
        "t:1: expected the column output_tokens (trace format inferometer), found none like it in "
        "\"arrival_s,prompt_tokens,max_new_tokens\"");
}

TEST_CASE("a mistyped time column is not taken for none", "[trace]") {
  TraceOptions options;
  options.rate = PerSecond(1);
  CHECK(error_of("prompt_tokens,output_tokens,arival_s\n1,1,0", options) ==
        "t:1:29: expected the column arrival_s (trace format inferometer), found \"arival_s\"; did you mean "
        "\"arrival_s\"?");
  CHECK(error_of("TIMESTMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,1,1", options) ==
        "t:1:1: expected the column TIMESTAMP (trace format azure), found \"TIMESTMP\"; did you mean "
        "\"TIMESTAMP\"?");
}

TEST_CASE("a header that names a column twice is an error of its own line", "[trace]") {
  const std::string message = "t:1:29: expected the column output_tokens once in the header, found it twice";
  const std::string text = "arrival_s,\"output_tokens\",n,OUTPUT_TOKENS,prompt_tokens\n0,1,1,1,1\n";
  CHECK(error_of(text) == message);
  TraceOptions options;
  options.skip_bad_lines = true;
  CHECK(error_of(text, options) == message);
  options.rate = PerSecond(1);
  CHECK(error_of("prompt_tokens,input_len,output_tokens,prompt_tokens\n1,1,1,1", options) ==
        "t:1:39: expected the column prompt_tokens once in the header, found it twice");
}

TEST_CASE("bad lines can be skipped: counted, the first ten shown", "[trace]") {
  TraceOptions options;
  options.skip_bad_lines = true;
  std::string text = kOwn + "1,1,1,,,\n0.5,2,2,,,\n";
  for (int i = 0; i < 11; ++i) {
    text += "oops\n";
  }
  text += "2,3,3,,,\n";
  const auto trace = open_text(text, options);
  const std::vector<Request> requests = take_all(*trace);
  REQUIRE(requests.size() == 2);
  CHECK(requests[1].id == 1);
  CHECK(requests[1].arrival == TimePoint(seconds(1)));
  CHECK(trace->skipped_lines() == 12);
  REQUIRE(trace->skipped_messages().size() == 10);
  CHECK(trace->skipped_messages()[0].starts_with("t:3:1: expected a time not before the line above"));
  CHECK(trace->skipped_messages()[9] == "t:12:5: expected 6 fields as in the header, found 1");
}

TEST_CASE("options that do not suit the trace are refused", "[trace]") {
  const std::string text = kAzure + "2023-11-16 18:15:46,1,1\n";
  const auto refused = [&text](const auto& change) {
    TraceOptions options;
    change(options);
    return error_of(text, options);
  };
  CHECK(refused([](TraceOptions& o) { o.rate_scale = 0; }) == "t: expected a rate_scale above 0, found 0");
  CHECK(refused([](TraceOptions& o) { o.rate_scale = -1.5; }) ==
        "t: expected a rate_scale above 0, found -1.5");
  CHECK(refused([](TraceOptions& o) { o.rate = PerSecond(1); }) ==
        "t: the trace has its own arrival times: use rate_scale instead of a rate");
  CHECK(refused([](TraceOptions& o) { o.window_start = Duration(-1); }) ==
        "t: expected a time window that starts at 0 or later");
  CHECK(refused([](TraceOptions& o) { o.window_end = Duration(0); }) ==
        "t: expected a time window that ends after its start");
  CHECK(refused([](TraceOptions& o) { o.limit = 0; }) ==
        "t: expected a limit of at least 1 request, found 0");
  CHECK(refused([](TraceOptions& o) { o.max_new = TokenCount(0); }) ==
        "t: expected max_new from 1 to 2147483648, found 0");
  CHECK(error_of("prompt_tokens,output_tokens\n1,1") ==
        "t: the trace has lengths but no arrival times: give a request rate for it");
  TraceOptions no_rate;
  no_rate.rate = PerSecond(0);
  CHECK(error_of("prompt_tokens,output_tokens\n1,1", no_rate) ==
        "t: expected a request rate above 0, found 0");
}
