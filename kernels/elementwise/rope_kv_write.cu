#include "kernels/common/element.cuh"
#include "kernels/common/launch_check.cuh"
#include "kernels/elementwise/rope_kv_write.hpp"

namespace inferometer::kernels {
namespace {

// ---- kernel: a block has one token; a thread takes 8 pairs of a head, or 8 elements of values, at a time
// ----

constexpr int kThreads = 256;
constexpr int kMostPairs = kRopeMostHeadDim / 2;

using Vector = Vector16<Bf16>;

template <class Kv>
struct alignas(sizeof(Kv) * Vector::kCount) KvVector {
  Kv elements[Vector::kCount];
};

struct RopeArguments {
  int heads;
  int kv_heads;
  int head_dim;
  Vector* qkv;
  Vector* query;  // heads of the output, query_heads of them a token
  int query_heads;
  const std::int32_t* positions;
  const std::int32_t* slots;
  void* key_cache;
  void* value_cache;
  float inverse_key_scale;
  float inverse_value_scale;
  double turns_of_position[kMostPairs];
};

template <class Kv>
__device__ void write_cached(void* cache, std::int64_t element, const float (&values)[Vector::kCount],
                             float inverse_scale) {
  KvVector<Kv> vector;
#pragma unroll
  for (int lane = 0; lane < Vector::kCount; ++lane) {
    vector.elements[lane] = from_float<Kv>(sizeof(Kv) == 1 ? values[lane] * inverse_scale : values[lane]);
  }
  *reinterpret_cast<KvVector<Kv>*>(static_cast<Kv*>(cache) + element) = vector;
}

__device__ Vector rounded(const float (&values)[Vector::kCount]) {
  Vector vector;
#pragma unroll
  for (int lane = 0; lane < Vector::kCount; ++lane) {
    vector.elements[lane] = from_float<Bf16>(values[lane]);
  }
  return vector;
}

/// Pairs [8 part, 8 part + 8) of a query head or, from `heads` on, of a key head.
template <class Kv>
__device__ void rotate(const RopeArguments& arguments, std::int64_t token, int slot, int head, int part,
                       const float2* turns) {
  const int vectors = arguments.head_dim / Vector::kCount;
  const int half = vectors / 2;
  const std::int64_t all_heads = arguments.heads + 2 * arguments.kv_heads;
  const Vector* input = arguments.qkv + (token * all_heads + head) * vectors + part;
  const Vector low = input[0];
  const Vector high = input[half];
  float low_turned[Vector::kCount];
  float high_turned[Vector::kCount];
#pragma unroll
  for (int lane = 0; lane < Vector::kCount; ++lane) {
    const float2 turn = turns[part * Vector::kCount + lane];
    const float x = as_float(low.elements[lane]);
    const float y = as_float(high.elements[lane]);
    low_turned[lane] = x * turn.x - y * turn.y;
    high_turned[lane] = y * turn.x + x * turn.y;
  }
  if (head < arguments.heads) {
    Vector* output = arguments.query + (token * arguments.query_heads + head) * vectors + part;
    output[0] = rounded(low_turned);
    output[half] = rounded(high_turned);
  } else if (slot >= 0) {
    const std::int64_t element = kv_cache_element(slot, head - arguments.heads, part * Vector::kCount,
                                                  arguments.kv_heads, arguments.head_dim);
    write_cached<Kv>(arguments.key_cache, element, low_turned, arguments.inverse_key_scale);
    write_cached<Kv>(arguments.key_cache, element + arguments.head_dim / 2, high_turned,
                     arguments.inverse_key_scale);
  }
}

template <class Kv>
__device__ void copy_values(const RopeArguments& arguments, std::int64_t token, int slot, int kv_head,
                            int part) {
  const int vectors = arguments.head_dim / Vector::kCount;
  const std::int64_t all_heads = arguments.heads + 2 * arguments.kv_heads;
  const std::int64_t head = arguments.heads + arguments.kv_heads + kv_head;
  const Vector input = arguments.qkv[(token * all_heads + head) * vectors + part];
  float values[Vector::kCount];
#pragma unroll
  for (int lane = 0; lane < Vector::kCount; ++lane) {
    values[lane] = as_float(input.elements[lane]);
  }
  if (slot >= 0) {
    const std::int64_t element =
        kv_cache_element(slot, kv_head, part * Vector::kCount, arguments.kv_heads, arguments.head_dim);
    write_cached<Kv>(arguments.value_cache, element, values, arguments.inverse_value_scale);
  }
}

template <class Kv>
__global__ void __launch_bounds__(kThreads)
    rope_kv_write_kernel(const __grid_constant__ RopeArguments arguments) {
  __shared__ float2 turns[kMostPairs];  // cosine and sine of each pair's angle
  const std::int64_t token = blockIdx.x;
  const int slot = arguments.slots[token];
  const int pairs = arguments.head_dim / 2;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < pairs) {
    const double angle = arguments.positions[token] * arguments.turns_of_position[thread];
    const auto part_of_turn = static_cast<float>(angle - floor(angle));
    float2 turn;
    sincospif(2 * part_of_turn, &turn.y, &turn.x);
    turns[thread] = turn;
  }
  __syncthreads();
  const int parts = pairs / Vector::kCount;
  const int rotations = (arguments.heads + arguments.kv_heads) * parts;
  for (int item = thread; item < rotations; item += kThreads) {
    rotate<Kv>(arguments, token, slot, item / parts, item % parts, turns);
  }
  const int parts_of_values = 2 * parts;
  for (int item = thread; item < arguments.kv_heads * parts_of_values; item += kThreads) {
    copy_values<Kv>(arguments, token, slot, item / parts_of_values, item % parts_of_values);
  }
}

}  // namespace

// ---- launcher ----

LaunchResult rope_kv_write(const RopeKvWriteShape& shape, const RopeKvWriteBuffers& buffers, Stream stream) {
  const bool is_scaled = shape.key_scale != 1 || shape.value_scale != 1;
  if (shape.tokens < 1 || shape.tokens > INT32_MAX || shape.heads < 1 || shape.heads > 4096 ||
      shape.kv_heads < 1 || shape.kv_heads > 4096 || shape.head_dim < 16 || shape.head_dim % 16 != 0 ||
      shape.head_dim > kRopeMostHeadDim) {
    return {KernelStatus::unsupported,
            "rope: tokens >= 1, 1 to 4096 heads, head_dim a multiple of 16 up to 256"};
  }
  if (shape.kv_type == ElementType::fp32 || (is_scaled && shape.kv_type != ElementType::fp8_e4m3)) {
    return {KernelStatus::unsupported, "rope: a cache of bf16, fp16 or fp8; scales with fp8 only"};
  }
  RopeArguments arguments{.heads = static_cast<int>(shape.heads),
                          .kv_heads = static_cast<int>(shape.kv_heads),
                          .head_dim = static_cast<int>(shape.head_dim),
                          .qkv = static_cast<Vector*>(buffers.qkv),
                          .query = static_cast<Vector*>(buffers.query),
                          .query_heads = static_cast<int>(shape.heads),
                          .positions = buffers.positions,
                          .slots = buffers.slots,
                          .key_cache = buffers.key_cache,
                          .value_cache = buffers.value_cache,
                          .inverse_key_scale = 1 / shape.key_scale,
                          .inverse_value_scale = 1 / shape.value_scale,
                          .turns_of_position = {}};
  if (buffers.query == nullptr) {
    arguments.query = arguments.qkv;
    arguments.query_heads = static_cast<int>(shape.heads + 2 * shape.kv_heads);
  }
  for (std::int64_t pair = 0; pair < shape.head_dim / 2; ++pair) {
    arguments.turns_of_position[pair] = turns_of_position(pair, shape.head_dim, shape.theta);
  }
  const auto blocks = static_cast<unsigned>(shape.tokens);
  switch (shape.kv_type) {
    case ElementType::fp16:
      rope_kv_write_kernel<Fp16><<<blocks, kThreads, 0, stream>>>(arguments);
      break;
    case ElementType::fp8_e4m3:
      rope_kv_write_kernel<E4m3><<<blocks, kThreads, 0, stream>>>(arguments);
      break;
    default:
      rope_kv_write_kernel<Bf16><<<blocks, kThreads, 0, stream>>>(arguments);
  }
  return launched();
}

}  // namespace inferometer::kernels
