// Mixtures of experts, latent attention and quantised checkpoints in a config.json, and the models of that
// kind that are built in.

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "costmodel/hf_config.hpp"
#include "costmodel/weight_count.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

/// A small valid model of a class with more keys, each with a comma before it.
std::string config(const std::string& architecture, const std::string& keys) {
  return "{\"architectures\": [\"" + architecture +
         "\"], \"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8,\n"
         "\"num_key_value_heads\": 2, \"head_dim\": 8, \"vocab_size\": 1000, \"max_position_embeddings\": "
         "512" +
         keys + "}";
}

ModelSpec read(const std::string& architecture, const std::string& keys) {
  return parse_hf_config(config(architecture, keys), "config.json");
}

std::string complaint(const std::string& architecture, const std::string& keys) {
  try {
    read(architecture, keys);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

const std::string kMixtral =
    ",\n\"intermediate_size\": 96, \"num_local_experts\": 6, \"num_experts_per_tok\": 2";
const std::string kQwen2 =
    ",\n\"intermediate_size\": 128, \"moe_intermediate_size\": 32, \"shared_expert_intermediate_size\": 80, "
    "\"num_experts\": 10, \"num_experts_per_tok\": 3";
const std::string kDeepseek =
    ",\n\"intermediate_size\": 128, \"moe_intermediate_size\": 32, \"n_routed_experts\": 10, "
    "\"n_shared_experts\": 2, \"num_experts_per_tok\": 3, \"first_k_dense_replace\": 1, "
    "\"kv_lora_rank\": 16, \"qk_rope_head_dim\": 4, \"qk_nope_head_dim\": 6, \"v_head_dim\": 5";

std::string quantized_with(const std::string& value) {
  return kMixtral + ",\n\"quantization_config\": " + value;
}

}  // namespace

TEST_CASE("experts under each family's names") {
  const ModelSpec mixtral = read("MixtralForCausalLM", kMixtral);
  REQUIRE(mixtral.moe.has_value());
  CHECK(mixtral.moe->experts == 6);
  CHECK(mixtral.moe->experts_per_token == 2);
  CHECK(mixtral.moe->ffn == 96);
  CHECK(mixtral.moe_layers() == 4);
  CHECK_FALSE(mixtral.sliding_window.has_value());

  const ModelSpec qwen = read("Qwen2MoeForCausalLM", kQwen2 + ", \"decoder_sparse_step\": 2");
  CHECK(qwen.moe->shared_ffn == 80);
  CHECK(qwen.moe->shared_gate);
  CHECK(qwen.moe->dense_layers == std::vector<std::int64_t>{0, 2});
  CHECK(qwen.ffn == 128);
  CHECK(read("Qwen3MoeForCausalLM", kQwen2 + ", \"mlp_only_layers\": [3, 1]").moe->dense_layers ==
        std::vector<std::int64_t>{1, 3});
  CHECK_FALSE(read("Qwen3MoeForCausalLM", kQwen2 + ", \"decoder_sparse_step\": 5").moe.has_value());

  const ModelSpec oss = read("GptOssForCausalLM", kMixtral + ", \"attention_bias\": true");
  CHECK(oss.moe->router_bias);
  CHECK(oss.moe->expert_bias);
  CHECK(oss.attention_sinks);
  CHECK(oss.sliding_window == 128);
  CHECK(oss.full_layers == std::vector<std::int64_t>{1, 3});
  CHECK(oss.windowed_layers() == 2);

  const ModelSpec llama =
      read("Llama4ForCausalLM", kMixtral +
                                    ", \"intermediate_size_mlp\": 200, "
                                    "\"interleave_moe_layer_step\": 2, \"attention_chunk_size\": 100");
  CHECK(llama.ffn == 200);
  CHECK(llama.moe->shared_ffn == 96);
  CHECK(llama.moe->dense_layers == std::vector<std::int64_t>{0, 2});
  CHECK(llama.sliding_window == 50);
  CHECK(llama.full_layers == std::vector<std::int64_t>{3});
}

TEST_CASE("the text model inside a multimodal Llama 4") {
  const std::string inner =
      "{\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"vocab_size\": 1000, "
      "\"max_position_embeddings\": 512, \"intermediate_size_mlp\": 200" +
      kMixtral + "}";
  const std::string text =
      "{\"architectures\": [\"Llama4ForConditionalGeneration\"], \"vision_config\": {\"a\": 1},\n"
      "\"text_config\": " +
      inner + "}";
  CHECK(parse_hf_config(text, "config.json").moe->experts == 6);
  CHECK(parse_hf_config(text, "config.json").heads == 8);
  const auto broken = [](const std::string& text_config) {
    try {
      parse_hf_config("{\"architectures\": [\"Llama4ForConditionalGeneration\"]" + text_config + "}", "c");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  check_says(broken(""), {"text_config is missing"});
  check_says(broken(",\n\"text_config\": 3"), {"c:2:1: text_config is not an object"});
  check_says(broken(",\n\"text_config\": {\"hidden_size\": 0}"), {"c:2:1: hidden_size: 0"});
}

TEST_CASE("latent attention and the layers of DeepSeek") {
  const ModelSpec model =
      read("DeepseekV3ForCausalLM", kDeepseek +
                                        ", \"num_nextn_predict_layers\": 1, "
                                        "\"q_lora_rank\": 20, \"n_group\": 4, \"topk_group\": 2");
  REQUIRE(model.latent.has_value());
  CHECK(model.latent->q_rank == 20);
  CHECK(model.latent->kv_rank == 16);
  CHECK(model.latent->rope_dim == 4);
  CHECK(model.latent->nope_dim == 6);
  CHECK(model.latent->value_dim == 5);
  CHECK(model.moe->shared_ffn == 64);
  CHECK(model.moe->dense_layers == std::vector<std::int64_t>{0});
  CHECK(model.prediction_layers == 1);
  // One vector of 16 + 4 for all heads, in 16 bit, on every GPU.
  CHECK(model.kv_bytes_per_token() == Bytes(4 * 20 * 2));
  CHECK(model.kv_bytes_per_token(4) == Bytes(4 * 20 * 2));
  CHECK(read("DeepseekV2ForCausalLM", kDeepseek + ", \"q_lora_rank\": null").latent->q_rank == 0);
  check_says(complaint("DeepseekV2ForCausalLM", kMixtral), {"n_routed_experts is missing", "kv_lora_rank"});
}

TEST_CASE("attention of DeepSeek-V3 has 187.1 million parameters a layer") {
  ModelSpec model = load_model("deepseek-v3");
  model.moe.reset();
  model.layers = 1;
  model.ffn = 0;
  CHECK(std::abs(static_cast<double>(count_layer_weights(model, {}).matrices) / 1e6 - 187.1) <= 0.05);
}

TEST_CASE("mistakes in experts are refused where they stand") {
  const std::string too_many =
      ",\n\"intermediate_size\": 96, \"num_local_experts\": 6, \"num_experts_per_tok\": 7";
  check_says(
      complaint("MixtralForCausalLM", too_many),
      {"config.json:3:50: num_experts_per_tok 7 is more than the experts there are: num_local_experts 6"});
  check_says(complaint("MixtralForCausalLM", ", \"intermediate_size\": 96"),
             {"num_local_experts is missing", "num_experts_per_tok is missing"});
  check_says(complaint("Qwen3MoeForCausalLM", kQwen2 + ", \"mlp_only_layers\": [4]"),
             {"mlp_only_layers", "layers, numbered from 0 to 3"});
  check_says(complaint("LlamaForCausalLM", kMixtral), {"num_local_experts: 6: this class is dense"});
  check_says(complaint("MixtralForCausalLM", kMixtral + ", \"kv_lora_rank\": 512"),
             {"no multi-head latent attention"});
}

TEST_CASE("formats of quantised checkpoints") {
  const auto format = [](const std::string& value) {
    const ModelSpec model = read("MixtralForCausalLM", quantized_with(value));
    return model.weight_format + " " + model.moe->format;
  };
  CHECK(format("{\"quant_method\": \"fp8\"}") == "fp8 fp8");
  CHECK(format("{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}") == "fp8_block fp8_block");
  CHECK(format("{\"quant_method\": \"mxfp4\"}") == "bf16 mxfp4_weights");
  CHECK(format("{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128}") ==
        "int4_weights int4_weights");
  CHECK(format("{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128}") ==
        "int4_weights int4_weights");
  CHECK(format("{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": {\"weights\": "
               "{\"num_bits\": 8, \"type\": \"float\", \"strategy\": \"channel\"}}}}") == "fp8 fp8");
  CHECK(format("{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}") == "fp4_weights fp4_weights");
  const ModelSpec narrow_cache = read(
      "MixtralForCausalLM",
      quantized_with("{\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\", \"kv_cache_quant_algo\": "
                     "\"FP8\"}"));
  CHECK(narrow_cache.weight_format == "fp8");
  CHECK(narrow_cache.kv_bytes == 1);

  const auto refused = [](const std::string& value) {
    return complaint("MixtralForCausalLM", quantized_with(value));
  };
  check_says(
      refused("{\"quant_method\": \"aqlm\"}"),
      {"config.json:4:1: quantization_config: quant_method \"aqlm\" is not priced", "compressed-tensors"});
  check_says(refused("{\"quant_method\": \"gptq\", \"bits\": 3, \"group_size\": 64}"),
             {"3 bits in groups of 64", "allowed are 4 bits in groups of 128"});
  check_says(refused("{\"quant_method\": \"fp8\", \"weight_block_size\": [64, 64]}"), {"[128, 128]"});
  check_says(refused("[1]"), {"quantization_config: [...] is not an object"});
  check_says(refused("{\"bits\": 4}"), {"quant_method null is not priced"});
  check_says(complaint("LlamaForCausalLM",
                       ", \"intermediate_size\": 96, \"quantization_config\": {\"quant_method\": \"mxfp4\"}"),
             {"mxfp4 is a format of experts"});
}

TEST_CASE("formats of experts on a GPU") {
  GpuSpec h100 = samples::h100();
  h100.fp8_peak = FlopsPerSecond(1979e12);
  const GpuSpec a100 = samples::a100();
  const ModelSpec plain = read("MixtralForCausalLM", kMixtral);
  const auto formats = [](const ModelSpec& model, const GpuSpec& gpu, const char* word) {
    const ModelSpec served = quantized(model, gpu, word, "auto");
    return served.weight_format + " " + served.moe->format;
  };
  CHECK(formats(plain, h100, "none") == "bf16 bf16");
  CHECK(formats(plain, h100, "fp8") == "fp8 fp8");
  CHECK(formats(plain, a100, "fp8_block") == "int8_weights int8_weights");
  CHECK(formats(plain, h100, "mxfp4") == "bf16 mxfp4_weights");
  CHECK(formats(plain, h100, "nvfp4") == "fp4_weights fp4_weights");
  CHECK(formats(plain, h100, "int4") == "int4_weights int4_weights");
  const ModelSpec eight_bit = read("MixtralForCausalLM", quantized_with("{\"quant_method\": \"fp8\"}"));
  CHECK(formats(eight_bit, h100, "none") == "fp8 fp8");
  CHECK(formats(eight_bit, a100, "none") == "int8_weights int8_weights");
  ModelSpec dense = samples::llama_3_8b();
  CHECK(quantized(dense, h100, "mxfp4", "auto").weight_format == "mxfp4_weights");
}

TEST_CASE("mixtures of published checkpoints, exactly") {
  struct Row {
    const char* model;
    std::int64_t parameters;
  };
  // Element counts of the checkpoints' tensors; of Llama 4 the text model's, of DeepSeek-V3 without the layer
  // that predicts a second token.
  for (const Row& row : {Row{"mixtral-8x7b", 46'702'792'704}, Row{"mixtral-8x22b", 140'620'634'112},
                         Row{"qwen1.5-moe-a2.7b", 14'315'784'192}, Row{"qwen3-30b-a3b", 30'532'122'624},
                         Row{"qwen3-235b-a22b", 235'093'634'560}, Row{"gpt-oss-20b", 20'914'757'184},
                         Row{"gpt-oss-120b", 116'829'156'672}, Row{"deepseek-v2-lite", 15'706'484'224},
                         Row{"deepseek-v2", 235'741'434'880}, Row{"deepseek-v3", 671'026'419'200},
                         Row{"deepseek-r1", 671'026'419'200}}) {
    INFO(row.model);
    CHECK(load_model(row.model).parameters() == row.parameters);
  }
}

TEST_CASE("the reference table of mixtures, to its printed digits") {
  struct Row {
    const char* model;
    double parameters, digit, active, active_digit;  // in 1e9
    std::int64_t kv_bytes;
  };
  for (const Row& row : {Row{"mixtral-8x7b", 46.70, .01, 12.75, .01, 131'072},
                         Row{"qwen3-30b-a3b", 30.53, .01, 3.04, .01, 98'304},
                         Row{"qwen3-235b-a22b", 235.1, .1, 21.57, .01, 192'512},
                         Row{"deepseek-v3", 671.0, .1, 36.6, .1, 70'272}}) {
    INFO(row.model);
    const ModelSpec model = load_model(row.model);
    CHECK(std::abs(static_cast<double>(model.parameters()) / 1e9 - row.parameters) <= 0.5001 * row.digit);
    CHECK(std::abs(static_cast<double>(model.active_parameters()) / 1e9 - row.active) <=
          0.5001 * row.active_digit);
    CHECK(model.kv_bytes_per_token() == Bytes(row.kv_bytes));
  }
  // As their makers name them, in 1e9 parameters: 109 and 400 with the parts for images, 57 and 14 active.
  CHECK(static_cast<double>(load_model("llama-4-scout").parameters()) / 1e9 == Approx(109).epsilon(0.02));
  CHECK(static_cast<double>(load_model("llama-4-maverick").parameters()) / 1e9 == Approx(400).epsilon(0.01));
  CHECK(static_cast<double>(load_model("qwen2-57b-a14b").parameters()) / 1e9 == Approx(57.4).epsilon(0.001));
}

}  // namespace inferometer
