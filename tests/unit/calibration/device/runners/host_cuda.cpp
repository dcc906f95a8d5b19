// What the runners use of CUDA and of the timer, in the host's memory and at once.

#include <cstring>

#include <cuda_runtime_api.h>

#include "calibration/device/not_prepared.hpp"
#include "calibration/device/timer.hpp"

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}

const char* cudaGetErrorString(cudaError_t) {
  return "";
}

const char* cudaGetErrorName(cudaError_t) {
  return "";
}

namespace inferometer {

struct Timer::State {
  int captured = 0;
};

Timer::Timer(int, std::int64_t) : state_(std::make_unique<State>()) {
}

Timer::~Timer() = default;

kernels::Stream Timer::stream() const {
  return nullptr;
}

Graph Timer::capture(const Launch& launch) {
  require_launched(launch(nullptr));
  ++state_->captured;
  return nullptr;
}

/// What is captured first takes longest.
TimedRun Timer::time(const Graph&) {
  return {.seconds = 1.0 / state_->captured, .sm_mhz = 0};
}

void DeleteGraph::operator()(CUgraphExec_st*) const {
}

void require_launched(const kernels::LaunchResult& result) {
  if (!result.ok()) {
    throw NotPrepared(Prepared::Outcome::unsupported, result.reason);
  }
}

}  // namespace inferometer
