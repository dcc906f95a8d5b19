// Names that others give to models and GPUs, as they stand on Hugging Face, in drivers and in benchmark
// tables.

#include <set>

#include "costmodel/model_spec.hpp"
#include "hardware/gpu_spec.hpp"
#include "sim/validation/known_names.hpp"
#include "tests/support/catch.hpp"

using namespace inferometer;

TEST_CASE("Hugging Face ids and short names are built-in models", "[validation]") {
  const auto is = [](const std::string& id, const std::string& name) {
    INFO(id);
    CHECK(known_model(id).value_or("(unknown)") == name);
  };
  is("meta-llama/Llama-3.1-70B-Instruct", "llama-3.1-70b");
  is("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b");
  is("RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8-dynamic", "llama-3.1-70b");
  is("meta-llama/Llama-3.3-70B-Instruct", "llama-3.1-70b");
  is("meta-llama/Llama-2-7b-chat-hf", "llama-2-7b");
  is("meta-llama/Meta-Llama-3-8B", "llama-3-8b");
  is("Qwen/Qwen3-32B", "qwen3-32b");
  is("Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b");
  is("Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b");
  is("Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b");
  is("openai/gpt-oss-120b", "gpt-oss-120b");
  is("mistralai/Mistral-Nemo-Instruct-2407", "mistral-nemo-12b");
  is("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b");
  is("Mixtral-8x22B", "mixtral-8x22b");
  is("mistralai/Mistral-7B-Instruct-v0.1", "mistral-7b-v0.1");
  is("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b");
  is("codellama/CodeLlama-34b-Instruct-hf", "codellama-34b");
  is("deepseek-ai/DeepSeek-V3-0324", "deepseek-v3");
  is("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1");
  is("/models/Llama-3.1-8B-Instruct/", "llama-3.1-8b");
  is("LLAMA_3.1_8B", "llama-3.1-8b");
  is("llama-3-1-70b", "llama-3.1-70b");
}

TEST_CASE("another architecture is not taken for one that is named like it", "[validation]") {
  for (const char* id : {"deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "Qwen/Qwen2.5-VL-7B-Instruct",
                         "meta-llama/Llama-3.1-70B-Reward", "acme/Foo-7B", "", "/"}) {
    INFO(id);
    CHECK(!known_model(id));
  }
}

TEST_CASE("every built-in model and GPU is known by its own name, and no two are taken for each other",
          "[validation]") {
  std::set<std::string> models;
  for (const std::string& name : builtin_model_names()) {
    INFO(name);
    CHECK(known_model(name).value_or("") == name);
    models.insert(known_model(name).value_or(""));
  }
  CHECK(models.size() == builtin_model_names().size());
  for (const std::string& name : builtin_gpu_names()) {
    INFO(name);
    CHECK(known_gpu(name).value_or("") == name);
    for (const std::string& device : load_gpu(name).device_names) {
      INFO(device);
      CHECK(known_gpu(device).value_or("") == name);
    }
  }
}

TEST_CASE("GPUs by their usual names", "[validation]") {
  const auto is = [](const std::string& text, const std::string& name) {
    INFO(text);
    CHECK(known_gpu(text).value_or("(unknown)") == name);
  };
  is("H100", "h100-sxm");
  is("h100_sxm", "h100-sxm");
  is("H100-SXM-80GB", "h100-sxm");
  is("H100 PCIe", "h100-pcie");
  is("H200", "h200-sxm");
  is("8xH200", "h200-sxm");
  is("A100", "a100-80gb-sxm");
  is("a100_sxm", "a100-80gb-sxm");
  is("A100-SXM-80GB", "a100-80gb-sxm");
  is("NVIDIA A100-SXM4-40GB", "a100-40gb-sxm");
  is("A100-PCIe-40GB", "a100-40gb-pcie");
  is("L40S", "l40s");
  is("B200", "b200-sxm");
  CHECK(!known_gpu("H100 MIG 3g"));
  CHECK(!known_gpu("V100"));
  CHECK(!known_gpu(""));
}

TEST_CASE("precisions in words of engine.quantization", "[validation]") {
  CHECK(quantization_of("") == "none");
  CHECK(quantization_of("BF16") == "none");
  CHECK(quantization_of("fp8_block") == "fp8_block");
  CHECK(quantization_of("int4_wo") == "int4");
  CHECK(quantization_of("int8_wo") == "int8_wo");  // for the scenario to refuse
  CHECK(quantization_in_name("RedHatAI/Llama-3.1-8B-FP8").value_or("") == "fp8");
  CHECK(quantization_in_name("Qwen/Qwen3-32B-FP8").value_or("") == "fp8_block");
  CHECK(quantization_in_name("Qwen/Qwen2.5-7B-Instruct-AWQ").value_or("") == "int4");
  CHECK(!quantization_in_name("meta-llama/Llama-3.1-8B"));
}
