#include "tests/unit/calibration/device/host_gpu/host_cuda.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "calibration/device/timer_kernels.hpp"

namespace {

using inferometer::testing::HostGpus;

struct Task {
  std::string name;
  std::function<void()> work;
};

HostGpus state;
int current_device = 0;
bool is_capturing = false;
std::vector<Task> captured;

void note(const std::string& what) {
  if (state.is_logging) {
    state.log.push_back(what);
  }
}

void run(const Task& task) {
  note(task.name);
  task.work();
  const auto known = state.duration_ns.find(task.name);
  state.now_ns += known == state.duration_ns.end() ? HostGpus::kOtherKernelNs : known->second;
}

}  // namespace

// ---- CUDA's objects, which its headers leave open ----

struct CUstream_st {};
struct CUevent_st {
  std::int64_t at_ns = 0;
};
struct CUgraph_st {
  std::vector<Task> tasks;
};
struct CUgraphExec_st {
  std::vector<Task> tasks;
};

namespace inferometer::testing {

HostGpus& host_gpus() {
  return state;
}

kernels::LaunchResult queue(const std::string& name, std::function<void()> work) {
  Task task{name, std::move(work)};
  if (is_capturing) {
    captured.push_back(std::move(task));
  } else {
    run(task);
  }
  return {};
}

}  // namespace inferometer::testing

// ---- the runtime ----

cudaError_t cudaDriverGetVersion(int* version) {
  *version = state.driver_version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = state.gpus;
  return state.driver_version < 12000 ? cudaErrorInsufficientDriver
         : state.gpus == 0            ? cudaErrorNoDevice
                                      : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "NVIDIA H100 80GB HBM3");
  std::memset(properties->uuid.bytes, 7, sizeof properties->uuid.bytes);
  properties->major = state.major;
  properties->multiProcessorCount = 132;
  properties->sharedMemPerMultiprocessor = 228 * 1024;
  properties->l2CacheSize = 50 << 20;
  properties->totalGlobalMem = std::size_t{80} << 30;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrClockRate             ? 1'980'000
           : attribute == cudaDevAttrL2CacheSize         ? 1 << 20
           : attribute == cudaDevAttrMultiProcessorCount ? 132
                                                         : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "ffff:ff:%02x.0", device);
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return cudaErrorPeerAccessAlreadyEnabled;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = static_cast<std::size_t>(state.free_bytes);
  *total = std::size_t{80} << 30;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (static_cast<std::int64_t>(bytes) > state.largest_piece) {
    return cudaErrorMemoryAllocation;
  }
  constexpr std::size_t kAlignment = 256;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t) {
  inferometer::testing::queue("peer_copy", [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return std::exchange(state.next_error, cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  note("event");
  event->at_ns = state.now_ns;
  state.now_ns += HostGpus::kEventNs;
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  constexpr double kMillisecondsPerNs = 1e-6;
  *milliseconds = static_cast<float>(kMillisecondsPerNs * static_cast<double>(end->at_ns - begin->at_ns));
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  is_capturing = true;
  captured.clear();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  is_capturing = false;
  *graph = new CUgraph_st{std::move(captured)};
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CUgraphExec_st{graph->tasks};
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  state.now_ns += HostGpus::kGraphStartNs;
  std::for_each(graph->tasks.begin(), graph->tasks.end(), run);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  return cudaSuccess;
}

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "another error";
}

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorOther";
}

// ---- the timer's kernels ----

namespace inferometer {

using testing::host_gpus;
using testing::queue;

kernels::LaunchResult launch_empty(int count, kernels::Stream) {
  host_gpus().duration_ns["empty"] = HostGpus::kEmptyKernelNs;
  for (int i = 0; i < count; ++i) {
    queue("empty", [] {});
  }
  return {};
}

kernels::LaunchResult launch_stamps(ClockStamp* stamps, int sm_count, kernels::Stream) {
  return queue("stamps", [=] {
    for (int sm = 0; sm < sm_count; ++sm) {
      const std::int64_t now = host_gpus().now_ns;
      stamps[sm] = {static_cast<std::int64_t>(static_cast<double>(now) * host_gpus().clock_mhz / 1000), now};
    }
  });
}

kernels::LaunchResult launch_l2_flush(void* buffer, std::int64_t bytes, int, kernels::Stream) {
  host_gpus().duration_ns["l2_flush"] = HostGpus::kFlushNs;
  return queue("l2_flush", [=] {
    // The whole buffer has to be there.
    static_cast<char*>(buffer)[0] = 0;
    static_cast<char*>(buffer)[bytes - 1] = 0;
  });
}

kernels::LaunchResult launch_hold(std::int64_t nanoseconds, kernels::Stream) {
  return queue("hold", [=] { host_gpus().now_ns += nanoseconds; });
}

}  // namespace inferometer
