// The reader of config.json: what each class means by its keys, and what is refused.

#include "costmodel/hf_config.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

/// A small valid model of a class, one key a line from line 2 on, with some keys changed, added or ("") left
/// out.
std::string config(const std::string& architecture, const Keys& changes = {}) {
  Keys keys = {{"architectures", "[\"" + architecture + "\"]"},
               {"hidden_size", "64"},
               {"intermediate_size", "128"},
               {"num_hidden_layers", "3"},
               {"num_attention_heads", "8"},
               {"num_key_value_heads", "2"},
               {"vocab_size", "1000"},
               {"max_position_embeddings", "512"}};
  for (const auto& change : changes) {
    bool known = false;
    for (auto& key : keys) {
      if (key.first == change.first) {
        key.second = change.second;
        known = true;
      }
    }
    if (!known) {
      keys.push_back(change);
    }
  }
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : keys) {
    if (!value.empty()) {
      text += separator + ("  \"" + key + "\": " + value);
      separator = ",\n";
    }
  }
  return text + "\n}\n";
}

ModelSpec read(const std::string& architecture, const Keys& changes = {}) {
  return parse_hf_config(config(architecture, changes), "config.json");
}

std::string complaint_about(const std::string& text) {
  try {
    parse_hf_config(text, "config.json");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string complaint(const Keys& changes, const std::string& architecture = "LlamaForCausalLM") {
  return complaint_about(config(architecture, changes));
}

const std::string kLlama = "LlamaForCausalLM";
const std::string kMistral = "MistralForCausalLM";
const std::string kQwen2 = "Qwen2ForCausalLM";
const std::string kQwen3 = "Qwen3ForCausalLM";

}  // namespace

TEST_CASE("plain keys") {
  const ModelSpec model = read(kLlama);
  CHECK(model.architecture == kLlama);
  CHECK(model.name == "config.json");
  CHECK(model.layers == 3);
  CHECK(model.hidden == 64);
  CHECK(model.heads == 8);
  CHECK(model.kv_heads == 2);
  CHECK(model.head_dim == 8);
  CHECK(model.ffn == 128);
  CHECK(model.vocab == 1000);
  CHECK(model.max_positions == 512);
  CHECK_FALSE(model.tied_embeddings);
  CHECK_FALSE(model.attention_bias);
  CHECK_FALSE(model.output_bias);
  CHECK_FALSE(model.sliding_window.has_value());
  CHECK(model.weight_bytes == 2);
  CHECK(model.kv_bytes == 2);
}

TEST_CASE("parameters of a small model, counted by hand") {
  // Embedding 1000 x 64 = 64000, lm_head the same. A layer: Q 64 x 64, K and V 64 x 16 each, O 64 x 64:
  // 10240; FFN 3 x 64 x 128 = 24576; two norms 128. Last norm 64.
  CHECK(read(kLlama).parameters() == 64'000 + 64'000 + 3 * (10'240 + 24'576 + 128) + 64);
  CHECK(read(kLlama, {{"tie_word_embeddings", "true"}}).parameters() ==
        64'000 + 3 * (10'240 + 24'576 + 128) + 64);
  // Bias on Q 64, K and V 16 each; Llama's attention_bias has one on O (64) as well.
  CHECK(read(kQwen2).parameters() == read(kLlama).parameters() + 3 * 96);
  CHECK(read(kLlama, {{"attention_bias", "true"}}).parameters() == read(kLlama).parameters() + 3 * 160);
  // Norm of Q and K heads: two vectors of head_dim a layer.
  CHECK(read(kQwen3, {{"head_dim", "8"}}).parameters() == read(kLlama).parameters() + 3 * 16);
  // 2 (K, V) x 3 layers x 2 KV heads x 8 x 2 bytes.
  CHECK(read(kLlama).kv_bytes_per_token() == Bytes(192));
}

TEST_CASE("defaults of each class when a key is absent or null") {
  CHECK(read(kLlama, {{"num_key_value_heads", ""}}).kv_heads == 8);
  CHECK(read(kLlama, {{"num_key_value_heads", "null"}}).kv_heads == 8);
  CHECK(read(kMistral, {{"num_attention_heads", "16"}, {"num_key_value_heads", ""}}).kv_heads == 8);
  CHECK(read(kQwen2, {{"num_attention_heads", "64"}, {"num_key_value_heads", ""}}).kv_heads == 32);
  CHECK(read(kLlama, {{"head_dim", "null"}}).head_dim == 8);
  CHECK(read(kLlama, {{"head_dim", "24"}}).head_dim == 24);
  CHECK(read(kQwen3).head_dim == 128);
  CHECK(read(kQwen3, {{"head_dim", "null"}}).head_dim == 8);
  CHECK(read(kLlama, {{"torch_dtype", "\"float32\""}}).weight_bytes == 4);
  CHECK(read(kLlama, {{"dtype", "\"float32\""}}).kv_bytes == 4);
  CHECK(read(kLlama, {{"dtype", "\"float16\""}, {"torch_dtype", "\"bfloat16\""}}).weight_bytes == 2);
}

TEST_CASE("keys that do not change the price are allowed") {
  CHECK(read(kLlama, {{"rope_scaling", "{\"factor\": 8.0, \"rope_type\": \"llama3\"}"},
                      {"eos_token_id", "[1, 2, 3]"},
                      {"num_experts", "0"},
                      {"quantization_config", "null"},
                      {"pretraining_tp", "1"},
                      {"\\u00e9t\\u00e9", "\"a \\\" quote\""}})
            .layers == 3);
}

TEST_CASE("sliding windows") {
  CHECK(read(kMistral).sliding_window == 4096);
  CHECK_FALSE(read(kMistral, {{"sliding_window", "null"}}).sliding_window.has_value());
  CHECK(read(kMistral, {{"sliding_window", "77"}}).sliding_window == 77);
  CHECK_FALSE(read(kQwen2, {{"sliding_window", "77"}}).sliding_window.has_value());
  CHECK_FALSE(
      read(kQwen3, {{"use_sliding_window", "true"}, {"sliding_window", "77"}, {"max_window_layers", "3"}})
          .sliding_window.has_value());
  CHECK_FALSE(
      read(kQwen2, {{"use_sliding_window", "true"}, {"sliding_window", "77"}}).sliding_window.has_value());
  CHECK(read(kQwen2, {{"use_sliding_window", "true"}, {"sliding_window", "77"}, {"max_window_layers", "0"}})
            .sliding_window == 77);
  const std::string sliding = "[\"sliding_attention\", \"sliding_attention\", \"sliding_attention\"]";
  CHECK(read(kQwen3, {{"use_sliding_window", "true"}, {"sliding_window", "77"}, {"layer_types", sliding}})
            .sliding_window == 77);

  const ModelSpec upper =
      read(kQwen2, {{"use_sliding_window", "true"}, {"sliding_window", "77"}, {"max_window_layers", "2"}});
  CHECK(upper.sliding_window == 77);
  CHECK(upper.full_layers == std::vector<std::int64_t>{0, 1});
  CHECK(upper.windowed_layers() == 1);
  const std::string mixed = "[\"full_attention\", \"sliding_attention\", \"full_attention\"]";
  CHECK(read(kQwen3, {{"use_sliding_window", "true"}, {"sliding_window", "77"}, {"layer_types", mixed}})
            .full_layers == std::vector<std::int64_t>{0, 2});
  check_says(complaint({{"layer_types", mixed}}, kQwen3), {"use_sliding_window is not true"});
  check_says(complaint({{"layer_types", "[\"full_attention\"]"}}, kQwen3),
             {"1 layers", "num_hidden_layers says 3"});
  check_says(complaint({{"layer_types", "[\"full_attention\", \"linear_attention\", 3]"}}, kQwen3),
             {"not priced"});
  check_says(complaint({{"layer_types", sliding}}, kQwen3), {"use_sliding_window is not true"});
  check_says(complaint({{"sliding_window", "77"}}), {"sliding_window: 77: this class has no sliding window"});
}

TEST_CASE("what cannot be priced is refused with the reason") {
  check_says(complaint({{"num_local_experts", "8"}}),
             {"config.json:10:3: num_local_experts: 8", "this class is dense"});
  check_says(complaint({{"num_experts", "128"}}), {"this class is dense"});
  check_says(complaint({{"n_routed_experts", "256"}}), {"this class is dense"});
  check_says(complaint({{"kv_lora_rank", "512"}}), {"no multi-head latent attention"});
  check_says(complaint({{"text_config", "{\"hidden_size\": 64}"}}), {"multimodal"});
  check_says(complaint({{"mlp_bias", "true"}}), {"bias in the feed-forward"});
  check_says(complaint({{"mlp_bias", "-1"}}), {"mlp_bias: -1 is neither true nor false"});
  check_says(complaint({{"is_encoder_decoder", "\"no\""}}), {"is neither true nor false"});
  for (const char* value : {"0", "false", "\"\"", "[]", "-1"}) {
    check_says(complaint({{"quantization_config", value}}), {"quantization_config: ", "is not an object"});
  }
  check_says(complaint({{"hidden_act", "\"gelu\""}}), {"hidden_act: \"gelu\"", "silu"});
  check_says(complaint({{"torch_dtype", "\"float8_e4m3fn\""}}),
             {"torch_dtype", "bfloat16, float16 or float32"});
  check_says(complaint({{"dtype", "\"float32\""}, {"torch_dtype", "\"bfloat16\""}}), {"contradicts"});
  check_says(complaint({}, "GPT2LMHeadModel"),
             {"config.json:2:3: architecture \"GPT2LMHeadModel\" is not supported", "Qwen3ForCausalLM"});
  check_says(complaint({}, "LamaForCausalLM"), {"did you mean \"LlamaForCausalLM\"?"});
  check_says(complaint({{"architectures", ""}}), {"architectures is missing"});
  check_says(complaint({{"architectures", "[\"LlamaForCausalLM\", \"LlamaModel\"]"}}), {"not a list of one"});
  check_says(complaint({{"architectures", "\"LlamaForCausalLM\""}}), {"not a list of one"});
}

TEST_CASE("numbers that no model has are refused where they stand") {
  for (const char* wrong : {"0", "-1", "4096.5", "64.0", "1e3", "\"64\"", "true", "[64]",
                            "18446744073709551615", "9223372036854775807", "1000001"}) {
    INFO(wrong);
    check_says(complaint({{"hidden_size", wrong}}),
               {"config.json:3:3: hidden_size: ", "is not a whole number from 1 to 1000000"});
  }
  check_says(complaint({{"hidden_size", "null"}}), {"config.json:3:3: hidden_size is null"});
  check_says(complaint({{"num_hidden_layers", ""}}), {"config.json: num_hidden_layers is missing"});
  check_says(complaint({{"num_key_value_heads", "3"}}),
             {"config.json:7:3: num_attention_heads 8 is not a multiple of num_key_value_heads 3"});
  check_says(complaint({{"num_key_value_heads", "16"}}), {"not a multiple of num_key_value_heads 16"});
  check_says(complaint({{"hidden_size", "68"}}),
             {"hidden_size 68 is not a multiple of num_attention_heads 8"});
  check_says(complaint({{"tie_word_embeddings", "1"}}), {"tie_word_embeddings: 1 is neither true nor false"});
  check_says(complaint({{"torch_dtype", "16"}}), {"torch_dtype: 16 is not a string"});
}

TEST_CASE("the largest model within the limits does not overflow") {
  const ModelSpec model = read(kLlama, {{"hidden_size", "1000000"},
                                        {"intermediate_size", "10000000"},
                                        {"num_hidden_layers", "1000"},
                                        {"num_attention_heads", "4096"},
                                        {"num_key_value_heads", "4096"},
                                        {"head_dim", "4096"},
                                        {"vocab_size", "10000000"},
                                        {"torch_dtype", "\"float32\""}});
  const double attention = 4.0 * 1e6 * 4096.0 * 4096.0;
  const double expected = 1000.0 * (attention + 3e13 + 2e6) + 1e6 + 2e13;
  CHECK(static_cast<double>(model.parameters()) == Approx(expected).epsilon(1e-12));
  CHECK(model.kv_bytes_per_token().count() == 2LL * 1000 * 4096 * 4096 * 4);
}

TEST_CASE("all mistakes of a file are reported at once, in its order") {
  const std::string text =
      complaint({{"hidden_size", "0"}, {"vocab_size", "-5"}, {"num_local_experts", "8"}});
  const std::size_t first = text.find("config.json:3:3: hidden_size: 0");
  const std::size_t second = text.find("config.json:8:3: vocab_size: -5");
  const std::size_t third = text.find("config.json:10:3: num_local_experts");
  INFO(text);
  CHECK(first != std::string::npos);
  CHECK(second != std::string::npos);
  CHECK(third != std::string::npos);
  CHECK(first < second);
  CHECK(second < third);
}

TEST_CASE("text that is not a JSON object") {
  check_says(complaint_about(""), {"config.json: the file is empty"});
  check_says(complaint_about("{\n  \"hidden_size\": 64,\n}"), {"config.json:3:1: invalid JSON"});
  check_says(complaint_about("{\"a\": 1, \"hidden_size\": NaN}"), {"config.json:1:", "invalid JSON"});
  check_says(complaint_about("{\"a\": 1e999}"), {"invalid JSON"});
  check_says(complaint_about("{\"a\": \"\xff\"}"), {"invalid JSON"});
  check_says(complaint_about("[1, 2]"), {"expected a JSON object, found array"});
  check_says(complaint_about("{\"a\": 1} x"), {"invalid JSON"});
  check_says(complaint_about(std::string("{}\n\0{\"a\n", 8)), {"config.json:2:1: invalid JSON: a NUL byte"});
  check_says(complaint_about("{\"a\": 1,\n \"b\": {\"a\": 2},\n\"a\": 3}"),
             {"config.json:3:1: key \"a\" occurs twice; first on line 1"});
}

TEST_CASE("nesting has a limit, tight on both sides") {
  const auto nested = [](int arrays) {
    return config(kLlama, {{"extra", std::string(static_cast<std::size_t>(arrays), '[') +
                                         std::string(static_cast<std::size_t>(arrays), ']')}});
  };
  CHECK(complaint_about(nested(31)).empty());  // 32 levels with the object itself
  check_says(complaint_about(nested(32)), {"config.json:10:", "nested deeper than 32 levels"});
  check_says(complaint_about(std::string(1'000'000, '[')), {"config.json:1:33: nested deeper"});
}

TEST_CASE("columns count characters, not bytes") {
  check_says(complaint_about("{\"\xc3\xa9\": 1, \"architectures\": 5}"),
             {"config.json:1:10: architectures: 5"});
}

TEST_CASE("a file larger than any config.json is not read") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("inferometer_hf_config_test_" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << config(kLlama);
  CHECK(read_hf_config_file(path.string()).layers == 3);
  std::filesystem::resize_file(path, std::uintmax_t{1} << 30);
  try {
    read_hf_config_file(path.string());
    FAIL("not refused");
  } catch (const ConfigError& error) {
    check_says(error.what(), {"larger than 4 MiB"});
  }
  std::filesystem::remove(path);
}

}  // namespace inferometer
