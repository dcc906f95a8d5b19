#include "calibration/device/nccl.hpp"

#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "calibration/measure/kernel_device.hpp"

namespace inferometer {
namespace {

// What is used of NCCL, as its API reference declares it.
using Result = int;
using Communicator = void*;
constexpr Result kSuccess = 0;
constexpr int kBf16 = 9;  // ncclBfloat16
constexpr int kSum = 0;   // ncclSum

}  // namespace

struct Nccl::Library {
  void* handle = nullptr;
  Result (*get_version)(int*) = nullptr;
  const char* (*error_string)(Result) = nullptr;
  Result (*init_all)(Communicator*, int, const int*) = nullptr;
  Result (*destroy)(Communicator) = nullptr;
  Result (*group_start)() = nullptr;
  Result (*group_end)() = nullptr;
  Result (*all_reduce)(const void*, void*, std::size_t, int, int, Communicator, kernels::Stream) = nullptr;
  Result (*all_gather)(const void*, void*, std::size_t, int, Communicator, kernels::Stream) = nullptr;

  template <class Function>
  bool find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }

  bool load() {
    handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    return handle != nullptr && find(get_version, "ncclGetVersion") &&
           find(error_string, "ncclGetErrorString") && find(init_all, "ncclCommInitAll") &&
           find(destroy, "ncclCommDestroy") && find(group_start, "ncclGroupStart") &&
           find(group_end, "ncclGroupEnd") && find(all_reduce, "ncclAllReduce") &&
           find(all_gather, "ncclAllGather");
  }

  void require(Result result, const char* doing) const {
    if (result != kSuccess) {
      throw DeviceLost(fmt::format("NCCL, {}: {}", doing, error_string(result)));
    }
  }
};

std::unique_ptr<Nccl> Nccl::open() {
  auto library = std::make_unique<Library>();
  return library->load() ? std::unique_ptr<Nccl>(new Nccl(std::move(library))) : nullptr;
}

Nccl::Nccl(std::unique_ptr<Library> library) : library_(std::move(library)) {
}

// The library stays loaded: its threads may outlive the last communicator.
Nccl::~Nccl() {
  disconnect();
}

void Nccl::disconnect() {
  for (void* const communicator : communicators_) {
    library_->destroy(communicator);
  }
  communicators_.clear();
}

std::string Nccl::version() const {
  int version = 0;
  library_->require(library_->get_version(&version), "asking for its version");
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

void Nccl::connect(const std::vector<int>& devices) {
  disconnect();
  std::vector<void*> communicators(devices.size());
  library_->require(
      library_->init_all(communicators.data(), static_cast<int>(devices.size()), devices.data()),
      "connecting the GPUs");
  communicators_ = std::move(communicators);
}

void Nccl::start_group() {
  library_->require(library_->group_start(), "beginning a group");
}

void Nccl::end_group() {
  library_->require(library_->group_end(), "starting a collective");
}

void Nccl::all_reduce(int rank, const void* input, void* output, std::size_t count, kernels::Stream stream) {
  library_->require(library_->all_reduce(input, output, count, kBf16, kSum,
                                         communicators_[static_cast<std::size_t>(rank)], stream),
                    "all-reduce");
}

void Nccl::all_gather(int rank, const void* input, void* output, std::size_t count, kernels::Stream stream) {
  library_->require(library_->all_gather(input, output, count, kBf16,
                                         communicators_[static_cast<std::size_t>(rank)], stream),
                    "all-gather");
}

}  // namespace inferometer
