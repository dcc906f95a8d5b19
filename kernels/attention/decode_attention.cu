#include "kernels/attention/decode_attention.hpp"
#include "kernels/attention/decode_warp.cuh"
#include "kernels/common/launch_check.cuh"

namespace inferometer::kernels {
namespace {

constexpr int kThreads = kDecodeWarps * 32;

struct Arguments {
  const std::uint16_t* query;
  const std::uint8_t* keys;
  const std::uint8_t* values;
  const std::int32_t* block_table;
  const std::int32_t* contexts;
  std::uint16_t* output;
  float* accumulators;       // (batch * heads, splits, head_dim)
  float2* states;            // (batch * heads, splits): maximum and sum
  std::int64_t query_heads;  // of the whole batch
  std::int64_t max_blocks;
  int heads;
  int kv_heads;
  int head_tiles;
  int window;
  SplitKvPlan plan;
  float score_scale;  // from a product of query and key to a score in base 2
  float value_scale;
  ElementType query_type;
};

__device__ std::uint32_t output_pair(float low, float high, ElementType type) {
  return type == ElementType::bf16 ? packed<ElementType::bf16>(low, high)
                                   : packed<ElementType::fp16>(low, high);
}

// ---- kernel: one block a split of a sequence, for up to 16 query heads of one KV head ----

/// What a block works on.
struct Task {
  int sequence;
  int kv_head;
  int split;
  std::int64_t first_head;  // counted over the batch
  int rows;                 // query heads
};

__device__ Task task_of(const Arguments& arguments) {
  const unsigned splits = static_cast<unsigned>(arguments.plan.splits);
  const unsigned tile = blockIdx.x / splits % static_cast<unsigned>(arguments.head_tiles);
  const unsigned kv_head_of_batch = blockIdx.x / splits / static_cast<unsigned>(arguments.head_tiles);
  const unsigned kv_heads = static_cast<unsigned>(arguments.kv_heads);
  const int group = arguments.heads / arguments.kv_heads;
  const int first_of_group = static_cast<int>(tile) * kDecodeRows;
  return {.sequence = static_cast<int>(kv_head_of_batch / kv_heads),
          .kv_head = static_cast<int>(kv_head_of_batch % kv_heads),
          .split = static_cast<int>(blockIdx.x % splits),
          .first_head = static_cast<std::int64_t>(kv_head_of_batch) * group + first_of_group,
          .rows = min(group - first_of_group, kDecodeRows)};
}

/// The softmax states of a block's warps, and what becomes of them.
struct WarpStates {
  float max[kDecodeWarps][kDecodeRows];
  float sum[kDecodeWarps][kDecodeRows];
  float weight[kDecodeWarps][kDecodeRows];  // of a warp's accumulator in the block's
  SoftmaxState<float> of_block[kDecodeRows];
};

/// Called by all threads, when each warp has stored its states and accumulator.
__device__ void merge_states(WarpStates& states) {
  __syncthreads();
  if (threadIdx.x < kDecodeRows) {
    SoftmaxState<float> all;
    for (int warp = 0; warp < kDecodeWarps; ++warp) {
      all = merged(all, {states.max[warp][threadIdx.x], states.sum[warp][threadIdx.x]});
    }
    for (int warp = 0; warp < kDecodeWarps; ++warp) {
      states.weight[warp][threadIdx.x] = rescale_factor(states.max[warp][threadIdx.x], all.max);
    }
    states.of_block[threadIdx.x] = all;
  }
  __syncthreads();
}

/// The block's result: to the output where it is the only split, else to the workspace. Each thread adds up
/// four columns of a row at a time. `accumulators`: of warp 0; the others' are `stride` floats further each.
template <int kHeadDim>
__device__ void write_result(const Arguments& arguments, const Task& task, const WarpStates& states,
                             const float* accumulators, int stride) {
  constexpr int kGroups = kHeadDim / 4;
  for (int item = static_cast<int>(threadIdx.x); item < task.rows * kGroups; item += kThreads) {
    const int row = item / kGroups;
    const int column = item % kGroups * 4;
    float4 sum = {0, 0, 0, 0};
#pragma unroll
    for (int warp = 0; warp < kDecodeWarps; ++warp) {
      const float weight = states.weight[warp][row];
      const float4 part = *reinterpret_cast<const float4*>(accumulators + warp * stride +
                                                           accumulator_element(row, column, kHeadDim));
      sum = {sum.x + weight * part.x, sum.y + weight * part.y, sum.z + weight * part.z,
             sum.w + weight * part.w};
    }
    const std::int64_t head = task.first_head + row;
    if (arguments.plan.splits == 1) {
      const float scale = normaliser(states.of_block[row]) * arguments.value_scale;
      const uint2 rounded = {output_pair(sum.x * scale, sum.y * scale, arguments.query_type),
                             output_pair(sum.z * scale, sum.w * scale, arguments.query_type)};
      *reinterpret_cast<uint2*>(arguments.output + head * kHeadDim + column) = rounded;
    } else {
      const std::int64_t part = head * arguments.plan.splits + task.split;
      *reinterpret_cast<float4*>(arguments.accumulators + part * kHeadDim + column) = sum;
      if (column == 0) {
        arguments.states[part] = {states.of_block[row].max, states.of_block[row].sum};
      }
    }
  }
}

template <class Format>
__device__ void attend_pages(PageStream<Format>& pages, WarpAttention<Format>& attention, Range tokens,
                             float score_scale, int lane) {
  for (int number = 0, stage = 0; number < pages.count(); ++number) {
    wait_for_copies<Format::kStages - 1>();
    __syncwarp();
    attention.attend(pages.keys_in_shared(stage), pages.values_in_shared(stage), pages.first_token(number),
                     tokens, score_scale, lane);
    __syncwarp();
    pages.fetch(number + Format::kStages, stage);
    stage = stage + 1 == Format::kStages ? 0 : stage + 1;
  }
  wait_for_copies<0>();
  __syncwarp();
}

template <class Format>
__global__ void __launch_bounds__(kThreads, decode_blocks_by_registers(Format::kHeadDim))
    decode_attention_kernel(const Arguments arguments) {
  extern __shared__ __align__(128) std::uint8_t rings[];
  __shared__ QueryFragments<Format> query;
  __shared__ WarpStates states;
  constexpr int kRingBytes = Format::kStages * 2 * Format::kPageBytes;
  static_assert(kRingBytes >= kDecodeRows * Format::kHeadDim * static_cast<int>(sizeof(float)),
                "a warp's accumulator takes the place of its pages");

  const Task task = task_of(arguments);
  const std::int32_t context = arguments.contexts[task.sequence];
  const Range tokens = attended_tokens(context, arguments.window);
  const Range all_pages = attended_pages(context, arguments.window);
  Range pages = pages_of_split(all_pages, arguments.plan, task.split);
  if (arguments.plan.splits > 1 && pages.count() == 0) {
    return;
  }
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  pages.first += warp;
  const std::int64_t block_bytes = static_cast<std::int64_t>(arguments.kv_heads) * Format::kPageBytes;
  const std::int64_t of_head = static_cast<std::int64_t>(task.kv_head) * Format::kPageBytes;
  PageStream<Format> stream(arguments.keys + of_head, arguments.values + of_head, block_bytes,
                            arguments.block_table + task.sequence * arguments.max_blocks, pages, tokens,
                            static_cast<std::uint32_t>(__cvta_generic_to_shared(rings + warp * kRingBytes)),
                            lane);
#pragma unroll
  for (int stage = 0; stage < Format::kStages; ++stage) {
    stream.fetch(stage, stage);
  }
  query.load(arguments.query + task.first_head * Format::kHeadDim, task.rows,
             Format::kMath != arguments.query_type, warp, lane);
  __syncthreads();
  WarpAttention<Format> attention(query, lane);
  attend_pages(stream, attention, tokens, arguments.score_scale, lane);

#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const SoftmaxState<float> state = attention.state(h);
    if (lane % 4 == 0) {
      states.max[warp][fragment_row(lane, h)] = state.max;
      states.sum[warp][fragment_row(lane, h)] = state.sum;
    }
  }
  attention.store_accumulator(reinterpret_cast<float*>(rings + warp * kRingBytes), task.rows, lane);
  merge_states(states);
  write_result<Format::kHeadDim>(arguments, task, states, reinterpret_cast<const float*>(rings),
                                 kRingBytes / static_cast<int>(sizeof(float)));
}

// ---- kernel: one warp a query head, adds up its splits ----

template <int kHeadDim>
__global__ void __launch_bounds__(kThreads) reduce_splits_kernel(const Arguments arguments) {
  constexpr int kPairs = kHeadDim / 64;  // of neighbouring columns, for each lane
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.x) * kDecodeWarps + threadIdx.x / 32;
  if (head >= arguments.query_heads) {
    return;
  }
  const std::int32_t context = arguments.contexts[head / arguments.heads];
  const int splits = splits_used(attended_pages(context, arguments.window), arguments.plan);
  const float2* states = arguments.states + head * arguments.plan.splits;
  const auto* parts =
      reinterpret_cast<const float2*>(arguments.accumulators + head * arguments.plan.splits * kHeadDim);

  SoftmaxState<float> all;
  for (int split = lane; split < splits; split += 32) {
    all = merged(all, {states[split].x, states[split].y});
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    all = merged(
        all, {__shfl_xor_sync(kAllLanes, all.max, distance), __shfl_xor_sync(kAllLanes, all.sum, distance)});
  }
  float2 sums[kPairs] = {};
#pragma unroll 4
  for (int split = 0; split < splits; ++split) {
    const float weight = rescale_factor(states[split].x, all.max);
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      const float2 part = parts[split * (kHeadDim / 2) + pair * 32 + lane];
      sums[pair] = {sums[pair].x + weight * part.x, sums[pair].y + weight * part.y};
    }
  }
  const float scale = normaliser(all) * arguments.value_scale;
  auto* output = reinterpret_cast<std::uint32_t*>(arguments.output + head * kHeadDim);
#pragma unroll
  for (int pair = 0; pair < kPairs; ++pair) {
    output[pair * 32 + lane] = output_pair(sums[pair].x * scale, sums[pair].y * scale, arguments.query_type);
  }
}

// ---- launcher ----

struct GpuLimits {
  int sms = 0;
  int shared_bytes_per_sm = 0;
};

LaunchResult limits_of_current_gpu(GpuLimits& limits) {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&limits.sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&limits.shared_bytes_per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                   device);
  }
  return result_of(error);
}

Arguments arguments_of(const DecodeAttentionShape& shape, const DecodeAttentionBuffers& buffers,
                       const SplitKvPlan& plan) {
  const float widened = shape.kv_type == ElementType::fp8_e4m3 ? kE4m3OverFp16 : 1.0f;
  const double score_scale = kLog2E / std::sqrt(static_cast<double>(shape.head_dim));
  auto* accumulators = static_cast<float*>(buffers.workspace);
  return {.query = static_cast<const std::uint16_t*>(buffers.query),
          .keys = static_cast<const std::uint8_t*>(buffers.keys),
          .values = static_cast<const std::uint8_t*>(buffers.values),
          .block_table = buffers.block_table,
          .contexts = buffers.contexts,
          .output = static_cast<std::uint16_t*>(buffers.output),
          .accumulators = accumulators,
          .states = plan.splits == 1
                        ? nullptr
                        : reinterpret_cast<float2*>(accumulators +
                                                    shape.batch * shape.heads * plan.splits * shape.head_dim),
          .query_heads = shape.batch * shape.heads,
          .max_blocks = shape.max_blocks,
          .heads = static_cast<int>(shape.heads),
          .kv_heads = static_cast<int>(shape.kv_heads),
          .head_tiles = static_cast<int>(decode_head_tiles(shape)),
          .window = static_cast<int>(shape.window),
          .plan = plan,
          .score_scale = static_cast<float>(score_scale) * widened * buffers.key_scale,
          .value_scale = widened * buffers.value_scale,
          .query_type = shape.query_type};
}

template <ElementType kKv, int kHeadDim>
LaunchResult launch(const Arguments& arguments, std::int64_t blocks, Stream stream) {
  using Format = DecodeFormat<kKv, kHeadDim>;
  constexpr int kRings = decode_ring_bytes(kHeadDim, Format::kKvBytes);
  const LaunchResult raised = result_of(cudaFuncSetAttribute(
      decode_attention_kernel<Format>, cudaFuncAttributeMaxDynamicSharedMemorySize, kRings));
  if (!raised.ok()) {
    return raised;
  }
  decode_attention_kernel<Format><<<static_cast<unsigned>(blocks), kThreads, kRings, stream>>>(arguments);
  const LaunchResult attended = launched();
  if (!attended.ok() || arguments.plan.splits == 1) {
    return attended;
  }
  const auto reducing = static_cast<unsigned>(divide_up<std::int64_t>(arguments.query_heads, kDecodeWarps));
  reduce_splits_kernel<kHeadDim><<<reducing, kThreads, 0, stream>>>(arguments);
  return launched();
}

template <ElementType kKv>
LaunchResult launch(std::int64_t head_dim, const Arguments& arguments, std::int64_t blocks, Stream stream) {
  switch (head_dim) {
    case 64:
      return launch<kKv, 64>(arguments, blocks, stream);
    case 128:
      return launch<kKv, 128>(arguments, blocks, stream);
    default:
      return launch<kKv, 256>(arguments, blocks, stream);
  }
}

}  // namespace

LaunchResult decode_attention_workspace(const DecodeAttentionShape& shape, std::size_t& bytes) {
  GpuLimits limits;
  LaunchResult result = limits_of_current_gpu(limits);
  if (result.ok()) {
    result = decode_attention_support(shape, limits.shared_bytes_per_sm);
  }
  if (result.ok()) {
    bytes = decode_attention_workspace_bytes(
        shape, decode_attention_plan(shape, limits.sms, limits.shared_bytes_per_sm));
  }
  return result;
}

LaunchResult decode_attention(const DecodeAttentionShape& shape, const DecodeAttentionBuffers& buffers,
                              Stream stream) {
  GpuLimits limits;
  LaunchResult result = limits_of_current_gpu(limits);
  if (result.ok()) {
    result = decode_attention_support(shape, limits.shared_bytes_per_sm);
  }
  if (!result.ok()) {
    return result;
  }
  const SplitKvPlan plan = decode_attention_plan(shape, limits.sms, limits.shared_bytes_per_sm);
  if (buffers.workspace_bytes < decode_attention_workspace_bytes(shape, plan)) {
    return {KernelStatus::unsupported, "decode attention: the workspace is too small"};
  }
  const Arguments arguments = arguments_of(shape, buffers, plan);
  const std::int64_t blocks = shape.batch * shape.kv_heads * decode_head_tiles(shape) * plan.splits;
  switch (shape.kv_type) {
    case ElementType::bf16:
      return launch<ElementType::bf16>(shape.head_dim, arguments, blocks, stream);
    case ElementType::fp16:
      return launch<ElementType::fp16>(shape.head_dim, arguments, blocks, stream);
    default:
      return launch<ElementType::fp8_e4m3>(shape.head_dim, arguments, blocks, stream);
  }
}

}  // namespace inferometer::kernels
