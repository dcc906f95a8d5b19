#include <algorithm>
#include <cmath>

#include "kernels/common/divide_up.hpp"
#include "kernels/common/element.cuh"
#include "kernels/common/fill.hpp"
#include "kernels/common/launch_check.cuh"
#include "kernels/common/permutation.hpp"

namespace inferometer::kernels {
namespace {

// ---- kernels: grids of at most kMostBlocks stride over the buffer ----

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 4096;  // several waves of any GPU

unsigned blocks_for(std::int64_t items) {
  return static_cast<unsigned>(std::min(divide_up<std::int64_t>(items, kThreads), kMostBlocks));
}

__device__ std::int64_t first_item() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

__device__ std::int64_t stride() {
  return static_cast<std::int64_t>(gridDim.x) * kThreads;
}

/// One item is a vector of 16 bytes; of the last one only what the buffer has is written.
template <class Element>
__global__ void fill_random_kernel(Element* buffer, std::int64_t count, std::uint64_t seed, float factor,
                                   bool small) {
  using Vector = Vector16<Element>;
  for (std::int64_t start = first_item() * Vector::kCount; start < count;
       start += stride() * Vector::kCount) {
    Vector vector;
#pragma unroll
    for (int lane = 0; lane < Vector::kCount; ++lane) {
      const auto index = static_cast<std::uint64_t>(start + lane);
      const float element = small ? random_small_element(seed, index) : random_element(seed, index);
      vector.elements[lane] = from_float<Element>(factor * element);
    }
    if (start + Vector::kCount <= count) {
      *reinterpret_cast<Vector*>(buffer + start) = vector;
    } else {
#pragma unroll
      for (int lane = 0; lane < Vector::kCount; ++lane) {
        if (start + lane < count) {
          buffer[start + lane] = vector.elements[lane];
        }
      }
    }
  }
}

__global__ void fill_int32_kernel(std::int32_t* buffer, std::int64_t count, std::int32_t first,
                                  std::int32_t step) {
  for (std::int64_t item = first_item(); item < count; item += stride()) {
    buffer[item] = first + static_cast<std::int32_t>(item) * step;
  }
}

__global__ void fill_permutation_kernel(std::int32_t* buffer, std::int64_t count, std::uint64_t seed) {
  for (std::int64_t item = first_item(); item < count; item += stride()) {
    buffer[item] = static_cast<std::int32_t>(permuted(seed, item, count));
  }
}

template <class Element>
__global__ void count_nonfinite_kernel(const Element* buffer, std::int64_t count, NonfiniteCounts* counts) {
  unsigned nans = 0;
  unsigned infinities = 0;
  for (std::int64_t item = first_item(); item < count; item += stride()) {
    const float element = as_float(buffer[item]);
    nans += isnan(element) ? 1 : 0;
    infinities += isinf(element) ? 1 : 0;
  }
  if (nans > 0) {
    atomicAdd(&counts->nans, static_cast<unsigned long long>(nans));
  }
  if (infinities > 0) {
    atomicAdd(&counts->infinities, static_cast<unsigned long long>(infinities));
  }
}

bool is_aligned(const void* buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer) % 16 == 0;
}

}  // namespace

// ---- launchers ----

LaunchResult fill_random(void* buffer, std::int64_t count, const RandomFill& fill, Stream stream) {
  int exponent = 0;
  if (count < 0 || !is_aligned(buffer) || std::frexp(fill.factor, &exponent) != 0.5f) {
    return {KernelStatus::unsupported, "fill: a 16-byte aligned buffer and a power of two as factor"};
  }
  if (count == 0) {
    return {};
  }
  dispatch(fill.type, [&](auto element) {
    using Element = decltype(element);
    fill_random_kernel<<<blocks_for(divide_up<std::int64_t>(count, Vector16<Element>::kCount)), kThreads, 0,
                         stream>>>(static_cast<Element*>(buffer), count, fill.seed, fill.factor, fill.small);
  });
  return launched();
}

LaunchResult fill_poison(void* buffer, std::int64_t bytes, Stream stream) {
  if (bytes < 0) {
    return {KernelStatus::unsupported, "fill: a size below zero"};
  }
  return result_of(cudaMemsetAsync(buffer, 0xff, static_cast<std::size_t>(bytes), stream));
}

LaunchResult fill_int32(std::int32_t* buffer, std::int64_t count, std::int32_t first, std::int32_t step,
                        Stream stream) {
  if (count < 0 || count > INT32_MAX) {
    return {KernelStatus::unsupported, "fill: 0 to 2^31 - 1 integers"};
  }
  if (count == 0) {
    return {};
  }
  fill_int32_kernel<<<blocks_for(count), kThreads, 0, stream>>>(buffer, count, first, step);
  return launched();
}

LaunchResult fill_permutation(std::int32_t* buffer, std::int64_t count, std::uint64_t seed, Stream stream) {
  if (count < 0 || count > INT32_MAX) {
    return {KernelStatus::unsupported, "fill: a permutation of 0 to 2^31 - 1 numbers"};
  }
  if (count == 0) {
    return {};
  }
  fill_permutation_kernel<<<blocks_for(count), kThreads, 0, stream>>>(buffer, count, seed);
  return launched();
}

LaunchResult count_nonfinite(const void* buffer, std::int64_t count, ElementType type,
                             NonfiniteCounts* counts, Stream stream) {
  if (count < 0) {
    return {KernelStatus::unsupported, "count: a size below zero"};
  }
  if (count == 0) {
    return {};
  }
  dispatch(type, [&](auto element) {
    using Element = decltype(element);
    count_nonfinite_kernel<<<blocks_for(count), kThreads, 0, stream>>>(static_cast<const Element*>(buffer),
                                                                       count, counts);
  });
  return launched();
}

}  // namespace inferometer::kernels
