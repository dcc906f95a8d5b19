#include "calibration/device/gpu_group.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "calibration/device/cuda_check.cuh"
#include "calibration/device/cuda_owners.cuh"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/timer_kernels.hpp"

namespace inferometer {
namespace {

// In and out of the largest collective of an engine, 16384 tokens of width 16384, with room.
constexpr std::int64_t kPeerBytes = std::int64_t{2} << 30;

int gpus_of_machine() {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "counting GPUs");
  return count;
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, device), "asking for a GPU's attributes");
  return value;
}

DeviceMemory allocate_of_peer(std::int64_t bytes, int device) {
  DeviceMemory memory = allocate(bytes);
  if (!memory) {
    throw NotPrepared(Prepared::Outcome::out_of_memory,
                      fmt::format("GPU {} has no {} bytes free for its part of a collective", device, bytes));
  }
  return memory;
}

/// Lets a GPU write another's memory itself; without, copies go through the host.
void enable_access(int device, int peer) {
  int can_reach = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can_reach, device, peer), "asking whether GPUs reach each other");
  if (can_reach == 0) {
    return;
  }
  const CurrentGpu current(device);
  const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();  // taken off the runtime's record
    return;
  }
  check_cuda(error, "letting GPUs reach each other");
}

}  // namespace

CurrentGpu::CurrentGpu(int device) {
  check_cuda(cudaGetDevice(&before_), "asking for the current GPU");
  check_cuda(cudaSetDevice(device), "choosing a GPU");
}

CurrentGpu::~CurrentGpu() {
  cudaSetDevice(before_);
}

struct GpuGroup::Peer {
  explicit Peer(int number) : device(number) {
    const CurrentGpu current(device);
    stream = make_stream();
    memory = allocate_of_peer(kPeerBytes, device);
    arena = Arena(memory.get(), kPeerBytes);
    flush_bytes = kFlushedL2Sizes * attribute(cudaDevAttrL2CacheSize, device);
    flush_buffer = allocate_of_peer(flush_bytes, device);
  }

  int device = 0;
  OwnedStream stream;
  DeviceMemory memory;
  Arena arena;
  DeviceMemory flush_buffer;
  std::int64_t flush_bytes = 0;
};

GpuGroup::GpuGroup(int device, kernels::Stream stream, int gpus) {
  const int count = gpus_of_machine();
  if (gpus > count) {
    throw NotPrepared(Prepared::Outcome::unsupported,
                      fmt::format("takes {} GPUs; this machine shows {}", gpus, count));
  }
  ranks_.push_back({.device = device, .stream = stream});
  for (int i = 1; i < gpus; ++i) {
    Peer& peer = *peers_.emplace_back(std::make_unique<Peer>((device + i) % count));
    enable_access(device, peer.device);
    ranks_.push_back({.device = peer.device,
                      .stream = peer.stream.get(),
                      .arena = &peer.arena,
                      .flush_buffer = peer.flush_buffer.get(),
                      .flush_bytes = peer.flush_bytes,
                      .sm_count = attribute(cudaDevAttrMultiProcessorCount, peer.device)});
  }
  nccl_ = Nccl::open();
  if (nccl_) {
    const CurrentGpu current(device);  // NCCL visits the others
    std::vector<int> devices;
    for (const Rank& rank : ranks_) {
      devices.push_back(rank.device);
    }
    nccl_->connect(devices);
  }
}

GpuGroup::~GpuGroup() = default;

Nccl& GpuGroup::nccl() {
  if (!nccl_) {
    throw NotPrepared(Prepared::Outcome::unsupported, "libnccl.so.2 is not there");
  }
  return *nccl_;
}

GpuGroup& GpuGroups::of(int gpus) {
  if (!last_ || last_->ranks().size() != static_cast<std::size_t>(gpus)) {
    last_.reset();
    last_ = std::make_unique<GpuGroup>(device_, stream_, gpus);
  }
  return *last_;
}

}  // namespace inferometer
