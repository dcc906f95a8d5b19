// What fits on a GPU: hand-worked shards, and KV block counts that vLLM reported.

#include "costmodel/memory_footprint.hpp"

#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

MemoryFootprint footprint(const std::string& model, const std::string& gpu, std::int64_t tensor_parallel,
                          const MemorySettings& settings = {}) {
  return memory_footprint(load_model(model), load_gpu(gpu), in_one_node(tensor_parallel), settings);
}

double error_percent(const MemoryFootprint& computed, double measured_blocks) {
  return 100.0 * (static_cast<double>(computed.blocks.count()) / measured_blocks - 1.0);
}

std::string complaint(const std::string& model, std::int64_t tensor_parallel,
                      const MemorySettings& settings = {}) {
  try {
    footprint(model, "h100-sxm", tensor_parallel, settings);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("on one GPU the weights are all parameters") {
  for (const char* name : {"llama-3-8b", "qwen2.5-7b", "qwen3-8b", "llama-3.2-1b", "mistral-7b-v0.1"}) {
    INFO(name);
    const ModelSpec model = load_model(name);
    CHECK(weight_bytes_per_gpu(model, 1) ==
          Bytes(2 * model.parameters()));  // their vocabularies are multiples of 64
  }
}

TEST_CASE("shards: matrices are split, norms repeated, KV heads repeated beyond their number") {
  const ModelSpec model = load_model("llama-3-8b");
  // Everything but the 65 norms of 4096 is split evenly over 2 and 8.
  const std::int64_t split = 8'030'261'248 - 65 * 4096;
  CHECK(weight_bytes_per_gpu(model, 2) == Bytes(2 * (split / 2 + 65 * 4096)));
  CHECK(weight_bytes_per_gpu(model, 8) == Bytes(2 * (split / 8 + 65 * 4096)));

  // Qwen2.5-0.5B, 14 heads and 2 KV heads of 64: over 2 GPUs each has one KV head. QKV 896 x (7 + 2) x 64
  // with bias, O 448 x 896, FFN 3 x 896 x 2432, two norms; vocabulary 151936 / 2 = 75968 rows, tied.
  const std::int64_t layer = 896 * 576 + 576 + 448 * 896 + 3 * 896 * 2432 + 2 * 896;
  CHECK(weight_bytes_per_gpu(load_model("qwen2.5-0.5b"), 2) == Bytes(2 * (24 * layer + 896 + 75'968 * 896)));

  // 4 KV heads over 8 GPUs: one on each, so that QKV is 4096 x (4 + 2) x 128.
  ModelSpec few = model;
  few.kv_heads = 4;
  const std::int64_t few_layer = 4096 * 6 * 128 + 4 * 128 * 4096 + 3 * 4096 * 1792 + 2 * 4096;
  CHECK(weight_bytes_per_gpu(few, 8) == Bytes(2 * (32 * few_layer + 4096 + 2 * 16'032 * 4096)));
}

TEST_CASE("the vocabulary is padded to a multiple of 64") {
  ModelSpec model = load_model("llama-3-8b");
  const Bytes whole = weight_bytes_per_gpu(model, 1);
  model.vocab += 1;
  CHECK(weight_bytes_per_gpu(model, 1) - whole == Bytes(2 * 2 * 64 * 4096));
}

TEST_CASE("number formats: matrices of the layers shrink, embeddings, lm_head and norms stay at 16 bit") {
  const ModelSpec model = load_model("llama-3-8b");
  const GpuSpec h100 = load_gpu("h100-sxm"), a100 = load_gpu("a100-80gb-sxm");
  // 32 layers of QKV 4096 x 6144, O 4096 x 4096 and three times 4096 x 14336; 128256 x 4096 twice, 65 norms.
  const std::int64_t matrices = 32LL * 4096 * (6144 + 4096 + 3 * 14336);
  const std::int64_t others = 2LL * 128'256 * 4096 + 65 * 4096;
  const auto weights = [&](const GpuSpec& gpu, const char* format, std::int64_t degree = 1) {
    return weight_bytes_per_gpu(quantized(model, gpu, format, "auto"), degree).count();
  };
  CHECK(weights(h100, "none") == 2 * (matrices + others));
  CHECK(weights(h100, "fp8") == matrices + 2 * others);
  CHECK(weights(a100, "fp8") == matrices + 2 * others);
  CHECK(weights(h100, "fp8_block") == matrices + matrices / 4096 + 2 * others);  // 4 B for 128 x 128
  CHECK(weights(h100, "int4") == matrices / 2 + matrices / 64 + 2 * others);     // 2 B for 128
  CHECK(weights(h100, "int4", 8) ==
        (matrices / 2 + matrices / 64) / 8 + 2 * (2LL * 128'256 * 4096 / 8 + 65 * 4096));

  // The whole of it on one H100: 8,030,261,248 - 6,979,321,856 parameters stay at 16 bit.
  const MemoryFootprint fp8 =
      memory_footprint(quantized(model, h100, "fp8", "fp8"), h100, in_one_node(1), {});
  CHECK(fp8.weights == Bytes(6'979'321'856 + 2 * 1'050'939'392));
  CHECK(fp8.kv_bytes_per_token == Bytes(65'536));
  CHECK(fp8.kv_cache == fp8.budget - fp8.weights - fp8.activations - kOtherBytes);
  CHECK(fp8.blocks.count() == fp8.kv_cache.count() / (16 * 65'536));
}

TEST_CASE("activations: forward pass, sampler or floor, whichever is largest") {
  const ModelSpec model = load_model("llama-3-8b");
  const auto peak = [&model](std::int64_t degree, std::int64_t tokens, std::int64_t seqs) {
    MemorySettings settings;
    settings.max_num_batched_tokens = tokens;
    settings.max_num_seqs = seqs;
    return peak_activation_bytes(model, degree, settings).count();
  };
  CHECK(peak(1, 8192, 1) == 2 * 8192 * 4096 * 11);
  CHECK(peak(2, 8192, 1) == 8192 * 4096 * 13);
  CHECK(peak(4, 8192, 1) == 2 * 8192 * 4096 * 5);
  CHECK(peak(8, 8192, 1) == 2 * 8192 * 4096 * 5);
  CHECK(peak(1, 2048, 256) == 256LL * 128'256 * 26);
  CHECK(peak(1, 1, 256) == 70 * 1024 * 1024);  // one row at most can be sampled
}

// 85.06 GB usable, 16,060,522,496 B of weights, 131,072 B a token.
TEST_CASE("memory for KV by SGLang: activations lie outside its share") {
  MemorySettings settings;
  settings.kv_memory = KvMemory::sglang;
  settings.block_size = 1;
  settings.gpu_memory_utilization = 0.86;
  settings.max_num_batched_tokens = 8192;  // activations of under 1 GB, and 11.9 GB for them
  const MemoryFootprint roomy = footprint("llama-3-8b", "h100-sxm", 1, settings);
  CHECK(roomy.kv_cache.count() == 73'151'600'000 - 16'060'522'496 - kOtherBytes.count());
  CHECK(roomy.blocks.count() == 427'559);  // 56,041,077,504 B
  CHECK(roomy.budget == Bytes(73'151'600'000));
  CHECK(roomy.activations == Bytes(0));

  // 256 rows of logits take 26 B x 256 x 128256 = 853,671,936 B, more than the forward pass: of 0.999 they
  // bind, for 85.06 MB are not enough.
  settings.gpu_memory_utilization = 0.999;
  const MemoryFootprint tight = footprint("llama-3-8b", "h100-sxm", 1, settings);
  CHECK(tight.kv_cache.count() == 85'060'000'000 - 16'060'522'496 - kOtherBytes.count() - 853'671'936);
  CHECK(tight.weights + tight.other + tight.kv_cache == tight.budget);
}

TEST_CASE("memory for KV by TensorRT-LLM: a share of what the rest leaves") {
  MemorySettings settings;
  settings.kv_memory = KvMemory::trtllm;
  settings.block_size = 32;
  settings.max_num_batched_tokens = 8192;
  settings.max_num_seqs = 2048;
  // 2048 rows of fp32 logits, 4 B x 2048 x 128256 = 1,050,673,152 B, more than 738 MB of the forward pass.
  const MemoryFootprint result = footprint("llama-3-8b", "h100-sxm", 1, settings);
  CHECK(result.activations == Bytes(1'050'673'152));
  const std::int64_t left = 85'060'000'000 - 16'060'522'496 - 1'050'673'152 - kOtherBytes.count();
  CHECK(std::abs(result.kv_cache.count() - left * 9 / 10) <= 1);
  CHECK(result.blocks.count() == left * 9 / 10 / (32 * 131'072));
  CHECK(result.weights + result.activations + result.other + result.kv_cache == result.budget);
  // What is missing is missing whole.
  const MemoryFootprint none = footprint("llama-3-70b", "h100-sxm", 1, settings);
  CHECK_FALSE(none.fits());
  CHECK(none.kv_cache == none.usable - none.weights - none.other -
                             peak_activation_bytes(load_model("llama-3-70b"), 1, settings));
}

TEST_CASE("each engine's word for its arithmetic") {
  CHECK(kv_memory("vllm") == KvMemory::vllm);
  CHECK(kv_memory("sglang") == KvMemory::sglang);
  CHECK(kv_memory("trtllm") == KvMemory::trtllm);
}

TEST_CASE("Llama-3-8B on H100 80 GB: 27.8 k blocks, 445 k tokens") {
  MemorySettings settings;
  settings.max_num_batched_tokens = 8192;
  const MemoryFootprint result = footprint("llama-3-8b", "h100-sxm", 1, settings);
  CHECK(static_cast<double>(result.blocks.count()) == Approx(27'800).epsilon(0.03));
  CHECK(static_cast<double>(result.tokens().count()) == Approx(445'000).epsilon(0.03));
  CHECK(result.tokens().count() == 16 * result.blocks.count());
  CHECK(static_cast<double>(result.weights.count()) == Approx(16.06e9).epsilon(0.001));
  CHECK(result.kv_bytes_per_token == Bytes(131'072));
}

TEST_CASE("the parts add up to the budget, and blocks are whole") {
  for (const char* gpu : {"h100-sxm", "a100-40gb-sxm", "l4", "mi300x"}) {
    for (const std::int64_t degree : {1, 2, 4, 8}) {
      INFO(gpu << " x " << degree);
      const MemoryFootprint result = footprint("qwen3-8b", gpu, degree);
      CHECK(result.weights + result.activations + result.other + result.kv_cache == result.budget);
      CHECK(static_cast<double>(result.budget.count()) ==
            Approx(0.9 * static_cast<double>(result.usable.count())).epsilon(1e-9));
      const std::int64_t block = 16 * result.kv_bytes_per_token.count();
      if (result.kv_cache.count() >= 0) {
        CHECK(result.blocks.count() * block <= result.kv_cache.count());
        CHECK((result.blocks.count() + 1) * block > result.kv_cache.count());
      }
    }
  }
}

TEST_CASE("fitting is tight: one byte less than a block does not fit") {
  const ModelSpec model = load_model("llama-3-8b");
  GpuSpec gpu = load_gpu("h100-sxm");
  MemorySettings settings;
  settings.gpu_memory_utilization = 1.0;
  const MemoryFootprint roomy = memory_footprint(model, gpu, in_one_node(1), settings);
  const Bytes block(16 * 131'072);
  gpu.hbm_usable = roomy.weights + roomy.activations + roomy.other + block;
  CHECK(memory_footprint(model, gpu, in_one_node(1), settings).fits());
  CHECK(memory_footprint(model, gpu, in_one_node(1), settings).blocks == BlockCount(1));
  CHECK(memory_footprint(model, gpu, in_one_node(1), settings).shortfall() == Bytes(0));
  gpu.hbm_usable -= Bytes(1);
  CHECK_FALSE(memory_footprint(model, gpu, in_one_node(1), settings).fits());
  CHECK(memory_footprint(model, gpu, in_one_node(1), settings).shortfall() == Bytes(1));
  gpu.hbm_usable -= block;
  CHECK(memory_footprint(model, gpu, in_one_node(1), settings).shortfall() == Bytes(1) + block);
  CHECK(memory_footprint(model, gpu, in_one_node(1), settings).blocks == BlockCount(0));
}

TEST_CASE("sequences at a context: whole blocks per sequence") {
  MemoryFootprint result;
  result.block_size = 16;
  result.blocks = BlockCount(100);
  CHECK(result.sequences_at(TokenCount(1)) == 100);
  CHECK(result.sequences_at(TokenCount(16)) == 100);
  CHECK(result.sequences_at(TokenCount(17)) == 50);
  CHECK(result.sequences_at(TokenCount(1600)) == 1);
  CHECK(result.sequences_at(TokenCount(1601)) == 0);
}

TEST_CASE("the smallest tensor_parallel that fits") {
  const auto smallest = [](const char* model, const char* gpu) {
    return smallest_fitting_tensor_parallel(load_model(model), load_gpu(gpu), {});
  };
  CHECK(smallest("llama-3-8b", "h100-sxm") == 1);
  // 141 GB of weights over GPUs with a budget of 76.6 GB: 70.6 GB on each of two.
  CHECK(smallest("llama-3-70b", "h100-sxm") == 2);
  CHECK(smallest("llama-3-70b", "a100-40gb-sxm") == 4);  // a quarter is 35.3 GB, the budget 38.1 GB less 1.9
  CHECK(smallest("llama-3-8b", "l4") == 1);
  // 812 GB over 8: 101 GB on each.
  CHECK(smallest("llama-3.1-405b", "h100-sxm") == std::nullopt);
  CHECK(smallest("llama-3.1-405b", "h200-sxm") == 8);
  // 28 heads with 4 KV heads split over 2 and 4, but not over 8: 145 GB over 4 is 36 GB on each.
  ModelSpec wide = load_model("qwen2.5-72b");
  wide.heads = 28;
  wide.kv_heads = 4;
  CHECK(smallest_fitting_tensor_parallel(wide, load_gpu("l4"), {}) == std::nullopt);
  CHECK(smallest_fitting_tensor_parallel(wide, load_gpu("l40s"), {}) == 4);
}

TEST_CASE("the smallest tensor_parallel that holds one sequence is tight in its length") {
  const ModelSpec model = load_model("qwen3-32b");
  const GpuSpec gpu = load_gpu("h100-sxm");
  // 65.5 GB of weights leave 9.0 GB: 34 k tokens of 262144 B.
  const TokenCount most = memory_footprint(model, gpu, in_one_node(1), {}).tokens();
  CHECK(static_cast<double>(most.count()) == Approx(9.0e9 / 262'144).epsilon(0.01));
  CHECK(smallest_fitting_tensor_parallel(model, gpu, {}, most) == 1);
  CHECK(smallest_fitting_tensor_parallel(model, gpu, {}, most + TokenCount(1)) == 2);
}

TEST_CASE("settings and splits that cannot be are refused") {
  check_says(complaint("llama-3-8b", 3), {"tensor_parallel 3", "llama-3-8b"});
  check_says(complaint("qwen2.5-7b", 8), {"tensor_parallel 8"});
  check_says(complaint("llama-3-8b", 0), {"tensor_parallel 0"});
  MemorySettings settings;
  settings.block_size = 0;
  settings.max_num_seqs = -1;
  settings.gpu_memory_utilization = 1.01;
  check_says(complaint("llama-3-8b", 1, settings),
             {"block_size 0", "max_num_seqs -1", "gpu_memory_utilization 1.01"});
  for (const double wrong : {0.0, -0.5, std::nan(""), HUGE_VAL}) {
    MemorySettings bad;
    bad.gpu_memory_utilization = wrong;
    check_says(complaint("llama-3-8b", 1, bad), {"gpu_memory_utilization"});
    CHECK_THROWS_AS(smallest_fitting_tensor_parallel(load_model("llama-3-8b"), load_gpu("l4"), bad),
                    ConfigError);
  }
}

TEST_CASE("a published vLLM block count: Llama-2-7B on A100 80 GB") {
  // vllm-project/vllm#2031 (December 2023): 7351 blocks with the default 2560 batched tokens.
  MemorySettings settings;
  settings.max_num_batched_tokens = 2560;
  const double error = error_percent(footprint("llama-2-7b", "a100-80gb-sxm", 1, settings), 7351);
  INFO("error " << error << " %");
  CHECK(std::abs(error) < 0.6);
}

TEST_CASE("block counts of measured vLLM 0.15.1 runs") {
  std::ifstream input(INFEROMETER_SHARED_DATA "/measured/vllm_0.15.1_runs_shared.csv");
  if (!input) {
    std::cout << "skipped: no measured vLLM runs under " INFEROMETER_SHARED_DATA "\n";
    return;
  }
  const std::map<std::string, std::string> models = {
      {"meta-llama/Llama-3.1-70B-Instruct", "llama-3.1-70b"},
      {"mistralai/Mistral-Nemo-Instruct-2407", "mistral-nemo-12b"}};
  const std::map<std::string, std::string> gpus = {{"H100", "h100-sxm"}};
  std::string line;
  std::getline(input, line);
  std::map<std::string, int> seen;
  while (std::getline(input, line)) {
    std::vector<std::string> cells;
    std::stringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) {
      cells.push_back(cell);
    }
    // exp_id,dir,model,hardware,tp,max_num_seqs,max_num_batched_tokens,total_kv_blocks,...
    if (cells.size() < 8 || models.count(cells[2]) == 0 || gpus.count(cells[3]) == 0 ||
        seen[cells[0]]++ > 0) {
      continue;
    }
    MemorySettings settings;
    settings.max_num_seqs = std::stoll(cells[5]);
    settings.max_num_batched_tokens = std::stoll(cells[6]);
    const MemoryFootprint computed =
        footprint(models.at(cells[2]), gpus.at(cells[3]), std::stoll(cells[4]), settings);
    const double error = error_percent(computed, std::stod(cells[7]));
    std::cout << models.at(cells[2]) << " tp" << cells[4] << " " << cells[6]
              << " batched tokens: " << computed.blocks.count() << " blocks, measured " << cells[7]
              << ", error " << error << " %\n";
    CHECK(std::abs(error) < 0.5);
  }
  CHECK(seen.size() >= 3);
}

TEST_CASE("a stage of a pipeline holds its layers and its end of the model") {
  // Llama-3.1-405B over 8 GPUs in each of 2 stages of 63 layers. A layer: QKV 16384 x (16 + 2) x 128, O 2048
  // x 16384, FFN 3 x 16384 x 6656, two norms; embedding and lm_head 128256 / 8 = 16032 rows each.
  const ModelSpec model = load_model("llama-3.1-405b");
  const std::int64_t layer = 16'384 * 18 * 128 + 2'048 * 16'384 + 3 * 16'384 * 6'656 + 2 * 16'384;
  const std::int64_t first = 2 * (63 * layer + 16'032 * 16'384);
  const std::int64_t last = first + 2 * 16'384;  // the final norm
  const std::vector<ModelSpec> stages = stages_of(model, 2);
  CHECK(weight_bytes_per_gpu(stages[0], 8) == Bytes(first));
  CHECK(weight_bytes_per_gpu(stages[1], 8) == Bytes(last));
  // Forward pass of 2048 tokens, 2 x 2048 x 16384 x 5 B; the sampler, 256 x 128256 x 26 B, runs in the last.
  CHECK(peak_activation_bytes(stages[0], 8, {}) == Bytes(335'544'320));
  CHECK(peak_activation_bytes(stages[1], 8, {}) == Bytes(853'671'936));

  // So the last has the fewest blocks, of 16 tokens with 63 layers, one KV head of 128, keys and values.
  Parallelism parallelism = in_one_node(8);
  parallelism.pipeline = 2;
  const MemoryFootprint result = memory_footprint(model, load_gpu("h100-sxm"), parallelism, {});
  CHECK(result.tensor_parallel == 8);
  CHECK(result.pipeline_parallel == 2);
  CHECK(result.stage == 1);
  CHECK(result.weights == Bytes(last));
  CHECK(result.kv_bytes_per_token == Bytes(2 * 63 * 128 * 2));
  const std::int64_t budget = 76'554'000'000;  // 0.9 x 85.06 GB
  const std::int64_t kv_cache = budget - last - 853'671'936 - kOtherBytes.count();
  CHECK(result.kv_cache == Bytes(kv_cache));
  CHECK(result.blocks == BlockCount(kv_cache / (16 * 32'256)));
}

TEST_CASE("the stage with most layers may be the tightest") {
  // 28 layers over 3 stages: 9, 10 and 9, with little vocabulary and few rows to sample.
  ModelSpec model = load_model("qwen2.5-7b");
  model.vocab = 64;
  Parallelism parallelism = in_one_node(1);
  parallelism.pipeline = 3;
  const MemoryFootprint result = memory_footprint(model, load_gpu("l4"), parallelism, {});
  CHECK(result.stage == 1);
  CHECK(result.kv_bytes_per_token == Bytes(57'344 * 10 / 28));
  // Where nothing fits, it is the one that misses most.
  const MemoryFootprint tight =
      memory_footprint(load_model("llama-3.1-405b"), load_gpu("l4"), parallelism, {});
  CHECK_FALSE(tight.fits());
  for (const ModelSpec& stage : stages_of(load_model("llama-3.1-405b"), 3)) {
    CHECK(memory_footprint(stage, load_gpu("l4"), in_one_node(1), {}).shortfall() <= tight.shortfall());
  }
}

TEST_CASE("a pipeline of one stage is no pipeline") {
  for (const std::int64_t degree : {1, 2, 8}) {
    const MemoryFootprint result = footprint("llama-3-8b", "h100-sxm", degree);
    CHECK(result.pipeline_parallel == 1);
    CHECK(result.stage == 0);
    CHECK(result.weights == weight_bytes_per_gpu(load_model("llama-3-8b"), degree));
  }
}

TEST_CASE("over two nodes each GPU holds a sixteenth") {
  const ModelSpec model = load_model("llama-3.1-70b");  // 64 heads and 8 KV heads: one on every second GPU
  const Parallelism two_nodes{.tensor = 16, .tensor_in_node = 8, .between_nodes = {}, .in_node = {}};
  const MemoryFootprint result = memory_footprint(model, load_gpu("h100-sxm"), two_nodes, {});
  CHECK(result.tensor_parallel == 16);
  const std::int64_t layer = 8192 * (4 + 2) * 128 + 4 * 128 * 8192 + 3 * 8192 * 1792 + 2 * 8192;
  CHECK(result.weights == Bytes(2 * (80 * layer + 8192 + 2 * 8016 * 8192)));
  CHECK(result.kv_bytes_per_token == Bytes(2 * 80 * 128 * 2));
}

TEST_CASE("the smallest replica that fits, within a node before over nodes") {
  const auto smallest = [](const char* model, const char* gpu, std::int64_t most_gpus) {
    return smallest_fitting_parallelism(load_model(model), load_gpu(gpu), most_gpus, {});
  };
  const auto is = [](const std::optional<Parallelism>& found, std::int64_t tensor, std::int64_t pipeline) {
    return found && found->tensor == tensor && found->pipeline == pipeline;
  };
  CHECK(is(smallest("llama-3-8b", "h100-sxm", 64), 1, 1));
  CHECK(is(smallest("llama-3.1-70b", "h100-sxm", 64), 2, 1));  // 141 GB, and the engine takes 77 of a GPU
  // 812 GB of weights: more than 8 H100, less than 16.
  CHECK_FALSE(smallest("llama-3.1-405b", "h100-sxm", 8));
  CHECK(is(smallest("llama-3.1-405b", "h100-sxm", 16), 8, 2));
  CHECK(is(smallest("llama-3.1-405b", "h200-sxm", 16), 8, 1));
  // 28 heads and 4 KV heads cannot be split over 8: the 15 GB go over 2 L4.
  CHECK(is(smallest("qwen2.5-7b", "l4", 16), 1, 1));
  ModelSpec many_layers = load_model("qwen2.5-7b");
  many_layers.layers = 280;  // 131 GB: 8 GPUs of 21 GB, as 4 x 2
  const auto found = smallest_fitting_parallelism(many_layers, load_gpu("l4"), 16, {});
  CHECK(is(found, 4, 2));
}

}  // namespace inferometer
