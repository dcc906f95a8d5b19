#include "calibration/compare/representative_calls.hpp"

#include <initializer_list>

#include "base/check.hpp"

namespace inferometer {
namespace {

/// Outputs n and inputs k of a layer's product.
struct GemmShape {
  double n, k;
};
// Llama-3.1-8B on one GPU: QKV, O, gate and up, down; then Llama-3.1-70B's on four.
constexpr GemmShape kGemmShapes[] = {{6144, 4096}, {4096, 4096}, {28672, 4096}, {4096, 14336},
                                     {2560, 8192}, {8192, 2048}, {14336, 8192}, {8192, 7168}};

struct HeadShape {
  double heads, kv_heads, head_dim;
};
// Llama-3.1-8B, Qwen2.5-7B and Llama-2-7B (without GQA) on one GPU; Llama-3.1-70B on eight and on four.
constexpr HeadShape kHeadShapes[] = {{32, 8, 128}, {28, 4, 128}, {32, 32, 128}, {8, 1, 128}, {16, 2, 128}};

struct ExpertShape {
  double hidden, ffn, experts, top_k;
};
// Mixtral-8x7B, Qwen3-30B-A3B, Qwen3-235B-A22B, DeepSeek-V3, gpt-oss-120b, Kimi-K2.
constexpr ExpertShape kExpertShapes[] = {{4096, 14336, 8, 2},  {2048, 768, 128, 8},  {4096, 1536, 128, 8},
                                         {7168, 2048, 256, 8}, {2880, 2880, 128, 4}, {7168, 2048, 384, 8}};

struct ExpertSplit {
  double tensor_parallel, expert_parallel;
};
constexpr ExpertSplit kExpertSplits[] = {{1, 1}, {4, 1}, {1, 8}};
/// Even, and the skew that published measurements take for real traffic.
constexpr double kSkews[] = {0, 1.2};

/// Engines' largest usual max_num_batched_tokens: no step prefills more.
constexpr double kMostStepTokens = 16'384;
/// 64 GiB of KV cache of Llama-3.1-8B (128 KiB a token): what an 80 GB GPU holds beside the weights.
constexpr double kMostCachedTokens = 524'288;
constexpr double kMostLatentHeads = 128;

using Calls = std::vector<KernelCall>;

/// low, low * factor, ... up to high.
std::vector<double> sizes(double low, double high, double factor) {
  std::vector<double> list;
  for (double size = low; size <= high; size *= factor) {
    list.push_back(size);
  }
  return list;
}

KernelCall call(KernelFamily family, const std::string& variant, std::initializer_list<double> axes) {
  KernelCall result{.family = family, .variant = variant};
  std::size_t at = 0;
  for (const double value : axes) {
    result.axes[at++] = value;
  }
  return result;
}

Calls gemm_calls(const std::string& variant) {
  Calls calls;
  for (const GemmShape& shape : kGemmShapes) {
    for (const double m : sizes(1, kMostStepTokens, 2)) {
      calls.push_back(call(KernelFamily::gemm, variant, {m, shape.n, shape.k}));
    }
  }
  return calls;
}

Calls prefill_calls(const std::string& variant) {
  Calls calls;
  for (const HeadShape& shape : kHeadShapes) {
    for (const double batch : {1.0, 4.0}) {
      for (const double past : {0.0, 4096.0}) {
        for (const double tokens : sizes(64, kMostStepTokens / batch, 2)) {
          calls.push_back(call(KernelFamily::prefill_attention, variant,
                               {batch, tokens, past, shape.heads, shape.kv_heads, shape.head_dim, 0}));
        }
      }
    }
  }
  return calls;
}

Calls decode_calls(const std::string& variant) {
  Calls calls;
  for (const HeadShape& shape : kHeadShapes) {
    for (const double batch : sizes(1, 256, 4)) {
      for (const double context : sizes(256, 65'536, 4)) {
        if (batch * context <= kMostCachedTokens) {
          calls.push_back(call(KernelFamily::decode_attention, variant,
                               {batch, context, shape.heads, shape.kv_heads, shape.head_dim, 0}));
        }
      }
    }
  }
  return calls;
}

Calls mla_prefill_calls(const std::string& variant) {
  Calls calls;
  for (const double heads : sizes(16, kMostLatentHeads, 2)) {
    for (const double past : {0.0, 4096.0}) {
      for (const double tokens : sizes(64, kMostStepTokens, 2)) {
        calls.push_back(call(KernelFamily::mla_prefill, variant, {1, tokens, past, heads}));
      }
    }
  }
  return calls;
}

Calls mla_decode_calls(const std::string& variant) {
  Calls calls;
  for (const double heads : sizes(16, kMostLatentHeads, 2)) {
    for (const double batch : sizes(1, 256, 4)) {
      for (const double context : sizes(256, 65'536, 4)) {
        if (batch * context <= kMostCachedTokens) {
          calls.push_back(call(KernelFamily::mla_decode, variant, {batch, context, heads}));
        }
      }
    }
  }
  return calls;
}

Calls moe_calls(const std::string& variant) {
  Calls calls;
  for (const ExpertShape& shape : kExpertShapes) {
    for (const ExpertSplit& split : kExpertSplits) {
      for (const double skew : kSkews) {
        for (const double tokens : sizes(1, kMostStepTokens, 4)) {
          calls.push_back(call(KernelFamily::moe, variant,
                               {tokens, shape.hidden, shape.ffn, shape.experts, shape.top_k,
                                split.tensor_parallel, split.expert_parallel, skew}));
        }
      }
    }
  }
  return calls;
}

/// Every pair of values of a family with two axes.
Calls pairs(KernelFamily family, const std::string& variant, const std::vector<double>& first,
            const std::vector<double>& second) {
  Calls calls;
  for (const double a : first) {
    for (const double b : second) {
      calls.push_back(call(family, variant, {a, b}));
    }
  }
  return calls;
}

}  // namespace

std::vector<KernelCall> representative_calls(KernelFamily family, const std::string& variant) {
  switch (family) {
    case KernelFamily::gemm:
      return gemm_calls(variant);
    case KernelFamily::prefill_attention:
      return prefill_calls(variant);
    case KernelFamily::decode_attention:
      return decode_calls(variant);
    case KernelFamily::moe:
      return moe_calls(variant);
    case KernelFamily::mla_prefill:
      return mla_prefill_calls(variant);
    case KernelFamily::mla_decode:
      return mla_decode_calls(variant);
    case KernelFamily::elementwise:
      return pairs(family, variant, sizes(1, kMostStepTokens, 2), sizes(1024, 16'384, 2));
    case KernelFamily::collective:
      return pairs(family, variant, sizes(2, 8, 2), sizes(1024, 268'435'456, 4));
    case KernelFamily::host:
      return pairs(family, variant, sizes(1, 256, 2), sizes(1, 8, 2));
  }
  check_failed("family", __FILE__, __LINE__, "unknown kernel family");
}

}  // namespace inferometer
