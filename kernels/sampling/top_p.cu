#include "kernels/common/launch_check.cuh"
#include "kernels/sampling/top_p.hpp"

namespace inferometer::kernels {
namespace {

// ---- sums over a block ----

using Sum = unsigned long long;  // of at most 2^22 fixed weights: below 2^54

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kUnroll = 8;
constexpr int kBins = 2 * kThreads;

__device__ int lane() {
  return static_cast<int>(threadIdx.x % 32);
}

__device__ int warp() {
  return static_cast<int>(threadIdx.x / 32);
}

__device__ Sum sum_of_lanes_up_to_mine(Sum value) {
  for (int offset = 1; offset < 32; offset *= 2) {
    const Sum lower = __shfl_up_sync(0xffffffffu, value, offset);
    value += lane() >= offset ? lower : 0;
  }
  return value;
}

struct Shared {
  float warp_max[kWarps];
  Sum warp_sums[kWarps];
  unsigned low[kBins];   // of a bin's sum
  unsigned high[kBins];  // what 32 bits did not hold
  Sum total;
  Sum before;  // weight ahead of the bin or range that was found
  int found;
};

__device__ Sum sum_of_threads_up_to_mine(Sum value, Shared& shared) {
  const Sum in_warp = sum_of_lanes_up_to_mine(value);
  if (lane() == 31) {
    shared.warp_sums[warp()] = in_warp;
  }
  __syncthreads();
  Sum of_lower_warps = 0;
  for (int other = 0; other < warp(); ++other) {
    of_lower_warps += shared.warp_sums[other];
  }
  __syncthreads();
  return of_lower_warps + in_warp;
}

// ---- one row ----

struct Row {
  const float* logits;
  int vocab;
  float largest;
  float inverse_temperature;

  __device__ __forceinline__ float distance(float logit) const {
    return (largest - logit) * inverse_temperature;
  }
};

__device__ std::uint32_t weight_of(float distance) {
  return fixed_weight(expf(-distance));
}

/// use(logit, index is in [begin, end)) for begin + offset, begin + offset + stride, ... below end, several
/// loads at a time; the same number of calls for all offsets in [0, stride).
template <class Use>
__device__ __forceinline__ void for_each_logit(const float* logits, int begin, int end, int offset,
                                               int stride, const Use& use) {
  for (int start = begin; start < end; start += stride * kUnroll) {
    float loaded[kUnroll];
#pragma unroll
    for (int turn = 0; turn < kUnroll; ++turn) {
      const int index = start + turn * stride + offset;
      loaded[turn] = index < end ? __ldg(logits + index) : -INFINITY;
    }
#pragma unroll
    for (int turn = 0; turn < kUnroll; ++turn) {
      use(loaded[turn]);
    }
  }
}

__device__ float largest_of_row(const float* logits, int vocab, Shared& shared) {
  float largest = -INFINITY;
  for_each_logit(logits, 0, vocab, static_cast<int>(threadIdx.x), kThreads,
                 [&](float logit) { largest = fmaxf(largest, logit); });
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  }
  if (lane() == 0) {
    shared.warp_max[warp()] = largest;
  }
  __syncthreads();
  for (const float of_warp : shared.warp_max) {
    largest = fmaxf(largest, of_warp);
  }
  return largest;
}

// ---- the least likely token of the nucleus ----

/// Weight by bin, of the tokens whose keys begin with `prefix`: bits from `shift` on are the bin, those above
/// it the prefix.
__device__ void fill_bins(const Row& row, std::uint32_t prefix, int shift, int bits, Shared& shared) {
  for (int bin = static_cast<int>(threadIdx.x); bin < kBins; bin += kThreads) {
    shared.low[bin] = 0;
    shared.high[bin] = 0;
  }
  __syncthreads();
  for_each_logit(row.logits, 0, row.vocab, static_cast<int>(threadIdx.x), kThreads, [&](float logit) {
    const float distance = row.distance(logit);
    const std::uint32_t key = distance_key(distance);
    const std::uint32_t weight = weight_of(distance);
    // A shift by 32 is none at all: the first round has no prefix.
    const bool is_candidate = shift + bits == 32 || key >> (shift + bits) == prefix;
    if (is_candidate && weight > 0) {
      const std::uint32_t bin = (key >> shift) & ((1u << bits) - 1);
      const unsigned before = atomicAdd(&shared.low[bin], weight);
      if (before + weight < before) {
        atomicAdd(&shared.high[bin], 1u);
      }
    }
  });
  __syncthreads();
}

__device__ Sum bin_sum(const Shared& shared, int bin) {
  return Sum{shared.high[bin]} << 32 | shared.low[bin];
}

/// Sets shared.found to the first bin up to which the sum is at least `needed`, shared.before to the sum
/// ahead of it; of a first round also shared.total, from which it takes what is needed.
__device__ void find_bin(Shared& shared, Sum& needed, float top_p, bool is_first_round) {
  const int first = 2 * static_cast<int>(threadIdx.x);
  const Sum one = bin_sum(shared, first);
  const Sum two = bin_sum(shared, first + 1);
  const Sum up_to_two = sum_of_threads_up_to_mine(one + two, shared);
  if (is_first_round) {
    if (threadIdx.x == kThreads - 1) {
      shared.total = up_to_two;
    }
    __syncthreads();
    const double share = ceil(static_cast<double>(top_p) * static_cast<double>(shared.total));
    needed = min(max(static_cast<Sum>(share), Sum{1}), shared.total);
  }
  const Sum ahead = up_to_two - two - one;
  if (ahead < needed && needed <= up_to_two) {
    const bool is_one = needed <= ahead + one;
    shared.found = is_one ? first : first + 1;
    shared.before = is_one ? ahead : ahead + one;
  }
  __syncthreads();
  needed -= shared.before;
  __syncthreads();
}

/// Key of the least likely token of the nucleus: 11, 11 and 10 bits of it, one round each.
__device__ std::uint32_t threshold_key(const Row& row, float top_p, Shared& shared) {
  std::uint32_t key = 0;
  Sum needed = 0;
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    const int shift = round == 0 ? 21 : round == 1 ? 10 : 0;
    const int bits = round == 2 ? 10 : 11;
    fill_bins(row, key, shift, bits, shared);
    find_bin(shared, needed, top_p, round == 0);
    key = key << bits | static_cast<std::uint32_t>(shared.found);
  }
  return key;
}

// ---- the draw ----

struct Range {
  int begin;
  int end;
};

__device__ Sum weight_in_nucleus(const Row& row, float logit, std::uint32_t threshold) {
  const float distance = row.distance(logit);
  return distance_key(distance) <= threshold ? weight_of(distance) : 0;
}

/// The range is dealt to the warps, in order; the part in which the running sum passes the target is the new
/// range, and what lies ahead of it is taken off the target. The first time the target is a share of the sum.
__device__ void narrow(const Row& row, std::uint32_t threshold, double draw, bool is_first, Range& range,
                       Sum& target, Shared& shared) {
  const int part = (range.end - range.begin + kThreads - 1) / kThreads * 32;
  const int begin = min(range.begin + warp() * part, range.end);
  const int end = min(begin + part, range.end);
  Sum of_lane = 0;
  for_each_logit(row.logits, begin, end, lane(), 32,
                 [&](float logit) { of_lane += weight_in_nucleus(row, logit, threshold); });
  const Sum of_warp = sum_of_lanes_up_to_mine(of_lane);
  if (lane() == 31) {
    shared.warp_sums[warp()] = of_warp;
  }
  __syncthreads();
  const Sum of_mine = shared.warp_sums[lane()];
  const Sum up_to_mine = sum_of_lanes_up_to_mine(of_mine);
  if (is_first) {
    const Sum total = __shfl_sync(0xffffffffu, up_to_mine, 31);
    target = min(static_cast<Sum>(draw * static_cast<double>(total)), total - 1);
  }
  // Every warp finds the same.
  const unsigned passed = __ballot_sync(0xffffffffu, up_to_mine > target);
  const int found = __ffs(static_cast<int>(passed)) - 1;
  target -= __shfl_sync(0xffffffffu, up_to_mine - of_mine, found);
  range.begin = min(range.begin + found * part, range.end);
  range.end = min(range.begin + part, range.end);
  __syncthreads();
}

__device__ int drawn_token(const Row& row, std::uint32_t threshold, double draw, Shared& shared) {
  Range range{0, row.vocab};
  Sum target = 0;
  bool is_first = true;
  do {
    narrow(row, threshold, draw, is_first, range, target, shared);
    is_first = false;
  } while (range.end - range.begin > 32);
  const int index = range.begin + lane();
  const Sum weight = index < range.end ? weight_in_nucleus(row, row.logits[index], threshold) : 0;
  const unsigned passed = __ballot_sync(0xffffffffu, sum_of_lanes_up_to_mine(weight) > target);
  return range.begin + __ffs(static_cast<int>(passed)) - 1;
}

// ---- kernel ----

__global__ void __launch_bounds__(kThreads) top_p_kernel(const TopPShape shape, const TopPBuffers buffers) {
  __shared__ Shared shared;
  const int vocab = static_cast<int>(shape.vocab);
  const float* logits = buffers.logits + blockIdx.x * shape.vocab;
  const Row row{logits, vocab, largest_of_row(logits, vocab, shared), 1 / shape.temperature};
  const std::uint32_t threshold = shape.top_p < 1 ? threshold_key(row, shape.top_p, shared) : 0xffffffffu;
  const double draw = uniform_draw(shape.seed, shape.first_draw + blockIdx.x);
  const int token = drawn_token(row, threshold, draw, shared);
  if (threadIdx.x == 0) {
    buffers.tokens[blockIdx.x] = token;
  }
}

}  // namespace

// ---- launcher ----

LaunchResult top_p(const TopPShape& shape, const TopPBuffers& buffers, Stream stream) {
  if (shape.rows < 1 || shape.rows > INT32_MAX || shape.vocab < 1 || shape.vocab > (1 << 22)) {
    return {KernelStatus::unsupported, "top_p: rows >= 1, vocab from 1 to 2^22"};
  }
  if (!(shape.temperature >= kLeastTemperature) || !(shape.top_p > 0 && shape.top_p <= 1)) {
    return {KernelStatus::unsupported, "top_p: a temperature of 1e-6 or more and top_p in (0, 1]"};
  }
  top_p_kernel<<<static_cast<unsigned>(shape.rows), kThreads, 0, stream>>>(shape, buffers);
  return launched();
}

}  // namespace inferometer::kernels
