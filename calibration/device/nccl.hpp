#pragma once

// The collective operations of NCCL, libnccl.so.2, loaded when it is there. Who uses it: gpu_group.cpp.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/common/kernel_status.hpp"

namespace inferometer {

/// NCCL among the GPUs of one process: all calls of a group are queued before any of them begins. Elements
/// are bf16. All functions but open() throw DeviceLost.
class Nccl {
 public:
  /// nullptr where the library is not there or lacks a function.
  static std::unique_ptr<Nccl> open();
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  [[nodiscard]] std::string version() const;  ///< "2.28.9"

  /// Makes the GPUs ranks 0, 1, ... of a communicator, in place of the one before. Some seconds.
  void connect(const std::vector<int>& devices);

  void start_group();
  void end_group();
  /// Sums `count` elements of each rank into `output` of each.
  void all_reduce(int rank, const void* input, void* output, std::size_t count, kernels::Stream stream);
  /// `count` elements of each rank, one rank's after the other's.
  void all_gather(int rank, const void* input, void* output, std::size_t count, kernels::Stream stream);

 private:
  struct Library;
  explicit Nccl(std::unique_ptr<Library> library);
  void disconnect();
  std::unique_ptr<Library> library_;
  std::vector<void*> communicators_;  // by rank
};

}  // namespace inferometer
