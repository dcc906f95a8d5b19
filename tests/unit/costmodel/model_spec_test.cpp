// The shipped models: parameter counts and KV bytes against published counts and the reference table.

#include "costmodel/model_spec.hpp"

#include <cmath>
#include <filesystem>
#include <string>

#include "base/data_path.hpp"
#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {

TEST_CASE("parameters of published checkpoints, exactly") {
  struct Row {
    const char* model;
    std::int64_t parameters;
  };
  // Element counts of the checkpoints' tensors, tied embeddings counted once.
  for (const Row& row : {Row{"llama-2-7b", 6'738'415'616},     Row{"llama-2-13b", 13'015'864'320},
                         Row{"llama-2-70b", 68'976'648'192},   Row{"llama-3-8b", 8'030'261'248},
                         Row{"llama-3.1-8b", 8'030'261'248},   Row{"llama-3-70b", 70'553'706'496},
                         Row{"llama-3.1-70b", 70'553'706'496}, Row{"llama-3.1-405b", 405'853'388'800},
                         Row{"llama-3.2-1b", 1'235'814'400},   Row{"llama-3.2-3b", 3'212'749'824},
                         Row{"codellama-34b", 33'743'970'304}, Row{"mistral-7b-v0.1", 7'241'732'096},
                         Row{"mistral-7b", 7'248'023'552},     Row{"mistral-nemo-12b", 12'247'782'400},
                         Row{"qwen2.5-0.5b", 494'032'768},     Row{"qwen2.5-1.5b", 1'543'714'304},
                         Row{"qwen2.5-7b", 7'615'616'512},     Row{"qwen2.5-72b", 72'706'203'648},
                         Row{"qwen3-0.6b", 596'049'920},       Row{"qwen3-1.7b", 1'720'574'976},
                         Row{"qwen3-4b", 4'022'468'096},       Row{"qwen3-8b", 8'190'735'360},
                         Row{"qwen3-14b", 14'768'307'200},     Row{"qwen3-32b", 32'762'123'264}}) {
    INFO(row.model);
    CHECK(load_model(row.model).parameters() == row.parameters);
  }
}

TEST_CASE("the reference table of dense models, to its printed digits") {
  struct Row {
    const char* model;
    std::int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
    double parameters, active_parameters;  // in 1e9
    double digit, matmul_digit;            // last printed digit
    std::int64_t kv_bytes;
  };
  for (const Row& row :
       {Row{"llama-2-7b", 32, 4096, 32, 32, 128, 11008, 32000, 6.738, 6.607, .001, .001, 524'288},
        Row{"llama-2-13b", 40, 5120, 40, 40, 128, 13824, 32000, 13.016, 12.85, .001, .01, 819'200},
        Row{"llama-2-70b", 80, 8192, 64, 8, 128, 28672, 32000, 68.977, 68.71, .001, .01, 327'680},
        Row{"llama-3-8b", 32, 4096, 32, 8, 128, 14336, 128256, 8.030, 7.505, .001, .001, 131'072},
        Row{"llama-3-70b", 80, 8192, 64, 8, 128, 28672, 128256, 70.554, 69.50, .001, .01, 327'680},
        Row{"llama-3.1-405b", 126, 16384, 128, 8, 128, 53248, 128256, 405.85, 403.7, .01, .1, 516'096},
        Row{"mistral-7b-v0.1", 32, 4096, 32, 8, 128, 14336, 32000, 7.242, 7.11, .001, .01, 131'072},
        Row{"qwen2.5-7b", 28, 3584, 28, 4, 128, 18944, 152064, 7.616, 7.07, .001, .01, 57'344},
        Row{"qwen2.5-72b", 80, 8192, 64, 8, 128, 29568, 152064, 72.71, 71.5, .01, .1, 327'680},
        Row{"qwen3-8b", 36, 4096, 32, 8, 128, 12288, 151936, 8.191, 7.57, .001, .01, 147'456},
        Row{"qwen3-32b", 64, 5120, 64, 8, 128, 25600, 151936, 32.76, 31.98, .01, .01, 262'144}}) {
    INFO(row.model);
    const ModelSpec model = load_model(row.model);
    CHECK(model.layers == row.layers);
    CHECK(model.hidden == row.hidden);
    CHECK(model.heads == row.heads);
    CHECK(model.kv_heads == row.kv_heads);
    CHECK(model.head_dim == row.head_dim);
    CHECK(model.ffn == row.ffn);
    CHECK(model.vocab == row.vocab);
    CHECK(std::abs(static_cast<double>(model.parameters()) / 1e9 - row.parameters) <= 0.5001 * row.digit);
    CHECK(std::abs(static_cast<double>(model.active_parameters()) / 1e9 - row.active_parameters) <=
          0.5001 * row.matmul_digit);
    CHECK(model.kv_bytes_per_token() == Bytes(row.kv_bytes));
  }
}

TEST_CASE("matmul parameters are all parameters less what is only looked up or multiplied elementwise") {
  // Llama-3-8B: embedding 128256 x 4096 and 65 norms of 4096.
  CHECK(load_model("llama-3-8b").active_parameters() == 8'030'261'248 - 128'256LL * 4096 - 65 * 4096);
  // Tied: the one matrix is looked up and multiplied.
  CHECK(load_model("llama-3.2-1b").active_parameters() == 1'235'814'400 - 33 * 2048);
  // Qwen3-8B: also 2 x 128 of QK-norm a layer.
  CHECK(load_model("qwen3-8b").active_parameters() ==
        8'190'735'360 - 151'936LL * 4096 - 73 * 4096 - 36 * 2 * 128);
  // Qwen2.5-7B: also the bias of Q (3584), K and V (512 each).
  CHECK(load_model("qwen2.5-7b").active_parameters() ==
        7'615'616'512 - 152'064LL * 3584 - 57 * 3584 - 28 * (3584 + 2 * 512));
}

TEST_CASE("KV heads are split over GPUs while there are enough, repeated beyond") {
  const ModelSpec model = load_model("llama-3-8b");  // 8 KV heads
  CHECK(model.kv_bytes_per_token(2) == Bytes(65'536));
  CHECK(model.kv_bytes_per_token(8) == Bytes(16'384));
  CHECK(model.kv_bytes_per_token(16) == Bytes(16'384));
  CHECK(load_model("qwen2.5-7b").kv_bytes_per_token(4) == Bytes(14'336));
  CHECK(load_model("qwen2.5-7b").kv_bytes_per_token(7) == Bytes(14'336));
}

TEST_CASE("number formats: fp8 is one of weights only where the GPU has no unit for it") {
  const ModelSpec model = load_model("llama-3-8b");
  const GpuSpec h100 = load_gpu("h100-sxm"), a100 = load_gpu("a100-80gb-sxm");
  const auto format = [&model](const GpuSpec& gpu, std::string_view weights) {
    return quantized(model, gpu, weights, "auto").weight_format;
  };
  CHECK(format(h100, "none") == "bf16");
  CHECK(format(h100, "fp8") == "fp8");
  CHECK(format(h100, "fp8_block") == "fp8_block");
  CHECK(format(h100, "int4") == "int4_weights");
  CHECK(format(a100, "none") == "bf16");
  CHECK(format(a100, "fp8") == "int8_weights");
  CHECK(format(a100, "fp8_block") == "int8_weights");
  CHECK(format(a100, "int4") == "int4_weights");
  CHECK(quantized(model, h100, "fp8", "auto").kv_bytes_per_token() == Bytes(2 * 2 * 32 * 8 * 128));
  CHECK(quantized(model, a100, "none", "fp8").kv_bytes_per_token() == Bytes(2 * 32 * 8 * 128));
  CHECK(quantized(model, h100, "int4", "fp8").parameters() == model.parameters());
}

TEST_CASE("windows and traits of the shipped models") {
  CHECK(load_model("mistral-7b-v0.1").sliding_window == 4096);
  CHECK_FALSE(load_model("mistral-7b").sliding_window.has_value());
  CHECK_FALSE(load_model("qwen2.5-7b").sliding_window.has_value());
  CHECK(load_model("qwen2.5-7b").attention_bias);
  CHECK_FALSE(load_model("qwen2.5-7b").output_bias);
  CHECK(load_model("qwen3-8b").qk_norm);
  CHECK_FALSE(load_model("llama-3-8b").qk_norm);
  CHECK(load_model("llama-3-8b").group_size() == 4);
}

TEST_CASE("a model is found by name, by file and by directory") {
  const std::filesystem::path folder = data_directory("costmodel/models") / "qwen3-8b";
  const ModelSpec by_name = load_model("qwen3-8b");
  const ModelSpec by_directory = load_model(folder.string());
  const ModelSpec by_file = load_model((folder / "config.json").string());
  CHECK(by_name.name == "qwen3-8b");
  CHECK(by_directory.name == folder.string());
  CHECK(by_file.parameters() == by_name.parameters());
  CHECK(by_directory.parameters() == by_name.parameters());
}

TEST_CASE("a model that is not there is named with the nearest one") {
  const auto complaint = [](const std::string& name) -> std::string {
    try {
      load_model(name);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  check_says(complaint("lama-3-8b"),
             {"unknown model \"lama-3-8b\"", "did you mean \"llama-3-8b\"?", "qwen3-32b"});
  check_says(complaint("no/such/folder"), {"no/such/folder", "no such file"});
  check_says(complaint("meta-llama/Llama-3.1-8B-Instruct"),
             {"nothing is fetched from Hugging Face", "did you mean the built-in \"llama-3.1-8b\"?"});
  check_says(complaint("mistralai/Mistral-7B-v0.1"), {"the built-in \"mistral-7b-v0.1\"?"});
  check_says(complaint("acme/unheard-of"), {"by name (else give the path to the model's config.json)"});
  check_says(complaint("./Llama-3.1-8B"), {"no such file"});
  check_says(complaint(std::filesystem::temp_directory_path().string()),
             {"the directory has no config.json"});
  check_says(complaint("/dev/null"), {"not a regular file"});
  check_says(complaint(""), {"unknown model \"\""});
}

}  // namespace inferometer
