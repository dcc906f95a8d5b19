#include <cmath>
#include <vector>

#include "kernels/elementwise/embedding.hpp"
#include "kernels/elementwise/rms_norm.hpp"
#include "kernels/elementwise/silu_mul.hpp"
#include "tests/cuda/dense_data.hpp"

namespace inferometer::kernels {
namespace {

using namespace inferometer::test;

constexpr ElementType kBf16 = ElementType::bf16;

TEST_CASE("norms give the reference alone and with the residual", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  for (const std::int64_t width : {8, 128, 2056, 4096, 8192, 16384}) {
    for (const bool adds_residual : {false, true}) {
      const RmsNormShape shape{.tokens = 5, .width = width, .adds_residual = adds_residual};
      const GpuArray input(bytes_for(shape.tokens * width, kBf16));
      const GpuArray residual(input.bytes());
      const GpuArray weight(bytes_for(width, kBf16));
      const GpuArray output(input.bytes());
      std::vector<double> x = fill(input, {.type = kBf16, .seed = 1});
      const std::vector<double> before = fill(residual, {.type = kBf16, .seed = 2});
      const std::vector<double> weights = fill(weight, {.type = kBf16, .seed = 3});
      require_run(rms_norm(shape, {input.data(), residual.data(), weight.data(), output.data()}, nullptr));
      if (adds_residual) {
        const std::vector<double> after = elements_of(residual, kBf16);
        for (std::size_t index = 0; index < x.size(); ++index) {
          x[index] = value_of(bits_of(x[index] + before[index], kBf16), kBf16);
          REQUIRE(after[index] == x[index]);
        }
      }
      const std::vector<double> outputs = elements_of(output, kBf16);
      for (std::int64_t token = 0; token < shape.tokens; ++token) {
        const std::vector<double> expected = rms_norm_reference(part_of(x, token * width, width), weights);
        for (std::int64_t column = 0; column < width; ++column) {
          const double value = expected[static_cast<std::size_t>(column)];
          REQUIRE(std::fabs(outputs[static_cast<std::size_t>(token * width + column)] - value) <=
                  kRmsNormTolerance * std::fabs(value));
        }
      }
    }
  }
}

TEST_CASE("activations give the reference", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  for (const std::int64_t ffn : {8, 1000, 4096, 4104, 14336}) {
    for (const float factor : {1.0f, 16.0f}) {
      const SiluMulShape shape{.tokens = 3, .ffn = ffn};
      const GpuArray input(bytes_for(shape.tokens * 2 * ffn, kBf16));
      const GpuArray output(bytes_for(shape.tokens * ffn, kBf16));
      const std::vector<double> elements = fill(input, {.type = kBf16, .seed = 4, .factor = factor});
      require_run(silu_mul(shape, {input.data(), output.data()}, nullptr));
      const std::vector<double> outputs = elements_of(output, kBf16);
      for (std::int64_t index = 0; index < shape.tokens * ffn; ++index) {
        const std::int64_t gate = index / ffn * 2 * ffn + index % ffn;
        const double expected = silu_mul_reference(elements[static_cast<std::size_t>(gate)],
                                                   elements[static_cast<std::size_t>(gate + ffn)]);
        REQUIRE(std::fabs(outputs[static_cast<std::size_t>(index)] - expected) <=
                kSiluMulTolerance * std::fabs(expected) + 1e-30);
      }
    }
  }
}

TEST_CASE("embeddings are the rows of their ids", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  const std::vector<std::int32_t> ids{0, 99, 7, 7, 98, 50, 1};
  const GpuArray id_array = on_gpu(ids);
  for (const std::int64_t width : {8, 1016, 4096, 4104}) {
    const EmbeddingShape shape{.tokens = static_cast<std::int64_t>(ids.size()), .width = width};
    const GpuArray table(bytes_for(100 * width, kBf16));
    const GpuArray output(bytes_for(shape.tokens * width, kBf16));
    const std::vector<double> rows = fill(table, {.type = kBf16, .seed = 6});
    require_run(embedding(
        shape, {static_cast<const std::int32_t*>(id_array.data()), table.data(), output.data()}, nullptr));
    const std::vector<double> outputs = elements_of(output, kBf16);
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      REQUIRE(part_of(outputs, token * width, width) ==
              part_of(rows, ids[static_cast<std::size_t>(token)] * width, width));
    }
  }
}

}  // namespace
}  // namespace inferometer::kernels
