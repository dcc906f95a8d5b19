#include "calibration/sweep/sweep_space.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>

#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

using Sizes = std::vector<double>;
using Calls = std::vector<KernelCall>;

// Up to 16 rows every number is a kernel of its own (a GEMV); above, libraries choose by tiles of 16 to 256
// rows, so both sides of each edge.
const Sizes kRows = {1,    2,    3,    4,    5,    6,    7,    8,    9,    10,    11,   12,
                     13,   14,   15,   16,   17,   32,   33,   48,   49,   64,    65,   80,
                     81,   96,   97,   112,  113,  128,  129,  160,  161,  192,   193,  224,
                     225,  256,  257,  384,  512,  513,  768,  769,  1024, 1025,  1280, 1536,
                     1537, 2048, 2049, 2560, 3072, 3073, 4096, 4097, 8192, 16384, 32768};

// Hidden sizes, FFN widths, head widths and vocabularies of published models and what tensor parallelism
// makes of them; small ones are routers and shards of small models.
const Sizes kWidths = {32,   64,   128,  256,  512,  768,   1024,  1536,  2048,  2560,  3072,  3584,
                       4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384, 28672, 51200, 65536};

const Sizes kBatches = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
const Sizes kPrompts = {1,    16,   32,   64,   128,  256,   512,   1024, 1536,
                        2048, 3072, 4096, 6144, 8192, 10240, 12288, 16384};
// Of chunks of a prompt; engines cut them to a few thousand tokens, and run few at a time.
const Sizes kPasts = {1024, 8192, 65536};
const Sizes kContexts = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
const Sizes kHeadDims = {64, 128, 256};
// None, and sliding windows from the shortest of published models (gpt-oss) to beyond the longest (Mistral,
// 4096).
const Sizes kWindows = {0, 128, 1024, 8192};

/// Query and KV heads of one GPU.
struct Heads {
  double query, kv;
};

// Grouped-query attention of published models on 1 to 8 GPUs, and multi-head attention.
constexpr Heads kHeads[] = {
    {1, 1},  {2, 1},  {4, 1},   {6, 1},   {8, 1},   {12, 1},  {16, 1},  {2, 2},   {4, 2},
    {8, 2},  {12, 2}, {16, 2},  {24, 2},  {32, 2},  {4, 4},   {8, 4},   {16, 4},  {24, 4},
    {32, 4}, {48, 4}, {64, 4},  {8, 8},   {16, 8},  {24, 8},  {32, 8},  {40, 8},  {48, 8},
    {64, 8}, {96, 8}, {128, 8}, {12, 12}, {16, 16}, {24, 24}, {32, 32}, {40, 40}, {64, 64},
};

constexpr double kMostPromptTokens = 262'144;  // of all sequences: a longer launch only repeats itself
constexpr double kMostChunkTokens = 4096;
constexpr double kMostChunks = 4;

KernelCall call_of(const SweptKind& kind, std::initializer_list<double> axes) {
  KernelCall call{.family = kind.family, .variant = kind.variant};
  std::copy(axes.begin(), axes.end(), call.axes.begin());
  return call;
}

Calls gemm_calls(const SweptKind& kind) {
  Calls calls;
  for (const double m : kRows) {
    for (const double n : kWidths) {
      for (const double k : kWidths) {
        calls.push_back(call_of(kind, {m, n, k}));
      }
    }
  }
  return calls;
}

/// Calls `add(heads, head_dim, window)` for every layer's attention.
template <class Add>
void for_each_attention(Add add) {
  for (const Heads& heads : kHeads) {
    for (const double dim : kHeadDims) {
      for (const double window : kWindows) {
        add(heads, dim, window);
      }
    }
  }
}

Calls prefill_calls(const SweptKind& kind) {
  Calls calls;
  const auto add = [&](double batch, double tokens, double past) {
    for_each_attention([&](const Heads& heads, double dim, double window) {
      if (batch * (tokens + past) <= kMostPromptTokens && window <= past + tokens) {
        calls.push_back(call_of(kind, {batch, tokens, past, heads.query, heads.kv, dim, window}));
      }
    });
  };
  for (const double batch : kBatches) {
    for (const double tokens : kPrompts) {
      add(batch, tokens, 0);
      for (const double past : kPasts) {
        if (batch <= kMostChunks && tokens <= kMostChunkTokens) {
          add(batch, tokens, past);
        }
      }
    }
  }
  return calls;
}

Calls decode_calls(const SweptKind& kind) {
  Calls calls;
  for (const double batch : kBatches) {
    for (const double context : kContexts) {
      for_each_attention([&](const Heads& heads, double dim, double window) {
        if (window <= context) {
          calls.push_back(call_of(kind, {batch, context, heads.query, heads.kv, dim, window}));
        }
      });
    }
  }
  return calls;
}

/// tokens x width, by what the operator works on.
Calls elementwise_calls(const SweptKind& kind) {
  const bool is_sampling = kind.variant == "argmax" || kind.variant == "top_p";
  const Sizes widths = is_sampling                 ? Sizes{32'000, 128'256, 151'936}
                       : kind.variant == "kv_copy" ? Sizes{1024, 2048, 16'384}
                                                   : Sizes{1024, 2048, 4096, 5120, 8192, 14'336, 16'384};
  Sizes tokens = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16'384, 32'768};
  if (kind.variant == "copy") {
    tokens.insert(tokens.end(), {65'536, 131'072});
  }
  if (kind.variant == "kv_copy") {
    constexpr double kBlockTokens = 16;  // whole blocks are copied
    std::erase_if(tokens, [](double count) { return count < kBlockTokens; });
  }
  Calls calls;
  for (const double count : tokens) {
    for (const double width : widths) {
      if (!is_sampling || count <= 1024) {
        calls.push_back(call_of(kind, {count, width}));
      }
    }
  }
  return calls;
}

Calls collective_calls(const SweptKind& kind, int gpus) {
  constexpr double kSmallest = 1024, kLargest = 1024.0 * 1024 * 1024;
  Calls calls;
  for (double members = 2; members <= gpus; members *= 2) {
    for (double bytes = kSmallest; bytes <= kLargest; bytes *= 2) {
      calls.push_back(call_of(kind, {members, bytes}));
    }
  }
  return calls;
}

Calls all_calls(const SweptKind& kind, const SweepTarget& target) {
  switch (kind.family) {
    case KernelFamily::gemm:
      return gemm_calls(kind);
    case KernelFamily::prefill_attention:
      return prefill_calls(kind);
    case KernelFamily::decode_attention:
      return decode_calls(kind);
    case KernelFamily::elementwise:
      return elementwise_calls(kind);
    case KernelFamily::collective:
      return collective_calls(kind, target.gpus);
    case KernelFamily::moe:
    case KernelFamily::mla_prefill:
    case KernelFamily::mla_decode:
    case KernelFamily::host:
      break;
  }
  return {};
}

}  // namespace

std::vector<SweptKind> swept_kinds(const SweepTarget& target) {
  if (target.provider == KernelProvider::cudnn) {
    return {{KernelFamily::prefill_attention, "bf16"}};
  }
  std::vector<SweptKind> kinds = {{KernelFamily::gemm, "bf16"}};
  if (target.gpu.fp8_peak) {
    kinds.push_back({KernelFamily::gemm, "fp8"});
  }
  kinds.push_back({KernelFamily::prefill_attention, "bf16"});
  kinds.push_back({KernelFamily::decode_attention, "bf16"});
  kinds.push_back({KernelFamily::decode_attention, "fp8_kv"});
  for (const char* variant :
       {"embedding", "norm", "add_norm", "rope", "silu_mul", "argmax", "top_p", "kv_copy", "copy"}) {
    kinds.push_back({KernelFamily::elementwise, variant});
  }
  if (target.gpus > 1) {
    for (const char* variant : {"nccl_all_reduce", "all_gather", "send_recv"}) {
      kinds.push_back({KernelFamily::collective, variant});
    }
  }
  return kinds;
}

double buffer_bytes(const KernelCall& call) {
  if (call.family == KernelFamily::collective) {
    return 2 * call.axes[1];
  }
  return kernel_work(call).hbm_bytes;
}

std::vector<KernelCall> sweep_space(const SweptKind& kind, const SweepTarget& target) {
  Calls calls = all_calls(kind, target);
  std::erase_if(calls, [&](const KernelCall& call) { return buffer_bytes(call) > target.memory_bytes; });
  std::sort(calls.begin(), calls.end(),
            [](const KernelCall& a, const KernelCall& b) { return a.axes < b.axes; });
  return calls;
}

}  // namespace inferometer
