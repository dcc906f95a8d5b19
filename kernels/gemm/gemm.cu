#include <algorithm>
#include <array>
#include <new>

#include <cublasLt.h>

#include "kernels/common/launch_check.cuh"
#include "kernels/gemm/gemm.hpp"

namespace inferometer::kernels {

struct GemmLibrary {
  cublasLtHandle_t handle = nullptr;
};

struct GemmPlan {
  cublasLtHandle_t handle = nullptr;
  GemmShape shape;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t weights = nullptr;
  cublasLtMatrixLayout_t input = nullptr;
  cublasLtMatrixLayout_t output = nullptr;
  std::array<cublasLtMatmulHeuristicResult_t, kMostGemmCandidates> candidates{};
  int candidate_count = 0;
};

namespace {

constexpr std::uintptr_t kAlignment = 256;  // cuBLASLt's default preference

LaunchResult result_of(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return {};
    case CUBLAS_STATUS_ALLOC_FAILED:
      return {KernelStatus::out_of_memory, cublasLtGetStatusString(status)};
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
    case CUBLAS_STATUS_INVALID_VALUE:  // of sizes that a format does not take together
      return {KernelStatus::unsupported, cublasLtGetStatusString(status)};
    default:
      return {KernelStatus::failed, cublasLtGetStatusString(status)};
  }
}

cudaDataType_t data_type(ElementType type) {
  return type == ElementType::bf16 ? CUDA_R_16BF : type == ElementType::fp16 ? CUDA_R_16F : CUDA_R_8F_E4M3;
}

template <class Value>
cublasStatus_t set(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute, Value value) {
  return cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof(value));
}

/// cuBLASLt's matrices are column-major, so that ours are their transposes: it is asked for
/// output^T (n x m) = weights^T^T (n x k) input^T (k x m), that is, its first operand transposed, its second
/// not. The only form that it has for fp8 on Hopper.
LaunchResult describe(const GemmShape& shape, GemmPlan& plan) {
  const cudaDataType_t type = data_type(shape.type);
  const auto m = static_cast<std::uint64_t>(shape.m);
  const auto n = static_cast<std::uint64_t>(shape.n);
  const auto k = static_cast<std::uint64_t>(shape.k);
  LaunchResult result;
  const auto keep_first_error = [&result](cublasStatus_t status) {
    if (result.ok()) {
      result = result_of(status);
    }
  };
  keep_first_error(cublasLtMatmulDescCreate(&plan.product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  keep_first_error(cublasLtMatrixLayoutCreate(&plan.weights, type, k, n, shape.k));
  keep_first_error(cublasLtMatrixLayoutCreate(&plan.input, type, k, m, shape.k));
  keep_first_error(cublasLtMatrixLayoutCreate(&plan.output, data_type(output_type(shape)), n, m, shape.n));
  if (!result.ok()) {
    return result;
  }
  keep_first_error(set(plan.product, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T));
  keep_first_error(set(plan.product, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N));
  if (shape.type == ElementType::fp8_e4m3) {
    keep_first_error(set(plan.product, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1}));
  }
  return result;
}

LaunchResult ask_heuristic(GemmPlan& plan) {
  cublasLtMatmulPreference_t preference = nullptr;
  cublasStatus_t status = cublasLtMatmulPreferenceCreate(&preference);
  if (status != CUBLAS_STATUS_SUCCESS) {
    return result_of(status);
  }
  const std::uint64_t workspace = kGemmWorkspaceBytes;
  status = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                &workspace, sizeof(workspace));
  // Those that add up parts of k in the output's format are not exact to its last bits.
  const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                  &reductions, sizeof(reductions));
  }
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulAlgoGetHeuristic(plan.handle, plan.product, plan.weights, plan.input, plan.output,
                                            plan.output, preference, kMostGemmCandidates,
                                            plan.candidates.data(), &plan.candidate_count);
  }
  cublasLtMatmulPreferenceDestroy(preference);
  // Of a result without success nothing else is valid.
  const auto first = plan.candidates.begin();
  const auto valid = std::remove_if(first, first + plan.candidate_count, [](const auto& candidate) {
    return candidate.state != CUBLAS_STATUS_SUCCESS;
  });
  plan.candidate_count = static_cast<int>(valid - first);
  if (status == CUBLAS_STATUS_SUCCESS && plan.candidate_count == 0) {
    status = CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return result_of(status);
}

bool is_aligned(const void* buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer) % kAlignment == 0;
}

}  // namespace

LaunchResult open_gemm_library(GemmLibraryPtr& library) {
  GemmLibraryPtr opened(new (std::nothrow) GemmLibrary);
  if (!opened) {
    return {KernelStatus::failed, "gemm: no memory on the host"};
  }
  const cublasStatus_t status = cublasLtCreate(&opened->handle);
  if (status == CUBLAS_STATUS_SUCCESS) {
    library = std::move(opened);
  }
  return result_of(status);
}

std::int64_t gemm_library_version() {
  return static_cast<std::int64_t>(cublasLtGetVersion());
}

void destroy(GemmLibrary* library) {
  if (library->handle != nullptr) {
    cublasLtDestroy(library->handle);
  }
  delete library;
}

void destroy(GemmPlan* plan) {
  for (const cublasLtMatrixLayout_t layout : {plan->weights, plan->input, plan->output}) {
    if (layout != nullptr) {
      cublasLtMatrixLayoutDestroy(layout);
    }
  }
  if (plan->product != nullptr) {
    cublasLtMatmulDescDestroy(plan->product);
  }
  delete plan;
}

LaunchResult plan_gemm(const GemmLibrary& library, const GemmShape& shape, GemmPlanPtr& plan) {
  if (shape.type == ElementType::fp32) {
    return {KernelStatus::unsupported, "gemm: bf16, fp16 or fp8"};
  }
  const std::int64_t multiple = shape.type == ElementType::fp8_e4m3 ? 16 : 8;
  if (shape.m < 1 || shape.n < 1 || shape.k < 1 || shape.n % multiple != 0 || shape.k % multiple != 0) {
    return {KernelStatus::unsupported, "gemm: m >= 1, n and k multiples of 8, in fp8 of 16"};
  }
  GemmPlanPtr made(new (std::nothrow) GemmPlan);
  if (!made) {
    return {KernelStatus::failed, "gemm: no memory on the host"};
  }
  made->handle = library.handle;
  made->shape = shape;
  if (const LaunchResult result = describe(shape, *made); !result.ok()) {
    return result;
  }
  const LaunchResult result = ask_heuristic(*made);
  if (result.ok()) {
    plan = std::move(made);
  }
  return result;
}

int candidates_of(const GemmPlan& plan) {
  return plan.candidate_count;
}

LaunchResult gemm(GemmPlan& plan, int candidate, const GemmBuffers& buffers, Stream stream) {
  if (!is_aligned(buffers.input) || !is_aligned(buffers.weights) || !is_aligned(buffers.output) ||
      !is_aligned(buffers.workspace)) {
    return {KernelStatus::unsupported, "gemm: buffers aligned to 256 bytes"};
  }
  if (plan.shape.type == ElementType::fp8_e4m3) {
    // The first operand of cuBLASLt is the weights.
    cublasStatus_t status = set(plan.product, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, buffers.weight_scale);
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = set(plan.product, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, buffers.input_scale);
    }
    if (status != CUBLAS_STATUS_SUCCESS) {
      return result_of(status);
    }
  }
  const float one = 1;
  const float zero = 0;
  const auto& chosen = plan.candidates[static_cast<std::size_t>(candidate)];
  const cublasStatus_t status =
      cublasLtMatmul(plan.handle, plan.product, &one, buffers.weights, plan.weights, buffers.input,
                     plan.input, &zero, buffers.output, plan.output, buffers.output, plan.output,
                     &chosen.algo, buffers.workspace, static_cast<std::size_t>(kGemmWorkspaceBytes), stream);
  if (status != CUBLAS_STATUS_SUCCESS) {
    // What the library's launch left on the runtime's record is not the next kernel's.
    cudaGetLastError();
  }
  return result_of(status);
}

}  // namespace inferometer::kernels
