#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "calibration/device/cuda_check.cuh"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/prepared_call.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "kernels/gemm/candidate_search.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/gemv.hpp"

namespace inferometer {
namespace {

using kernels::ElementType;

// Powers of two, so that the reference has them exactly; not 1, so that a scale that is forgotten shows.
constexpr float kInputScale = 0.5F;
constexpr float kWeightScale = 0.25F;

/// How many rows of the output are compared at the most, each with as many columns as that leaves time for: a
/// square, so that few rows of both factors make many outputs.
std::int64_t rows_to_compare(std::int64_t k) {
  const double side = std::sqrt(kMostRecomputedElements / static_cast<double>(k));
  return std::clamp(static_cast<std::int64_t>(side), std::int64_t{1}, kMostOutputs);
}

ElementType element_type(const KernelCall& call) {
  if (call.variant == "bf16") {
    return ElementType::bf16;
  }
  if (call.variant == "fp8") {
    return ElementType::fp8_e4m3;
  }
  throw NotPrepared(Prepared::Outcome::unsupported,
                    fmt::format("no {} kernel; gemm runs bf16 and fp8", call.variant));
}

class GemmCall final : public PreparedCall {
 public:
  GemmCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : memory_(context.memory), seed_(seed) {
    shape_ = {.m = whole_axis(call, "m", 1),
              .n = whole_axis(call, "n", 1),
              .k = whole_axis(call, "k", 1),
              .type = element_type(call)};
    const bool is_small = shape_.type == ElementType::fp8_e4m3;
    input_fill_ = {.type = shape_.type, .seed = seed_of_input(seed, 0), .factor = 1, .small = is_small};
    weight_fill_ = {.type = shape_.type, .seed = seed_of_input(seed, 1), .factor = 1, .small = is_small};
    input_ = memory_.take({shape_.m, shape_.k}, shape_.type);
    weights_ = memory_.take({shape_.n, shape_.k}, shape_.type);
    output_ = memory_.take({shape_.m, shape_.n}, kernels::output_type(shape_));
    buffers_ = {.input = input_.data, .weights = weights_.data, .output = output_.data};
    if (is_small) {
      scales_ = static_cast<float*>(memory_.take_bytes(2 * sizeof(float)));
      buffers_.input_scale = scales_;
      buffers_.weight_scale = scales_ + 1;
    }
    take_workspaces();
    choose(context);
  }

  std::string kernel() const override {
    return is_gemv_ ? "gemv" : fmt::format("cublaslt_candidate_{}", candidate_);
  }

  void fill() override {
    memory_.fill(input_, input_fill_);
    memory_.fill(weights_, weight_fill_);
    memory_.poison(output_);
    if (scales_ != nullptr) {
      const float scales[] = {kInputScale, kWeightScale};
      memory_.upload(scales_, scales, sizeof scales);
    }
    memory_.zero(gemv_workspace_, gemv_workspace_bytes_);
  }

  void refill() override { memory_.poison(output_); }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return is_gemv_ ? launch_gemv(stream) : launch_cublas(candidate_, stream);
  }

  void check(Comparison& comparison) override;

 private:
  kernels::LaunchResult launch_gemv(kernels::Stream stream) {
    kernels::GemmBuffers buffers = buffers_;
    buffers.workspace = gemv_workspace_;
    return kernels::gemv(shape_, buffers, stream);
  }

  kernels::LaunchResult launch_cublas(int candidate, kernels::Stream stream) {
    kernels::GemmBuffers buffers = buffers_;
    buffers.workspace = cublas_workspace_;
    return kernels::gemm(*plan_, candidate, buffers, stream);
  }

  void take_workspaces() {
    cublas_workspace_ = memory_.take_bytes(kernels::kGemmWorkspaceBytes);
    may_be_gemv_ = shape_.m <= kernels::kGemvMostTokens &&
                   kernels::gemv_workspace_bytes(shape_, gemv_workspace_bytes_).ok();
    if (may_be_gemv_) {
      gemv_workspace_ = memory_.take_bytes(gemv_workspace_bytes_);
    }
  }

  void choose(RunnerContext& context);
  double seconds_of(Timer& timer, const Launch& launch);
  std::vector<std::vector<double>> rows_of(const kernels::RandomFill& fill,
                                           const std::vector<std::int64_t>& rows) const;

  CallMemory memory_;
  std::uint64_t seed_;
  kernels::GemmShape shape_;
  kernels::RandomFill input_fill_, weight_fill_;
  DeviceBuffer input_, weights_, output_;
  float* scales_ = nullptr;  // of the input, of the weights
  kernels::GemmBuffers buffers_;
  void* cublas_workspace_ = nullptr;
  void* gemv_workspace_ = nullptr;
  std::int64_t gemv_workspace_bytes_ = 0;
  kernels::GemmPlanPtr plan_;
  int candidate_ = -1;
  bool may_be_gemv_ = false;
  bool is_gemv_ = false;
};

/// One run out of a cold cache; below 0 where it cannot run. The run before it loads the kernel's code.
double GemmCall::seconds_of(Timer& timer, const Launch& launch) {
  constexpr double kCannotRun = -1;
  if (!launch(timer.stream()).ok()) {
    return kCannotRun;
  }
  check_cuda(cudaStreamSynchronize(timer.stream()), "running a candidate");
  // A difference of two times, of which the timer's own may come out larger.
  return std::max(0.0, timer.time(timer.capture(launch)).seconds);
}

void GemmCall::choose(RunnerContext& context) {
  fill();
  const kernels::LaunchResult planned = kernels::plan_gemm(*context.gemm_library, shape_, plan_);
  double seconds_of_cublas = -1;
  if (planned.ok()) {
    const auto seconds_of_candidate = [&](int candidate) {
      return seconds_of(*context.timer,
                        [&](kernels::Stream stream) { return launch_cublas(candidate, stream); });
    };
    candidate_ = kernels::fastest_candidate(kernels::candidates_of(*plan_), seconds_of_candidate);
    if (candidate_ >= 0 && !may_be_gemv_) {
      return;
    }
    if (candidate_ >= 0) {
      seconds_of_cublas = std::min(seconds_of_candidate(candidate_), seconds_of_candidate(candidate_));
    }
  }
  double seconds_of_gemv = -1;
  if (may_be_gemv_) {
    const auto once = [&] {
      return seconds_of(*context.timer, [&](kernels::Stream stream) { return launch_gemv(stream); });
    };
    seconds_of_gemv = std::min(once(), once());
  }
  is_gemv_ = seconds_of_gemv >= 0 && (seconds_of_cublas < 0 || seconds_of_gemv < seconds_of_cublas);
  if (!is_gemv_ && seconds_of_cublas < 0) {
    require_launched(planned);
    throw NotPrepared(Prepared::Outcome::unsupported, "gemm: no candidate of cuBLASLt runs on this GPU");
  }
}

std::vector<std::vector<double>> GemmCall::rows_of(const kernels::RandomFill& fill,
                                                   const std::vector<std::int64_t>& rows) const {
  std::vector<std::vector<double>> values;
  for (const std::int64_t row : rows) {
    std::vector<double>& of_row = values.emplace_back();
    for (std::int64_t i = 0; i < shape_.k; ++i) {
      of_row.push_back(exact_element(fill, row * shape_.k + i));
    }
  }
  return values;
}

void GemmCall::check(Comparison& comparison) {
  const std::vector<std::int64_t> rows = sampled_indices(shape_.m, rows_to_compare(shape_.k), seed_);
  const double elements = static_cast<double>(rows.size()) * static_cast<double>(shape_.k);
  const std::vector<std::int64_t> columns = sampled_indices(shape_.n, outputs_to_compare(elements), seed_);
  const auto inputs = rows_of(input_fill_, rows);
  const auto weights = rows_of(weight_fill_, columns);
  const double scale = scales_ == nullptr ? 1 : static_cast<double>(kInputScale) * kWeightScale;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::int64_t first = rows[r] * shape_.n;
    const std::vector<double> output = memory_.read(output_, first, shape_.n);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const kernels::DotProduct expected = kernels::gemm_reference(inputs[r], weights[c], scale);
      comparison.add(first + columns[c], output[static_cast<std::size_t>(columns[c])], expected.value,
                     kernels::gemm_tolerance(shape_, expected));
    }
  }
  memory_.check_finite(output_, comparison);
}

}  // namespace

std::unique_ptr<PreparedCall> prepare_gemm(RunnerContext& context, const KernelCall& call,
                                           std::uint64_t seed) {
  return std::make_unique<GemmCall>(context, call, seed);
}

}  // namespace inferometer
