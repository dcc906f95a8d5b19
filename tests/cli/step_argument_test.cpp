#include "sim/cli/step_argument.hpp"

#include "base/error.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.diagnostics().at(0).message;
  }
  return "accepted";
}

StepArgument decode_step(std::int64_t batch, std::int64_t context) {
  StepArgument step;
  step.decode = {batch, context};
  return step;
}

TEST_CASE("steps are read from their short form") {
  CHECK(parse_prefill("64x512").batch == 64);
  CHECK(parse_prefill("64x512").length == 512);
  CHECK(parse_prefill("2048").batch == 1);
  CHECK(parse_prefill("2048").length == 2048);
  CHECK(parse_chunk("256@4096").size == 256);
  CHECK(parse_chunk("256@4096").past == 4096);
  CHECK(parse_chunk("256").past == 0);
  CHECK(parse_decode("64@1024").batch == 64);
  CHECK(parse_decode("64@1024").context == 1024);
}

TEST_CASE("what is not so written is refused with how to write it") {
  for (const char* text :
       {"", "x", "64*512", "64x", "x512", "64x512x2", " 64x512", "64 x512", "6.4x512", "64x512 "}) {
    CAPTURE(text);
    CHECK(message_of([&] { parse_prefill(text); }) ==
          "--prefill \"" + std::string(text) + "\": write BATCHxLENGTH in whole numbers, for example 64x512");
  }
  CHECK(message_of([] { parse_decode("64"); }) ==
        "--decode \"64\": write BATCH@CONTEXT in whole numbers, for example 64@1024");
  CHECK(message_of([] { parse_chunk("99999999999999999999@1"); }) ==
        "--chunk \"99999999999999999999@1\": write SIZE@PAST in whole numbers, for example 256@4096");
}

TEST_CASE("numbers out of range are refused with the range, tight on both sides") {
  CHECK(message_of([] { parse_decode("0@1024"); }) ==
        "--decode 0@1024: allowed in BATCH@CONTEXT are whole numbers from 1 to 1000000");
  CHECK(message_of([] { parse_chunk("1@-1"); }) ==
        "--chunk 1@-1: allowed in SIZE@PAST are whole numbers from 1 to 1000000, and a past of 0");
  CHECK_NOTHROW(parse_chunk("1@0"));
  CHECK_NOTHROW(parse_decode("1000000@1000000"));
  CHECK_THROWS_AS(parse_decode("1000001@1"), ConfigError);
  CHECK_THROWS_AS(parse_decode("1@1000001"), ConfigError);
  CHECK_NOTHROW(parse_prefill("10x1000000"));
  CHECK(message_of([] { parse_prefill("11x1000000"); }) ==
        "--prefill 11x1000000: more than 10000000 tokens in one step");
}

TEST_CASE("sweeps double, multiply or add, and end at their end") {
  const StepArgument step = decode_step(1, 4096);
  using Values = std::vector<std::int64_t>;
  CHECK(parse_sweep("batch=1:8", step).values == Values{1, 2, 4, 8});
  CHECK(parse_sweep("batch=1:10", step).values == Values{1, 2, 4, 8, 10});
  CHECK(parse_sweep("batch=3:100:x4", step).values == Values{3, 12, 48, 100});
  CHECK(parse_sweep("context=1000:3500:+1000", step).values == Values{1000, 2000, 3000, 3500});
  CHECK(parse_sweep("batch=5:5", step).values == Values{5});
  CHECK(parse_sweep("context=1:2", step).name == "context");
  StepArgument chunk;
  chunk.chunk = {256, 0};
  CHECK(parse_sweep("past=0:200:+100", chunk).values == Values{0, 100, 200});
  CHECK(parse_sweep("batch=1:10000:+1", step).values.size() == 10'000);
}

TEST_CASE("sweeps that make no sense are refused") {
  const StepArgument step = decode_step(1, 4096);
  for (const char* text :
       {"", "batch", "batch=", "batch=1", "batch=1:", "batch=:2", "batch=1:2:", "batch=1:2:3", "batch=1:2:x1",
        "batch=1:2:x0", "batch=1:2:+0", "batch=1:2:+-1", "batch=1:2:x2:x2"}) {
    CAPTURE(text);
    CHECK(message_of([&] { parse_sweep(text, step); }) ==
          "--sweep \"" + std::string(text) +
              "\": write NAME=FROM:TO, NAME=FROM:TO:xFACTOR or NAME=FROM:TO:+STEP in whole numbers, for "
              "example "
              "batch=1:512");
  }
  CHECK(message_of([&] { parse_sweep("bath=1:2", step); }) ==
        "--sweep: this step has no \"bath\"; it has batch or context; did you mean \"batch\"?");
  CHECK(message_of([&] { parse_sweep("batch=8:4", step); }).find("must not exceed") != std::string::npos);
  CHECK(message_of([&] { parse_sweep("batch=1:2000000", step); }).find("from 1 to 1000000") !=
        std::string::npos);
  CHECK(message_of([&] { parse_sweep("batch=1:10001:+1", step); }).find("more than 10000 values") !=
        std::string::npos);
  StepArgument chunk;
  chunk.chunk = {256, 0};
  CHECK(message_of([&] { parse_sweep("past=0:100", chunk); }).find("cannot start at 0") != std::string::npos);
}

TEST_CASE("a step becomes a shape in which every sequence samples") {
  StepArgument mixed = decode_step(64, 1024);
  mixed.chunk = {256, 4096};
  const OwnedStepShape owned(mixed, {});
  CHECK(owned.shape().decodes == 64);
  CHECK(owned.shape().decode_context == 64 * 1024);
  CHECK(owned.shape().sampled_rows == 65);
  REQUIRE(owned.shape().chunks.size() == 1);
  CHECK(owned.shape().chunks[0].past == 4096);
  CHECK(OwnedStepShape(mixed, 100).shape().decode_context == 64 * 1024);
  CHECK(OwnedStepShape(mixed, 100).shape().decode_window_context == 64 * 100);

  StepArgument prompts;
  prompts.prefill = {3, 512};
  CHECK(OwnedStepShape(prompts, {}).shape().tokens() == 3 * 512);
  CHECK(OwnedStepShape(prompts, {}).shape().sampled_rows == 3);
}

TEST_CASE("a step reads as a sentence") {
  StepArgument mixed = decode_step(64, 1024);
  mixed.chunk = {256, 4096};
  CHECK(to_text(mixed) == "a chunk of 256 tokens after 4096 and 64 decodes at context 1024");
  StepArgument prompt;
  prompt.prefill = {1, 512};
  CHECK(to_text(prompt) == "1 prompt of 512 tokens");
}

}  // namespace
}  // namespace inferometer
