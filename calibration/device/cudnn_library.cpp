#include "calibration/device/cudnn_library.hpp"

#include <array>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

namespace inferometer {
namespace {

// Attention of 9.10.0 and 9.10.1 is known to be wrong; before, causal masks of sequences with a past are for
// multiples of 64 tokens only.
constexpr std::size_t kLeastVersion = 91002;

std::string version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

template <class Function>
void find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw CudnnError(fmt::format("cuDNN is another one than expected: it has no {}", name));
  }
}

CudnnFunctions load(const char* name) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw CudnnError(fmt::format("cuDNN 9 is not installed, or not where the loader looks: {}",
                                 why != nullptr ? why : name));
  }
  CudnnFunctions functions;
  find(library, functions.version, "cudnnGetVersion");
  find(library, functions.error_string, "cudnnGetErrorString");
  find(library, functions.last_error, "cudnnGetLastErrorString");
  find(library, functions.create, "cudnnCreate");
  find(library, functions.destroy, "cudnnDestroy");
  find(library, functions.set_stream, "cudnnSetStream");
  find(library, functions.create_descriptor, "cudnnBackendCreateDescriptor");
  find(library, functions.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  find(library, functions.finalize, "cudnnBackendFinalize");
  find(library, functions.set_attribute, "cudnnBackendSetAttribute");
  find(library, functions.get_attribute, "cudnnBackendGetAttribute");
  find(library, functions.execute, "cudnnBackendExecute");
  if (functions.version() < kLeastVersion) {
    throw CudnnError(fmt::format("cuDNN is {}; its attention is measured from {} on",
                                 version_text(functions.version()), version_text(kLeastVersion)));
  }
  return functions;
}

}  // namespace

void CudnnFunctions::require(cudnnStatus_t status, const char* doing) const {
  if (status == CUDNN_STATUS_SUCCESS) {
    return;
  }
  std::array<char, 512> details{};
  last_error(details.data(), details.size());
  // The sentence goes into a record: one line.
  std::string text = details.data();
  for (char& character : text) {
    character = character == '\n' ? ' ' : character;
  }
  throw CudnnError(
      fmt::format("cuDNN, {}: {}{}", doing, error_string(status), text.empty() ? "" : " (" + text + ")"));
}

CudnnDescriptor::CudnnDescriptor(const CudnnFunctions& functions, cudnnBackendDescriptorType_t type)
    : functions_(&functions) {
  functions.require(functions.create_descriptor(type, &raw_), "creating a descriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (raw_ != nullptr) {
    functions_->destroy_descriptor(raw_);
  }
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : functions_(other.functions_), raw_(std::exchange(other.raw_, nullptr)) {
}

void CudnnDescriptor::set_array(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                std::int64_t count, const void* values) {
  functions_->require(functions_->set_attribute(raw_, name, type, count, values), "setting an attribute");
}

void CudnnDescriptor::finish(const char* doing) {
  functions_->require(functions_->finalize(raw_), doing);
}

std::int64_t CudnnDescriptor::integer(cudnnBackendAttributeName_t name) const {
  std::int64_t value = 0;
  std::int64_t count = 0;
  functions_->require(functions_->get_attribute(raw_, name, CUDNN_TYPE_INT64, 1, &count, &value),
                      "reading an attribute");
  return value;
}

Cudnn::Cudnn(const char* gpu, const char* library) : functions_(load(library)) {
  if (gpu == nullptr) {
    functions_.require(functions_.create(&handle_), "starting");
    return;
  }
  CudnnDescriptor described(functions_, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  described.set_array(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                      static_cast<std::int64_t>(std::strlen(gpu)) + 1, gpu);
  described.finish("reading the description of a GPU");
  described_.push_back(std::move(described));
}

Cudnn::~Cudnn() {
  if (handle_ != nullptr) {
    functions_.destroy(handle_);
  }
}

void Cudnn::set_gpu_of_graph(CudnnDescriptor& graph) const {
  if (handle_ != nullptr) {
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle_);
  }
}

void Cudnn::set_gpu(CudnnDescriptor& descriptor, cudnnBackendAttributeName_t name) const {
  if (!described_.empty()) {
    descriptor.set_descriptor(name, described_.front().raw());
  }
}

std::shared_ptr<Cudnn> open_cudnn() {
  return std::make_shared<Cudnn>(nullptr);
}

std::string cudnn_version(const Cudnn& cudnn) {
  return version_text(cudnn.functions().version());
}

}  // namespace inferometer
