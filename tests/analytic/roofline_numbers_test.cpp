// Numbers that a person can work out with pencil and paper, or that were published, against the operators and
// prices.

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "costmodel/cost_options.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"
#include "hardware/gpu_spec.hpp"
#include "hardware/profile.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

ModelSpec llama() {
  return load_model("llama-3-8b");
}

std::vector<Operator> gemms(std::int64_t tokens) {
  std::vector<Operator> list = token_operators(llama(), 1, tokens);
  std::erase_if(list, [](const Operator& part) { return part.family != OperatorFamily::gemm; });
  return list;
}

Operator named(const std::vector<Operator>& list, std::string_view name) {
  return *std::find_if(list.begin(), list.end(), [&](const Operator& part) { return part.name == name; });
}

/// Bytes that stay when the tokens go: the line through one and two tokens, at none.
double weight_bytes(std::string_view name) {
  const auto at = [&](std::int64_t tokens) {
    return static_cast<double>(named(gemms(tokens), name).hbm_bytes.count());
  };
  return 2 * at(1) - at(2);
}

bool compute_bound(const GpuSpec& gpu, CostLevel level, const Operator& part) {
  return Roofline(gpu, load_profile(gpu.name), level, in_one_node(1)).time(part).compute_bound();
}

TEST_CASE("ridge points of the datasheets") {
  GpuSpec a100 = load_gpu("a100-80gb-sxm");
  CHECK(a100.ridge_point() == Approx(153).epsilon(0.002));
  a100.hbm_bandwidth = BytesPerSecond(2.0e12);  // as often rounded
  CHECK(a100.ridge_point() == Approx(156));
  CHECK(load_gpu("h100-sxm").ridge_point() == Approx(295).epsilon(0.002));
}

TEST_CASE("effective ridge points of the fitted GEMM constants") {
  const std::pair<const char*, double> expected[] = {
      {"a100-80gb-sxm", 158}, {"h100-sxm", 272}, {"h200-sxm", 201}, {"b200-sxm", 260}, {"l40s", 320}};
  for (const auto& [name, ridge] : expected) {
    const Roofline roofline(load_gpu(name), load_profile(name), CostLevel::roofline, in_one_node(1));
    CAPTURE(name);
    CHECK(roofline.roofs(OperatorFamily::gemm).ridge_point() == Approx(ridge).epsilon(0.004));
  }
}

TEST_CASE("intensity of weight-only traffic is the number of tokens") {
  for (const std::int64_t tokens : {1, 32, 156, 256, 4096}) {
    for (const Operator& part : gemms(tokens)) {
      CAPTURE(part.name, tokens);
      CHECK(part.flops.count() / weight_bytes(part.name) == static_cast<double>(tokens));
    }
  }
}

TEST_CASE("with activations the intensity of 156 tokens is near 148") {
  const std::vector<Operator> products = gemms(156);
  const double intensity = arithmetic_intensity(total_flops(products), total_hbm_bytes(products));
  CHECK(intensity == Approx(148).epsilon(0.01));
}

TEST_CASE("Q projection at 64 sequences of 512 tokens: 1.10 TFLOP, 32 MiB of weights") {
  const double q_share = 32.0 / (32 + 2 * 8);  // of the fused QKV projection
  const Operator qkv = named(gemms(64 * 512), "qkv projection");
  CHECK(qkv.flops.count() * q_share == 1'099'511'627'776.0);
  CHECK(weight_bytes("qkv projection") * q_share == 32.0 * 1024 * 1024);
}

TEST_CASE(
    "KV cache: 131,072 B a token, 156 sequences of 4096 are 83.75 GB and do not fit beside the weights") {
  const ModelSpec model = llama();
  CHECK(model.kv_bytes_per_token().count() == 131'072);
  const std::int64_t cache = 156 * 4096 * model.kv_bytes_per_token().count();
  CHECK(cache == 83'751'862'272);
  CHECK(static_cast<double>(cache) / 1e9 == Approx(83.75).epsilon(1e-4));
  const std::int64_t weights = model.parameters() * model.weight_bytes;
  CHECK(static_cast<double>(weights) / 1e9 == Approx(16.06).epsilon(1e-3));
  CHECK(cache + weights > load_gpu("a100-80gb-sxm").hbm_usable.count());
  // One token of cache is what decode attention reads for it, over all layers.
  CHECK((decode_attention(model, 1, 0, 1, false).hbm_bytes * model.layers).count() == 131'072);
}

TEST_CASE("weight GEMMs cross the ridge at as many tokens as its FLOPs per byte") {
  const std::pair<const char*, std::int64_t> expected[] = {{"a100-80gb-sxm", 154}, {"h100-sxm", 296}};
  for (const auto& [name, batch] : expected) {
    const GpuSpec gpu = load_gpu(name);
    for (const std::int64_t tokens : {batch - 1, batch}) {
      Operator product = named(gemms(tokens), "down projection");
      product.hbm_bytes = Bytes(static_cast<std::int64_t>(weight_bytes("down projection")));
      CAPTURE(name, tokens);
      CHECK(compute_bound(gpu, CostLevel::datasheet, product) == (tokens == batch));
    }
  }
}

TEST_CASE("a chunk of 256 tokens is compute-bound on A100 and memory-bound on H100") {
  for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline}) {
    for (const Operator& product : gemms(256)) {
      CAPTURE(product.name, to_string(level));
      CHECK(compute_bound(load_gpu("a100-80gb-sxm"), level, product));
      CHECK_FALSE(compute_bound(load_gpu("h100-sxm"), level, product));
    }
  }
}

TEST_CASE("32 tokens are memory-bound on every GPU") {
  for (const std::string& name : builtin_gpu_names()) {
    for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline}) {
      for (const Operator& product : gemms(32)) {
        CAPTURE(name, product.name);
        CHECK_FALSE(compute_bound(load_gpu(name), level, product));
      }
    }
  }
}

TEST_CASE("whole-model intensity at context 4096 saturates near 32 FLOP/B") {
  const auto intensity = [](std::int64_t batch) {
    const StepShape shape{.decodes = batch, .decode_context = batch * 4096, .sampled_rows = batch};
    const std::vector<Operator> operators = step_operators(llama(), 1, shape);
    return arithmetic_intensity(total_flops(operators), total_hbm_bytes(operators));
  };
  // Without activations: 2 FLOPs a matmul parameter and attention, over the cache alone.
  const double asymptote = (2 * 7'504'658'432.0 + 4.0 * 32 * 4096 * 4096) / (4096 * 131'072.0);
  CHECK(asymptote == Approx(32).epsilon(0.002));
  CHECK(intensity(1'000'000) == Approx(asymptote).epsilon(0.03));  // activations are 2 % of the traffic
  CHECK(intensity(1'000'000) < asymptote);
  double before = 0;
  for (const std::int64_t batch : {1, 8, 64, 512, 4096, 32768}) {
    CHECK(intensity(batch) > before);
    before = intensity(batch);
  }
  // No batch reaches any ridge: decode stays memory-bound.
  for (const std::string& name : builtin_gpu_names()) {
    CHECK(intensity(1'000'000) < load_gpu(name).ridge_point());
  }
}

TEST_CASE("attention intensity: half the prompt times g / (1 + g), and g in decode") {
  const ModelSpec model = llama();
  const double g = 4;
  const ChunkShape prompt{8192, 0};
  const Operator prefill = prefill_attention(model, 1, {&prompt, 1});
  CHECK(arithmetic_intensity(prefill.flops, prefill.hbm_bytes) ==
        Approx(8192 / 2.0 * g / (1 + g)).epsilon(0.001));
  const Operator decode = decode_attention(model, 1, 64, 64 * 8192, false);
  CHECK(arithmetic_intensity(decode.flops, decode.hbm_bytes) == Approx(g).epsilon(0.001));
}

TEST_CASE("verifying four drafted tokens multiplies the intensity by five") {
  const auto weight_only = [](std::int64_t tokens) {
    return named(gemms(tokens), "down projection").flops.count() / weight_bytes("down projection");
  };
  CHECK(weight_only(4 + 1) == 5 * weight_only(1));
}

/// Step times of Llama-3-8B worked out from the fitted constants with a spreadsheet, no host time: four
/// decode batches, three prompts. The prompts leave out what elementwise kernels move.
struct SheetRow {
  const char* gpu;
  double decode_ms[4];
  double prefill_ms[3];
};
constexpr SheetRow kSheet[] = {{"a100-80gb-sxm", {12.0, 18.2, 42.7, 36.0}, {34, 133, 601}},
                               {"h100-sxm", {6.5, 9.7, 19.2, 18.0}, {11, 40, 176}},
                               {"h200-sxm", {5.2, 7.6, 15.5, 13.6}, {11, 40, 176}}};
constexpr std::pair<std::int64_t, std::int64_t> kDecodes[] = {{1, 1024}, {64, 1024}, {256, 1024}, {64, 4096}};
constexpr std::int64_t kPrompts[] = {512, 2048, 8192};

std::unique_ptr<StepPricer> gpu_only_pricer(const GpuSpec& gpu) {
  CostOptions options;
  options.host_fixed = Duration();
  options.host_per_sequence = Duration();
  return make_step_pricer(llama(), gpu, in_one_node(1), options, {8192, 256});
}

double elementwise_ms(const GpuSpec& gpu, const StepShape& shape) {
  const Roofline roofline(gpu, load_profile(gpu.name), CostLevel::roofline, in_one_node(1));
  Duration sum;
  for (const Operator& part : step_operators(llama(), 1, shape)) {
    if (part.family == OperatorFamily::elementwise) {
      sum += roofline.time(part).total() * part.repeats;
    }
  }
  return to_milliseconds(sum);
}

TEST_CASE("decode steps of Llama-3-8B are within 7 % of the sheet") {
  fmt::print("decode, batch @ context     sheet ms   ours ms\n");
  for (const SheetRow& row : kSheet) {
    const auto pricer = gpu_only_pricer(load_gpu(row.gpu));
    for (std::size_t i = 0; i < std::size(kDecodes); ++i) {
      const auto [batch, context] = kDecodes[i];
      const StepShape shape{.decodes = batch, .decode_context = batch * context, .sampled_rows = batch};
      const double ours_ms = to_milliseconds(pricer->price(shape).total());
      fmt::print("{:13} {:4} @ {:5} {:10.1f} {:9.2f}\n", row.gpu, batch, context, row.decode_ms[i], ours_ms);
      CAPTURE(row.gpu, batch, context);
      CHECK(ours_ms == Approx(row.decode_ms[i]).epsilon(0.07));
    }
  }
}

TEST_CASE("prompts of Llama-3-8B are within 4 % of the sheet plus elementwise kernels") {
  fmt::print("prefill, tokens             sheet ms   ours ms   of it elementwise\n");
  for (const SheetRow& row : kSheet) {
    const GpuSpec gpu = load_gpu(row.gpu);
    const auto pricer = gpu_only_pricer(gpu);
    for (std::size_t i = 0; i < std::size(kPrompts); ++i) {
      const ChunkShape prompt{kPrompts[i], 0};
      const StepShape shape{.sampled_rows = 1, .chunks = {&prompt, 1}};
      const double ours_ms = to_milliseconds(pricer->price(shape).total());
      const double moved_ms = elementwise_ms(gpu, shape);
      fmt::print("{:13} {:5} {:18.0f} {:9.1f} {:9.1f}\n", row.gpu, kPrompts[i], row.prefill_ms[i], ours_ms,
                 moved_ms);
      CAPTURE(row.gpu, kPrompts[i]);
      // The sheet's whole milliseconds are 4 % of its smallest figure.
      CHECK(ours_ms - moved_ms == Approx(row.prefill_ms[i]).epsilon(0.04));
      CHECK(ours_ms == Approx(row.prefill_ms[i]).epsilon(0.125));
    }
  }
}

}  // namespace
}  // namespace inferometer
