#pragma once

// Prefill attention as a graph of cuDNN: scores, scale, masks, softmax and the mean of values as operations
// of their own, which cuDNN knows for attention and runs as one kernel (cuDNN's developer guide, "Fused
// attention"). Its single operation SDPA_FWD can mask causally from 9.21 on only; the graph does from 9.10.2.
// Who uses it: cudnn_prefill_runner.cpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibration/device/attention_tensors.hpp"
#include "calibration/device/cudnn_library.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer {

/// bf16 arrays in the GPU's memory, as attention_tensors.hpp says, at multiples of 16 bytes.
struct CudnnAttentionBuffers {
  const void* query = nullptr;
  const void* keys = nullptr;
  const void* values = nullptr;
  void* output = nullptr;
  void* workspace = nullptr;  ///< nullptr where none is needed
};

class CudnnAttention {
 public:
  /// Makes the plan that cuDNN thinks fastest, which may take a second. Throws CudnnError where it has none.
  /// `cudnn` outlives this.
  CudnnAttention(const Cudnn& cudnn, const EqualPrefill& shape);
  CudnnAttention(const CudnnAttention&) = delete;
  CudnnAttention& operator=(const CudnnAttention&) = delete;

  [[nodiscard]] std::int64_t workspace_bytes() const;
  /// cuDNN's number of the engine that runs.
  [[nodiscard]] std::int64_t engine() const { return engine_; }

  /// Precondition: the plan is for the current GPU. Throws CudnnError where the arrays cannot be bound.
  kernels::LaunchResult launch(const CudnnAttentionBuffers& buffers, kernels::Stream stream);

 private:
  struct Tensor {
    std::int64_t id = 0;
    cudnnBackendDescriptor_t descriptor = nullptr;
  };
  /// Numbers that the graph reads from the host when it is launched.
  struct Scalars {
    float scale = 0, hidden_score = 0, left_edge = 0;
    std::int32_t keys = 0, tokens = 0;
  };
  struct Pointwise {
    cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
    cudnnDataType_t compute = CUDNN_DATA_FLOAT, output = CUDNN_DATA_FLOAT;
  };
  enum class Place { memory, host, nowhere };

  CudnnDescriptor& make(cudnnBackendDescriptorType_t type);
  Tensor tensor(const AttentionTensor& layout, cudnnDataType_t type, Place place);
  Tensor scalar(float& value);
  Tensor scalar(std::int32_t& value);
  Tensor scores(cudnnDataType_t type, std::int64_t columns);
  void add_product(const Tensor& left, const Tensor& right, const Tensor& product);
  Tensor add_pointwise(const Pointwise& operation, const Tensor& left, const Tensor* right);
  Tensor add_index(const Tensor& scores, std::int64_t axis);
  Tensor add_reduction(cudnnReduceTensorOp_t operation, const Tensor& scores);
  Tensor add_select(const Tensor& scores, const Tensor& otherwise, const Tensor& condition);
  Tensor add_masks(Tensor scores);
  Tensor add_softmax(const Tensor& scores);
  void add_attention();
  void make_plan();
  bool try_plans(const CudnnDescriptor& graph, cudnnBackendHeurMode_t mode);

  const Cudnn* cudnn_;
  EqualPrefill shape_;
  Scalars scalars_;
  std::int64_t tensors_ = 0;
  Tensor query_, keys_, values_, output_;
  std::vector<std::int64_t> scalar_ids_;
  std::vector<void*> scalar_values_;
  // Descriptors refer to each other: all are kept, and do not move.
  std::vector<std::unique_ptr<CudnnDescriptor>> kept_;
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::optional<CudnnDescriptor> plan_;
  std::int64_t engine_ = 0;
};

}  // namespace inferometer
