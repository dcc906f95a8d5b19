#pragma once

// cuDNN's backend graph API (https://docs.nvidia.com/deeplearning/cudnn/backend/latest/), libcudnn.so.9,
// loaded when it is there. Who uses it: cudnn_attention.cpp. Only where cuDNN's headers were found.

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <cudnn.h>

#include "calibration/device/cudnn_provider.hpp"

namespace inferometer {

/// What cuDNN says when it does not do something.
class CudnnError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The functions of the library, which stays loaded: what it compiled may outlive us.
struct CudnnFunctions {
  std::size_t (*version)() = nullptr;
  const char* (*error_string)(cudnnStatus_t) = nullptr;
  void (*last_error)(char*, std::size_t) = nullptr;
  cudnnStatus_t (*create)(cudnnHandle_t*) = nullptr;
  cudnnStatus_t (*destroy)(cudnnHandle_t) = nullptr;
  cudnnStatus_t (*set_stream)(cudnnHandle_t, cudaStream_t) = nullptr;
  cudnnStatus_t (*create_descriptor)(cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t*) = nullptr;
  cudnnStatus_t (*destroy_descriptor)(cudnnBackendDescriptor_t) = nullptr;
  cudnnStatus_t (*finalize)(cudnnBackendDescriptor_t) = nullptr;
  cudnnStatus_t (*set_attribute)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                 cudnnBackendAttributeType_t, std::int64_t, const void*) = nullptr;
  cudnnStatus_t (*get_attribute)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                 cudnnBackendAttributeType_t, std::int64_t, std::int64_t*, void*) = nullptr;
  cudnnStatus_t (*execute)(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t) = nullptr;

  /// Throws CudnnError: "cuDNN, making a plan: CUDNN_STATUS_NOT_SUPPORTED (head_dim ...)".
  void require(cudnnStatus_t status, const char* doing) const;
};

inline constexpr const char* kCudnnLibrary = "libcudnn.so.9";

/// One of cuDNN's descriptors: attributes are set, then it is finished and only read. All functions throw
/// CudnnError.
class CudnnDescriptor {
 public:
  CudnnDescriptor(const CudnnFunctions& functions, cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;

  [[nodiscard]] cudnnBackendDescriptor_t raw() const { return raw_; }

  void set_array(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                 const void* values);
  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    set_array(name, type, 1, &value);
  }
  void set_sizes(cudnnBackendAttributeName_t name, std::span<const std::int64_t> sizes) {
    set_array(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(sizes.size()), sizes.data());
  }
  void set_descriptor(cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t other) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other);
  }
  void finish(const char* doing);

  [[nodiscard]] std::int64_t integer(cudnnBackendAttributeName_t name) const;

 private:
  const CudnnFunctions* functions_;
  cudnnBackendDescriptor_t raw_ = nullptr;
};

/// cuDNN for one GPU: that of the current CUDA context, or one that is only described.
class Cudnn {
 public:
  /// `gpu`: nullptr for the current one; or what CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION reads, and plans
  /// can be made, not run. Throws CudnnError.
  explicit Cudnn(const char* gpu, const char* library = kCudnnLibrary);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  [[nodiscard]] const CudnnFunctions& functions() const { return functions_; }
  [[nodiscard]] cudnnHandle_t handle() const { return handle_; }

  /// Tells a graph which GPU it is for.
  void set_gpu_of_graph(CudnnDescriptor& graph) const;
  /// The same of heuristics and plans, by their attribute for described GPUs.
  void set_gpu(CudnnDescriptor& descriptor, cudnnBackendAttributeName_t name) const;

 private:
  CudnnFunctions functions_;
  cudnnHandle_t handle_ = nullptr;          // of the current GPU
  std::vector<CudnnDescriptor> described_;  // one, where the GPU is only described
};

}  // namespace inferometer
