#include "kernels/gemm/gemm.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "costmodel/kernels/kernel_work.hpp"
#include "costmodel/operators.hpp"
#include "kernels/gemm/candidate_search.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

TEST_CASE("work of a product equals the cost model's", "[gemm]") {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> size(1, 20'000);
  const std::map<ElementType, std::string> variants{
      {ElementType::bf16, "bf16"}, {ElementType::fp16, "bf16"}, {ElementType::fp8_e4m3, "fp8"}};
  for (int round = 0; round < 100; ++round) {
    for (const auto& [type, variant] : variants) {
      const GemmShape shape{.m = size(random), .n = size(random), .k = size(random), .type = type};
      const KernelWork expected =
          kernel_work({.family = KernelFamily::gemm,
                       .variant = variant,
                       .axes = {static_cast<double>(shape.m), static_cast<double>(shape.n),
                                static_cast<double>(shape.k)}});
      CHECK(gemm_work(shape).flops == expected.flops);
      CHECK(gemm_work(shape).bytes == expected.hbm_bytes);
    }
  }
}

TEST_CASE("work of a model's projections equals that of its operators", "[gemm]") {
  for (const char* name : {"llama-3-8b", "llama-2-7b"}) {
    const ModelSpec model = load_model(name);
    for (const std::int64_t tokens : {1, 17, 2048}) {
      for (const Operator& part : token_operators(model, 2, tokens)) {
        if (part.family != OperatorFamily::gemm) {
          continue;
        }
        const auto& axes = part.call.value().axes;
        const GemmShape shape{.m = static_cast<std::int64_t>(axes[0]),
                              .n = static_cast<std::int64_t>(axes[1]),
                              .k = static_cast<std::int64_t>(axes[2])};
        CHECK(gemm_work(shape).flops == part.flops.count());
        CHECK(gemm_work(shape).bytes == static_cast<double>(part.hbm_bytes.count()));
      }
    }
  }
}

TEST_CASE("a product of rows worked by hand", "[gemm]") {
  // 2 (1 * 4 - 2 * 5 + 3 * 0.5) = 2 (-4.5); magnitudes 2 (4 + 10 + 1.5).
  const DotProduct product = gemm_reference({1, -2, 3}, {4, 5, 0.5}, 2);
  CHECK(product.value == -9);
  CHECK(product.magnitude == 31);
}

TEST_CASE("the tolerance covers one rounding of the output and sees a lost term", "[gemm]") {
  const GemmShape shape{.m = 1, .n = 8, .k = 1024};
  const std::vector<double> ones(1024, 1.0);
  const DotProduct product = gemm_reference(ones, ones, 1);
  CHECK(gemm_tolerance(shape, product) >= 1024 * 0x1p-8);
  CHECK(gemm_tolerance(shape, {.value = 0, .magnitude = 1024}) < 1);
}

TEST_CASE("the fastest candidate is found through noise that only adds", "[gemm]") {
  // Candidate 2 takes 1.0 s at best, and 1.3 s the first time; candidate 0 always 1.2 s; 1 cannot run.
  const std::vector<double> best{1.2, -1, 1.0, 5.0, 1.25};
  std::vector<int> calls(best.size());
  const int fastest = fastest_candidate(static_cast<int>(best.size()), [&](int candidate) {
    const auto index = static_cast<std::size_t>(candidate);
    const bool is_first = calls[index]++ == 0;
    return candidate == 2 && is_first ? 1.3 : best[index];
  });
  CHECK(fastest == 2);
  CHECK(calls == std::vector<int>{2, 1, 2, 1, 2});
}

TEST_CASE("equal candidates give the first and none that runs gives none", "[gemm]") {
  CHECK(fastest_candidate(4, [](int) { return 1.0; }) == 0);
  CHECK(fastest_candidate(3, [](int) { return -1.0; }) == -1);
  CHECK(fastest_candidate(0, [](int) { return 1.0; }) == -1);
}

}  // namespace
}  // namespace inferometer::kernels
