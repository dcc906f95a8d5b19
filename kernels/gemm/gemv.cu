#include <type_traits>

#include "kernels/common/element.cuh"
#include "kernels/common/launch_check.cuh"
#include "kernels/gemm/gemv.hpp"
#include "kernels/gemm/gemv_fragments.hpp"

namespace inferometer::kernels {
namespace {

// ---- products ----

struct Float4 {
  float sums[4];
};

template <class Element>
__device__ __forceinline__ void multiply_add(Float4& sum, const MmaOperands& operands) {
  float* c = sum.sums;
  const std::uint32_t* a = operands.a;
  const std::uint32_t* b = operands.b;
  if constexpr (std::is_same_v<Element, Bf16>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

/// One step of a warp: 16 rows of weights by 8 tokens a tile by 64 bytes of k.
template <class Element, int kTokenTiles>
__device__ __forceinline__ void multiply_step(Float4 (&sums)[kTokenTiles], const Bits16& low_row,
                                              const Bits16& high_row, const Bits16 (&tokens)[kTokenTiles]) {
  constexpr bool kIsWide = sizeof(Element) == 2;
#pragma unroll
  for (int part = 0; part < (kIsWide ? kMmasOfWideStep : kMmasOfNarrowStep); ++part) {
#pragma unroll
    for (int tile = 0; tile < kTokenTiles; ++tile) {
      multiply_add<Element>(sums[tile], kIsWide ? wide_operands(low_row, high_row, tokens[tile], part)
                                                : narrow_operands(low_row, high_row, tokens[tile], part));
    }
  }
}

// ---- loads ----

/// Start of a row of a matrix; of the last row for one beyond, whose products nobody looks at.
__device__ __forceinline__ const char* row_of(const void* matrix, std::int64_t row, std::int64_t rows,
                                              std::int64_t row_bytes) {
  return static_cast<const char*>(matrix) + min(row, rows - 1) * row_bytes;
}

/// Of what is read once: not kept in the first-level cache, where the tokens shall stay. Zeros if not wanted:
/// a predicated load, as branches would keep the loads of a turn apart.
__device__ __forceinline__ Bits16 load_once(const char* address, bool is_wanted) {
  Bits16 bits;
  asm volatile(
      "{\n"
      ".reg .pred wanted;\n"
      "setp.ne.s32 wanted, %5, 0;\n"
      "mov.b32 %0, 0;\n"
      "mov.b32 %1, 0;\n"
      "mov.b32 %2, 0;\n"
      "mov.b32 %3, 0;\n"
      "@wanted ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];\n"
      "}\n"
      : "=&r"(bits.words[0]), "=&r"(bits.words[1]), "=&r"(bits.words[2]), "=&r"(bits.words[3])
      : "l"(address), "r"(static_cast<int>(is_wanted)));
  return bits;
}

__device__ __forceinline__ Bits16 load_kept(const char* address, bool is_wanted) {
  const uint4 bits = is_wanted ? __ldg(reinterpret_cast<const uint4*>(address)) : uint4{};
  return {{bits.x, bits.y, bits.z, bits.w}};
}

// ---- kernel ----

struct GemvArguments {
  int m;
  std::int64_t n;
  std::int64_t row_bytes;  // of weights and input
  const void* input;
  const void* weights;
  void* output;
  const float* input_scale;
  const float* weight_scale;
  unsigned* counters;  // one a group of rows, zero
  float* sums;         // (splits, m, row_blocks * kGemvRows)
  int steps;
  int steps_of_split;
};

// Tokens of the sums in shared memory lie so far apart that the lanes of a fragment meet 32 banks: 2 tokens
// of distance are 8 banks.
constexpr int kRowsAndPadding = kGemvRows + 4;

template <int kTokenTiles>
using SharedSums = float[kGemvTurnWarps][8 * kTokenTiles][kRowsAndPadding];

/// The sums of this warp's rows over its turns. The weights of a step are replaced by those of the next turn
/// as soon as they are used, so that nearly a turn's loads are in flight at any time.
template <class Element, int kTokenTiles>
__device__ __forceinline__ void multiply_range(const GemvArguments& arguments, Float4 (&sums)[kTokenTiles]) {
  constexpr int kStepBytes = 64;
  constexpr int kTurnBytes = kGemvUnroll * kStepBytes;
  constexpr int kStride = kGemvTurnWarps * kTurnBytes;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int group = lane / 4;
  const std::int64_t bytes = arguments.row_bytes;
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * kGemvRows + warp % kGemvRowWarps * 16 + group;
  const char* low_row = row_of(arguments.weights, row, arguments.n, bytes);
  const char* high_row = row_of(arguments.weights, row + 8, arguments.n, bytes);
  const char* token_rows[kTokenTiles];
#pragma unroll
  for (int tile = 0; tile < kTokenTiles; ++tile) {
    token_rows[tile] = row_of(arguments.input, tile * 8 + group, arguments.m, bytes);
  }
  const int first = static_cast<int>(blockIdx.y) * arguments.steps_of_split * kStepBytes;
  const int end = min(first + arguments.steps_of_split * kStepBytes, static_cast<int>(bytes));
  int place = first + warp / kGemvRowWarps * kTurnBytes + lane % 4 * 16;
  Bits16 low[kGemvUnroll];
  Bits16 high[kGemvUnroll];
#pragma unroll
  for (int part = 0; part < kGemvUnroll; ++part) {
    const int at = place + part * kStepBytes;
    low[part] = load_once(low_row + at, at < end);
    high[part] = load_once(high_row + at, at < end);
  }
  // The same number of turns for all lanes of a warp: the first lane's place decides.
#pragma unroll 1
  for (; place - lane % 4 * 16 < end; place += kStride) {
#pragma unroll
    for (int part = 0; part < kGemvUnroll; ++part) {
      const int at = place + part * kStepBytes;
      Bits16 tokens[kTokenTiles];
#pragma unroll
      for (int tile = 0; tile < kTokenTiles; ++tile) {
        tokens[tile] = load_kept(token_rows[tile] + at, at < end);
      }
      multiply_step<Element>(sums, low[part], high[part], tokens);
      const int next = at + kStride;
      low[part] = load_once(low_row + next, next < end);
      high[part] = load_once(high_row + next, next < end);
    }
  }
}

template <int kTokenTiles>
__device__ __forceinline__ void share(const Float4 (&sums)[kTokenTiles], SharedSums<kTokenTiles>& shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int first_row = warp % kGemvRowWarps * 16;
#pragma unroll
  for (int tile = 0; tile < kTokenTiles; ++tile) {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const ResultPlace place = result_place(static_cast<int>(threadIdx.x % 32), part);
      shared[warp / kGemvRowWarps][tile * 8 + place.token][first_row + place.row] = sums[tile].sums[part];
    }
  }
  __syncthreads();
}

/// Whether this block is the last of its group of rows to arrive here; what the others wrote before is then
/// seen by all its threads.
__device__ bool is_last_to_arrive(unsigned* counter, unsigned blocks) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(counter, 1u) == blocks - 1;
    if (is_last) {
      *counter = 0;  // for the next call
    }
  }
  __syncthreads();
  __threadfence();
  return is_last;
}

template <class Element, int kTokenTiles>
__global__ void __launch_bounds__(kGemvThreads) gemv_kernel(const GemvArguments arguments) {
  using Output = std::conditional_t<std::is_same_v<Element, Fp16>, Fp16, Bf16>;
  __shared__ SharedSums<kTokenTiles> shared;
  Float4 sums[kTokenTiles] = {};
  multiply_range<Element>(arguments, sums);
  share<kTokenTiles>(sums, shared);

  float scale = 1;
  if constexpr (sizeof(Element) == 1) {
    scale = *arguments.input_scale * *arguments.weight_scale * (kE4m3OverFp16 * kE4m3OverFp16);
  }
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kGemvRows;
  const std::int64_t sums_of_token = static_cast<std::int64_t>(gridDim.x) * kGemvRows;
  const std::int64_t sums_of_split = sums_of_token * arguments.m;
  auto* output = static_cast<Output*>(arguments.output);
  const bool is_split = gridDim.y > 1;
#pragma unroll 1
  for (int item = static_cast<int>(threadIdx.x); item < arguments.m * kGemvRows; item += kGemvThreads) {
    const int token = item / kGemvRows;
    const int row = item % kGemvRows;
    const float sum = shared[0][token][row] + shared[1][token][row];
    if (is_split) {
      arguments.sums[blockIdx.y * sums_of_split + token * sums_of_token + first_row + row] = sum;
    } else if (first_row + row < arguments.n) {
      output[token * arguments.n + first_row + row] = from_float<Output>(sum * scale);
    }
  }
  if (!is_split || !is_last_to_arrive(arguments.counters + blockIdx.x, gridDim.y)) {
    return;
  }
#pragma unroll 1
  for (int item = static_cast<int>(threadIdx.x); item < arguments.m * kGemvRows; item += kGemvThreads) {
    const int token = item / kGemvRows;
    const int row = item % kGemvRows;
    const float* of_first = arguments.sums + token * sums_of_token + first_row + row;
    float sum = 0;
    for (unsigned split = 0; split < gridDim.y; ++split) {
      sum += __ldcg(of_first + split * sums_of_split);
    }
    if (first_row + row < arguments.n) {
      output[token * arguments.n + first_row + row] = from_float<Output>(sum * scale);
    }
  }
}

template <class Element>
void launch(const GemvArguments& arguments, const GemvPlan& plan, Stream stream) {
  const dim3 grid(static_cast<unsigned>(plan.row_blocks), static_cast<unsigned>(plan.splits));
  if (arguments.m <= 8) {
    gemv_kernel<Element, 1><<<grid, kGemvThreads, 0, stream>>>(arguments);
  } else {
    gemv_kernel<Element, 2><<<grid, kGemvThreads, 0, stream>>>(arguments);
  }
}

// ---- launcher ----

LaunchResult check(const GemmShape& shape) {
  const std::int64_t multiple = 16 / bytes_of(shape.type);
  if (shape.type == ElementType::fp32 || shape.m < 1 || shape.m > kGemvMostTokens || shape.n < 1 ||
      shape.n > INT32_MAX || shape.k < 1 || shape.k > (1 << 24) || shape.k % multiple != 0) {
    return {KernelStatus::unsupported,
            "gemv: bf16, fp16 or fp8; 1 to 16 tokens; k up to 2^24, a multiple of 8, in fp8 of 16"};
  }
  return {};
}

LaunchResult plan_on_this_gpu(const GemmShape& shape, GemvPlan& plan) {
  if (const LaunchResult checked = check(shape); !checked.ok()) {
    return checked;
  }
  int device = 0;
  int multiprocessors = 0;
  if (const LaunchResult result = result_of(cudaGetDevice(&device)); !result.ok()) {
    return result;
  }
  const LaunchResult result =
      result_of(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  if (result.ok()) {
    plan = plan_gemv(shape, multiprocessors);
  }
  return result;
}

}  // namespace

LaunchResult gemv_workspace_bytes(const GemmShape& shape, std::int64_t& bytes) {
  GemvPlan plan;
  const LaunchResult result = plan_on_this_gpu(shape, plan);
  if (result.ok()) {
    bytes = gemv_workspace_bytes(shape, plan);
  }
  return result;
}

LaunchResult gemv(const GemmShape& shape, const GemmBuffers& buffers, Stream stream) {
  GemvPlan plan;
  if (const LaunchResult result = plan_on_this_gpu(shape, plan); !result.ok()) {
    return result;
  }
  const std::int64_t counter_bytes = round_up<std::int64_t>(plan.row_blocks * 4, 16);
  auto* workspace = static_cast<char*>(buffers.workspace);
  if (plan.splits > 1 && workspace == nullptr) {
    return {KernelStatus::unsupported, "gemv: a workspace for this shape"};
  }
  const GemvArguments arguments{
      .m = static_cast<int>(shape.m),
      .n = shape.n,
      .row_bytes = shape.k * bytes_of(shape.type),
      .input = buffers.input,
      .weights = buffers.weights,
      .output = buffers.output,
      .input_scale = buffers.input_scale,
      .weight_scale = buffers.weight_scale,
      .counters = reinterpret_cast<unsigned*>(workspace),
      .sums = plan.splits > 1 ? reinterpret_cast<float*>(workspace + counter_bytes) : nullptr,
      .steps = plan.steps,
      .steps_of_split = plan.steps_of_split};
  switch (shape.type) {
    case ElementType::bf16:
      launch<Bf16>(arguments, plan, stream);
      break;
    case ElementType::fp16:
      launch<Fp16>(arguments, plan, stream);
      break;
    default:
      launch<E4m3>(arguments, plan, stream);
  }
  return launched();
}

}  // namespace inferometer::kernels
