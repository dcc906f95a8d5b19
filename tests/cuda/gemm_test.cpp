#include "kernels/gemm/gemm.hpp"

#include <cmath>
#include <vector>

#include "kernels/gemm/gemv.hpp"
#include "tests/cuda/dense_data.hpp"

namespace inferometer::kernels {
namespace {

using namespace inferometer::test;

constexpr float kInputScale = 0.5f;
constexpr float kWeightScale = 3;

/// Random input and weights, and room for a poisoned output.
struct Product {
  explicit Product(const GemmShape& product_shape)
      : shape(product_shape),
        input(bytes_for(shape.m * shape.k, shape.type)),
        weights(bytes_for(shape.n * shape.k, shape.type)),
        output(bytes_for(shape.m * shape.n, output_type(shape))),
        input_elements(fill(input, {.type = shape.type, .seed = 1, .small = true})),
        weight_elements(fill(weights, {.type = shape.type, .seed = 2, .small = true})) {}

  [[nodiscard]] GemmBuffers buffers(void* workspace) const {
    return {.input = input.data(),
            .weights = weights.data(),
            .output = output.data(),
            .input_scale = static_cast<const float*>(input_scale.data()),
            .weight_scale = static_cast<const float*>(weight_scale.data()),
            .workspace = workspace};
  }

  /// Every output of small products, a sample of large ones.
  void check_output() const {
    const double scale = shape.type == ElementType::fp8_e4m3 ? double{kInputScale} * double{kWeightScale} : 1;
    const std::vector<double> outputs = elements_of(output, output_type(shape));
    const std::int64_t count = shape.m * shape.n;
    const std::int64_t stride = count * shape.k < 10'000'000 ? 1 : 97;
    for (std::int64_t index = 0; index < count; index += stride) {
      const std::int64_t row = index / shape.n;
      const std::int64_t column = index % shape.n;
      const DotProduct expected = gemm_reference(part_of(input_elements, row * shape.k, shape.k),
                                                 part_of(weight_elements, column * shape.k, shape.k), scale);
      INFO("m " << shape.m << " n " << shape.n << " k " << shape.k << " row " << row << " column " << column);
      const double error = std::fabs(outputs[static_cast<std::size_t>(index)] - expected.value);
      REQUIRE(error <= gemm_tolerance(shape, expected));
    }
  }

  GemmShape shape;
  GpuArray input;
  GpuArray weights;
  GpuArray output;
  GpuArray input_scale = on_gpu(std::vector<float>{kInputScale});
  GpuArray weight_scale = on_gpu(std::vector<float>{kWeightScale});
  std::vector<double> input_elements;
  std::vector<double> weight_elements;
};

TEST_CASE("every candidate of a product gives the reference", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  GemmLibraryPtr library;
  require_run(open_gemm_library(library));
  CHECK(gemm_library_version() >= 120'000);
  const GpuArray workspace(static_cast<std::size_t>(kGemmWorkspaceBytes));
  for (const ElementType type : {ElementType::bf16, ElementType::fp16, ElementType::fp8_e4m3}) {
    for (const GemmShape& shape : {GemmShape{1, 16, 16, type}, GemmShape{3, 48, 80, type},
                                   GemmShape{129, 272, 1040, type}, GemmShape{64, 512, 8192, type}}) {
      GemmPlanPtr plan;
      const LaunchResult planned = plan_gemm(*library, shape, plan);
      if (planned.status == KernelStatus::unsupported && type == ElementType::fp8_e4m3) {
        WARN("skipped: no fp8 product of " << shape.m << " rows on this GPU");
        continue;
      }
      require_run(planned);
      REQUIRE(candidates_of(*plan) >= 1);
      REQUIRE(candidates_of(*plan) <= kMostGemmCandidates);
      const Product product(shape);
      for (int candidate = 0; candidate < candidates_of(*plan); ++candidate) {
        require_run(
            fill_poison(product.output.data(), static_cast<std::int64_t>(product.output.bytes()), nullptr));
        const LaunchResult result = gemm(*plan, candidate, product.buffers(workspace.data()), nullptr);
        if (result.status != KernelStatus::unsupported) {
          require_run(result);
          product.check_output();
        }
      }
    }
  }
}

TEST_CASE("products that cuBLASLt has no fast path for are refused", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  GemmLibraryPtr library;
  require_run(open_gemm_library(library));
  for (const GemmShape& shape :
       {GemmShape{4, 12, 64, ElementType::bf16}, GemmShape{4, 64, 12, ElementType::bf16},
        GemmShape{4, 24, 64, ElementType::fp8_e4m3}, GemmShape{0, 64, 64, ElementType::bf16},
        GemmShape{4, 64, 64, ElementType::fp32}}) {
    GemmPlanPtr plan;
    CHECK(plan_gemm(*library, shape, plan).status == KernelStatus::unsupported);
    CHECK(plan == nullptr);
  }
}

TEST_CASE("the product for few tokens gives the reference again and again", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  for (const ElementType type : {ElementType::bf16, ElementType::fp16, ElementType::fp8_e4m3}) {
    for (const std::int64_t m : {1, 2, 7, 8, 9, 16}) {
      // One block; odd rows and the end of k within a step; split k; many blocks.
      for (const GemmShape& shape : {GemmShape{m, 1, 16, type}, GemmShape{m, 77, 528, type},
                                     GemmShape{m, 200, 8208, type}, GemmShape{m, 30'000, 256, type}}) {
        const Product product(shape);
        std::int64_t workspace_bytes = 0;
        require_run(gemv_workspace_bytes(shape, workspace_bytes));
        const GpuArray workspace =
            on_gpu(std::vector<unsigned char>(static_cast<std::size_t>(workspace_bytes) + 1));
        std::vector<double> first;
        for (int call = 0; call < 3; ++call) {
          require_run(
              fill_poison(product.output.data(), static_cast<std::int64_t>(product.output.bytes()), nullptr));
          require_run(gemv(shape, product.buffers(workspace.data()), nullptr));
          const std::vector<double> outputs = elements_of(product.output, output_type(shape));
          if (call == 0) {
            product.check_output();
            first = outputs;
          }
          REQUIRE(outputs == first);
        }
      }
    }
  }
}

TEST_CASE("the product for few tokens refuses what it cannot do", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  for (const GemmShape& shape :
       {GemmShape{17, 64, 64, ElementType::bf16}, GemmShape{1, 64, 12, ElementType::bf16},
        GemmShape{1, 64, 24, ElementType::fp8_e4m3}, GemmShape{1, 64, 64, ElementType::fp32}}) {
    CHECK(gemv(shape, {}, nullptr).status == KernelStatus::unsupported);
  }
}

}  // namespace
}  // namespace inferometer::kernels
