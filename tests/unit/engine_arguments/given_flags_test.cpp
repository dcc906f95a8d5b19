// Spellings that vLLM's parser takes: https://docs.vllm.ai/en/v0.16.0/configuration/engine_args/ and
// argparse's manual (abbreviations, values behind flags of one letter). Sizes: "1k" is 1,000, "1K" 1,024,
// "25.6k" 25,600, as its help says of
// --max-model-len.

#include "sim/engine_arguments/given_flags.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

GivenCommand read(const std::string& text) {
  return read_command(vllm_program(), text);
}

/// The single flag of a command line.
GivenFlag one(const std::string& text) {
  const GivenCommand command = read(text);
  REQUIRE(command.flags.size() == 1);
  return command.flags.front();
}

std::string mistake(const std::string& text) {
  try {
    read(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a flag with a value in every spelling") {
  for (const std::string text :
       {"--tensor-parallel-size 4", "--tensor-parallel-size=4", "--tensor_parallel_size 4",
        "--tensor_parallel_size=4", "-tp 4", "-tp=4", "--tensor-par 4", "serve --tensor-p=4",
        "vllm serve -tp '4'", "/opt/bin/vllm serve -tp \\\n4"}) {
    INFO(text);
    const GivenFlag given = one(text);
    CHECK(given.flag->name() == "--tensor-parallel-size");
    CHECK(given.value == "4");
  }
  CHECK(one("-O3").value == "3");
  CHECK(one("-O 3").value == "3");
  CHECK(one("-O=3").value == "3");
  CHECK(one("-O3").flag->name() == "--optimization-level");
  CHECK(one("-q fp8").flag->name() == "--quantization");
  CHECK(one("--seed -1").value == "-1");
}

TEST_CASE("a toggle is on, off with --no-, or what stands behind it") {
  CHECK(one("--enable-prefix-caching").is_on);
  CHECK_FALSE(one("--no-enable-prefix-caching").is_on);
  CHECK_FALSE(one("--no_enable_prefix_caching").is_on);
  CHECK_FALSE(one("--enable-chunked-prefill False").is_on);
  CHECK_FALSE(one("--enable-chunked-prefill=false").is_on);
  CHECK(one("--enable-chunked-prefill true").is_on);
  CHECK(one("--no-enable-chunked-prefill=false").is_on);
  CHECK(one("-ep").flag->name() == "--enable-expert-parallel");
  CHECK(read("--enforce-eager Qwen/Qwen3-8B").model == "Qwen/Qwen3-8B");
}

TEST_CASE("the command before its flags may be there or not") {
  const GivenCommand command =
      read("CUDA_VISIBLE_DEVICES=0,1 VLLM_USE_V1=1 vllm serve Qwen/Qwen3-8B --port 80");
  CHECK(command.model == "Qwen/Qwen3-8B");
  CHECK(to_string(command.model_where) == "--vllm-args:1:51");
  CHECK(command.environment == std::vector<std::string>{"CUDA_VISIBLE_DEVICES=0,1", "VLLM_USE_V1=1"});
  CHECK(read("serve m").model == "m");
  CHECK(read("python3 -m vllm.entrypoints.openai.api_server --model m").flags.size() == 1);
  check_says(mistake("python -m sglang.launch_server --model m"),
             {"--vllm-args:1:1: ", "vllm.entrypoints.openai.api_server", "sglang.launch_server"});
}

TEST_CASE("a list goes up to the next flag") {
  const GivenCommand command = read("serve m --served-model-name a b --port 80");
  REQUIRE(command.flags.size() == 2);
  CHECK(command.flags[0].values == std::vector<std::string>{"a", "b"});
  CHECK(command.model == "m");
}

TEST_CASE("JSON in one piece or key by key") {
  CHECK(one(R"(--speculative-config '{"method": "ngram"}')").value == R"({"method": "ngram"})");
  const GivenFlag given = one("--speculative_config.num_speculative_tokens 4");
  CHECK(given.flag->name() == "--speculative-config");
  CHECK(given.key == "num_speculative_tokens");
  CHECK(given.value == "4");
  CHECK(one("-cc.cudagraph_mode=NONE").key == "cudagraph_mode");
}

TEST_CASE("mistakes are told all at once, each at its place with the nearest flag") {
  const std::string found = mistake("serve m --max-num-sequences 4 \\\n --tensor-parallel-siz3 2 -tp");
  check_says(found,
             {"--vllm-args:1:9: vLLM has no flag \"--max-num-sequences\"; did you mean \"--max-num-seqs\"?",
              "--vllm-args:2:2: vLLM has no flag \"--tensor-parallel-siz3\"; did you mean",
              "--vllm-args:2:27: --tensor-parallel-size has no value behind it"});
  check_says(mistake("serve m --max-num-s 4 n"), {"--vllm-args:1:23: \"n\" belongs to no flag", "\"m\""});
  check_says(mistake("--max-num 4"), {"\"--max-num\" may be --max-num-seqs, --max-num-batched-tokens or "});
  check_says(mistake("--enable-chunked-prefill=maybe"), {"--vllm-args:1:26: ", "true or false", "maybe"});
  check_says(mistake("--no-tensor-parallel-size"), {"vLLM has no flag \"--no-tensor-parallel-size\""});
}

TEST_CASE("sizes for people: small letters are powers of 1000, capital ones of 1024") {
  CHECK(human_count("8192") == 8192);
  CHECK(human_count("8k") == 8000);
  CHECK(human_count("8K") == 8192);
  CHECK(human_count("1m") == 1000000);
  CHECK(human_count("1M") == 1048576);
  CHECK(human_count("25.6k") == 25600);
  CHECK(human_count("1.5g") == 1500000000);
  CHECK(human_count("2G") == 2147483648);
  CHECK(human_count("0") == 0);
  for (const std::string text :
       {"", "k", "1.5", "1.5K", "-1", "1e3", "8kB", "1.k", "x", "9000000000000000", "999999999999999T"}) {
    INFO(text);
    CHECK_FALSE(human_count(text));
  }
}

TEST_CASE("what is measured in something takes a value, and what is enabled none") {
  for (const EngineFlag& flag : vllm_program().flags) {
    INFO(flag.name());
    for (const std::string end :
         {"-size", "-threshold", "-port", "-len", "-gb", "-bytes", "-path", "-backend", "-level"}) {
      CHECK_FALSE((flag.form == FlagForm::toggle && flag.name().ends_with(end)));
    }
    const bool is_switch = flag.name().starts_with("--enable-") || flag.name().starts_with("--disable-");
    CHECK(
        (!is_switch || flag.form == FlagForm::toggle || flag.name() == "--disable-access-log-for-endpoints"));
  }
}

TEST_CASE("every flag has a name of its own, and every one that sets something says what") {
  std::vector<std::string> names;
  for (const EngineFlag& flag : vllm_program().flags) {
    INFO(flag.name());
    CHECK(flag.name().starts_with("--"));
    CHECK(flag.says.empty() == (flag.effect == FlagEffect::none));
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

}  // namespace
}  // namespace inferometer
