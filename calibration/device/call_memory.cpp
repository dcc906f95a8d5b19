#include "calibration/device/call_memory.hpp"

#include <cstddef>
#include <cstring>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "calibration/device/cuda_check.cuh"
#include "calibration/device/not_prepared.hpp"

namespace inferometer {
namespace {

constexpr double kBytesPerGib = 1024.0 * 1024 * 1024;

}  // namespace

CallMemory::CallMemory(Arena& arena, kernels::Stream stream)
    : arena_(&arena),
      stream_(stream),
      nonfinite_(static_cast<kernels::NonfiniteCounts*>(take_bytes(sizeof(kernels::NonfiniteCounts)))) {
}

void CallMemory::refuse(double bytes) const {
  throw NotPrepared(Prepared::Outcome::out_of_memory,
                    fmt::format("a buffer of {:.1f} GiB on top of {:.1f} GiB does not fit into {:.1f} GiB",
                                bytes / kBytesPerGib, static_cast<double>(arena_->used()) / kBytesPerGib,
                                static_cast<double>(arena_->bytes()) / kBytesPerGib));
}

void* CallMemory::take_bytes(std::int64_t bytes) {
  void* const memory = arena_->take(bytes);
  if (memory == nullptr) {
    refuse(static_cast<double>(bytes));
  }
  return memory;
}

DeviceBuffer CallMemory::take(std::initializer_list<std::int64_t> sizes, kernels::ElementType type) {
  double count = 1;
  for (const std::int64_t size : sizes) {
    count *= static_cast<double>(size);
  }
  if (const double bytes = count * kernels::bytes_of(type); bytes > static_cast<double>(arena_->bytes())) {
    refuse(bytes);
  }
  DeviceBuffer buffer{.data = nullptr, .count = 1, .type = type};
  for (const std::int64_t size : sizes) {
    buffer.count *= size;
  }
  buffer.data = take_bytes(buffer.bytes());
  return buffer;
}

std::int32_t* CallMemory::take_int32(std::int64_t count) {
  return static_cast<std::int32_t*>(take_bytes(count * static_cast<std::int64_t>(sizeof(std::int32_t))));
}

void CallMemory::fill(const DeviceBuffer& buffer, const kernels::RandomFill& random) {
  kernels::RandomFill of_type = random;
  of_type.type = buffer.type;
  check_launch(kernels::fill_random(buffer.data, buffer.count, of_type, stream_), "filling a buffer");
}

void CallMemory::poison(const DeviceBuffer& buffer) {
  check_launch(kernels::fill_poison(buffer.data, buffer.bytes(), stream_), "poisoning a buffer");
}

void CallMemory::zero(void* data, std::int64_t bytes) {
  if (bytes == 0) {
    return;
  }
  check_cuda(cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), stream_), "clearing a buffer");
}

void CallMemory::fill_int32(std::int32_t* data, std::int64_t count, std::int32_t first, std::int32_t step) {
  check_launch(kernels::fill_int32(data, count, first, step, stream_), "filling a buffer");
}

void CallMemory::fill_permutation(std::int32_t* data, std::int64_t count, std::uint64_t seed) {
  check_launch(kernels::fill_permutation(data, count, seed, stream_), "filling a page table");
}

void CallMemory::upload(void* data, const void* from, std::int64_t bytes) {
  check_cuda(cudaMemcpyAsync(data, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream_),
             "writing a buffer");
  check_cuda(cudaStreamSynchronize(stream_), "writing a buffer");
}

void CallMemory::read_bytes(const void* data, std::int64_t bytes, void* to) {
  check_cuda(cudaMemcpyAsync(to, data, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream_),
             "reading a result");
  check_cuda(cudaStreamSynchronize(stream_), "reading a result");
}

std::vector<double> CallMemory::read(const DeviceBuffer& buffer, std::int64_t first, std::int64_t count) {
  const std::int64_t element_bytes = kernels::bytes_of(buffer.type);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * element_bytes));
  read_bytes(static_cast<const std::byte*>(buffer.data) + first * element_bytes, count * element_bytes,
             bytes.data());
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = 0;  // little-endian, as GPU and host are
    std::memcpy(&bits, bytes.data() + i * static_cast<std::size_t>(element_bytes),
                static_cast<std::size_t>(element_bytes));
    values[i] = kernels::value_of(bits, buffer.type);
  }
  return values;
}

void CallMemory::check_finite(const DeviceBuffer& buffer, Comparison& comparison, std::int64_t left_alone) {
  zero(nonfinite_, sizeof(kernels::NonfiniteCounts));
  check_launch(kernels::count_nonfinite(buffer.data, buffer.count, buffer.type, nonfinite_, stream_),
               "searching the result for NaN");
  kernels::NonfiniteCounts counts{};
  read_bytes(nonfinite_, sizeof counts, &counts);
  const auto poisoned = static_cast<unsigned long long>(left_alone);
  if (counts.nans < poisoned) {
    comparison.add_wrong(fmt::format("{} elements were written that should not be", poisoned - counts.nans));
  }
  comparison.add_nonfinite(counts.nans > poisoned ? counts.nans - poisoned : 0, counts.infinities);
}

}  // namespace inferometer
