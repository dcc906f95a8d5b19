#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "costmodel/kernels/kernel_work.hpp"
#include "costmodel/operators.hpp"
#include "kernels/copy/device_copy.hpp"
#include "kernels/copy/kv_block_copy.hpp"
#include "kernels/elementwise/embedding.hpp"
#include "kernels/elementwise/rms_norm.hpp"
#include "kernels/elementwise/rope_kv_write.hpp"
#include "kernels/elementwise/silu_mul.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

Operator operator_named(std::string_view name, const ModelSpec& model, std::int64_t tensor_parallel,
                        std::int64_t tokens) {
  for (const Operator& part : token_operators(model, tensor_parallel, tokens)) {
    if (part.name == name) {
      return part;
    }
  }
  FAIL("no operator " << name);
  return {};
}

void check_equal(const Work& work, const Operator& expected) {
  CHECK(work.flops == expected.flops.count());
  CHECK(work.bytes == static_cast<double>(expected.hbm_bytes.count()));
}

double measured_bytes(std::string_view variant, std::int64_t tokens, std::int64_t width) {
  return kernel_work({.family = KernelFamily::elementwise,
                      .variant = std::string(variant),
                      .axes = {static_cast<double>(tokens), static_cast<double>(width)}})
      .hbm_bytes;
}

TEST_CASE("work of elementwise kernels equals that of the operators", "[elementwise]") {
  for (const char* name : {"llama-3-8b", "llama-2-7b", "qwen3-8b"}) {
    for (const std::int64_t kv_bytes : {1, 2}) {
      ModelSpec model = load_model(name);
      model.kv_bytes = kv_bytes;
      for (const std::int64_t tensor_parallel : {1, 2, 4}) {
        for (const std::int64_t tokens : {1, 33, 8192}) {
          const ModelShard local = shard(model, tensor_parallel);
          check_equal(silu_mul_work({.tokens = tokens, .ffn = local.ffn}),
                      operator_named("silu x up", model, tensor_parallel, tokens));
          check_equal(
              rope_kv_write_work({.tokens = tokens,
                                  .heads = local.heads,
                                  .kv_heads = local.kv_heads,
                                  .head_dim = model.head_dim,
                                  .kv_type = kv_bytes == 1 ? ElementType::fp8_e4m3 : ElementType::bf16}),
              operator_named("rope + kv write", model, tensor_parallel, tokens));
        }
      }
    }
  }
}

TEST_CASE("work of a norm alone equals the operator of query and key norms", "[elementwise]") {
  const ModelSpec model = load_model("qwen3-8b");
  const ModelShard local = shard(model, 1);
  const std::int64_t width = (local.heads + local.kv_heads) * model.head_dim;
  check_equal(rms_norm_work({.tokens = 100, .width = width}), operator_named("qk norm", model, 1, 100));
  // With the residual: input and residual read, residual and output written.
  CHECK(rms_norm_work({.tokens = 100, .width = width, .adds_residual = true}).bytes ==
        4 * 2.0 * 100.0 * static_cast<double>(width));
}

TEST_CASE("work of elementwise kernels equals that of measured calls", "[elementwise]") {
  for (const std::int64_t tokens : {1, 7, 4096}) {
    for (const std::int64_t width : {128, 4096, 18944}) {
      CHECK(silu_mul_work({.tokens = tokens, .ffn = width}).bytes ==
            measured_bytes("silu_mul", tokens, width));
      CHECK(rms_norm_work({.tokens = tokens, .width = width}).bytes == measured_bytes("norm", tokens, width));
      CHECK(embedding_work({.tokens = tokens, .width = width}).bytes ==
            measured_bytes("embedding", tokens, width));
    }
  }
}

TEST_CASE("work of copies is what they read and write", "[copy]") {
  CHECK(kv_block_copy_work({.count = 3, .block_bytes = 32768}).bytes == 2 * 3 * 32768);
  CHECK(device_copy_work(1024).bytes == 2048);
  CHECK(device_read_work(1024).bytes == 1024);
  CHECK(device_write_work(1024).bytes == 1024);
}

TEST_CASE("a norm worked by hand", "[elementwise]") {
  // Mean square of (3, 4) is 12.5.
  const std::vector<double> normed = rms_norm_reference({3, 4}, {1, 0.5});
  const double rms = std::sqrt(12.5 + static_cast<double>(kRmsNormEpsilon));
  CHECK(normed[0] == Approx(3 / rms));
  CHECK(normed[1] == Approx(2 / rms));
}

TEST_CASE("activations worked by hand", "[elementwise]") {
  CHECK(silu_mul_reference(0, 5) == 0);
  // silu(ln 3) = ln 3 / (1 + 1/3).
  CHECK(silu_mul_reference(std::log(3.0), 2) == Approx(1.5 * std::log(3.0)));
  CHECK(silu_mul_reference(-1000, 1) == 0);
}

TEST_CASE("rotations worked by hand", "[rope]") {
  constexpr double kTheta = 10000;
  // Pairs (0, 2) and (1, 3) of a head of 4: they turn by 1 and by 10000^(-1/2) = 0.01 a position.
  const std::vector<double> turned = rope_reference({1, 0, 0, 2}, 3, kTheta);
  CHECK(turned[0] == Approx(std::cos(3.0)));
  CHECK(turned[2] == Approx(std::sin(3.0)));
  CHECK(turned[1] == Approx(-2 * std::sin(0.03)));
  CHECK(turned[3] == Approx(2 * std::cos(0.03)));
  CHECK(rope_reference({1, 2, 3, 4}, 0, kTheta) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("scores of rotated heads depend on the distance alone", "[rope]") {
  const std::vector<double> query{0.5, -1, 2, 0.25, 1, 3, -0.75, 0.125};
  const std::vector<double> key{1, 1.5, -0.5, 2, -1, 0.75, 0.5, -2};
  const auto score = [&](std::int64_t at_query, std::int64_t at_key) {
    const std::vector<double> q = rope_reference(query, at_query, 500000);
    const std::vector<double> k = rope_reference(key, at_key, 500000);
    double sum = 0;
    for (std::size_t dim = 0; dim < q.size(); ++dim) {
      sum += q[dim] * k[dim];
    }
    return sum;
  };
  CHECK(score(107, 100) == Approx(score(7, 0)));
  CHECK(score(131072, 131000) == Approx(score(72, 0)));
  CHECK(score(8, 0) != Approx(score(7, 0)));
}

TEST_CASE("every slot head and dimension has a place of its own in the cache", "[rope]") {
  constexpr std::int64_t kBlocks = 3;
  constexpr std::int64_t kKvHeads = 5;
  constexpr std::int64_t kHeadDim = 32;
  std::set<std::int64_t> places;
  for (std::int64_t slot = 0; slot < kBlocks * 16; ++slot) {
    for (std::int64_t head = 0; head < kKvHeads; ++head) {
      for (std::int64_t dim = 0; dim < kHeadDim; ++dim) {
        places.insert(kv_cache_element(slot, head, dim, kKvHeads, kHeadDim));
      }
    }
  }
  CHECK(places.size() == kBlocks * 16 * kKvHeads * kHeadDim);
  CHECK(*places.begin() == 0);
  CHECK(*places.rbegin() == kBlocks * 16 * kKvHeads * kHeadDim - 1);
  // (block 1, head 2, offset 3, dim 4) of (blocks, 5, 16, 32).
  CHECK(kv_cache_element(16 + 3, 2, 4, kKvHeads, kHeadDim) == ((1 * 5 + 2) * 16 + 3) * 32 + 4);
}

}  // namespace
}  // namespace inferometer::kernels
