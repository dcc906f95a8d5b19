#include "costmodel/kernels/kernel_work.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/check.hpp"
#include "base/portable_math.hpp"

namespace inferometer {
namespace {

constexpr double kActivationBytes = 2;

// Scales: one fp32 a block of 128 x 128 (fp8_block), one fp16 a group of 128 (int4), one byte a group of 16
// (fp4) or 32 (mxfp4). Formats of weights only compute in bf16.
constexpr WeightFormat kWeightFormats[] = {
    {"bf16", 2, 2, MathUnit::bf16},
    {"fp8", 1, 1, MathUnit::fp8},
    {"fp8_block", 1 + 4.0 / (128 * 128), 1, MathUnit::fp8},
    {"fp4", 0.5 + 1.0 / 16, 0.5, MathUnit::fp8},
    {"mxfp4", 0.5 + 1.0 / 32, 1, MathUnit::fp8},
    {"int8", 1, 1, MathUnit::int8},
    {"int8_weights", 1, 2, MathUnit::bf16},
    {"int4_weights", 0.5 + 2.0 / 128, 2, MathUnit::bf16},
    {"mxfp4_weights", 0.5 + 1.0 / 32, 2, MathUnit::bf16},
    {"fp4_weights", 0.5 + 1.0 / 16, 2, MathUnit::bf16},
};

double kv_element_bytes(std::string_view variant) {
  return variant == "bf16" ? 2 : 1;
}

MathUnit attention_unit(std::string_view variant) {
  return variant == "fp8" ? MathUnit::fp8 : MathUnit::bf16;
}

KernelWork gemm_work(const KernelCall& call) {
  const auto [m, n, k] = std::array{call.axes[0], call.axes[1], call.axes[2]};
  const WeightFormat& format = weight_format(call.variant);
  return {.flops = 2 * m * n * k,
          .hbm_bytes = format.weight_bytes * n * k + format.input_bytes * m * k + kActivationBytes * m * n,
          .unit = format.unit};
}

KernelWork prefill_work(const KernelCall& call) {
  const auto [batch, tokens, past, heads, kv_heads, head_dim, window] = std::array{
      call.axes[0], call.axes[1], call.axes[2], call.axes[3], call.axes[4], call.axes[5], call.axes[6]};
  const double limit = window > 0 ? window : past + tokens;
  const double growing = std::clamp(limit - past, 0.0, tokens);
  const double pairs = growing * past + growing * (growing + 1) / 2 + (tokens - growing) * limit;
  return {.flops = 4 * batch * heads * head_dim * pairs,
          .hbm_bytes = kv_bytes(call) + 2 * kActivationBytes * batch * tokens * heads * head_dim,
          .unit = attention_unit(call.variant)};
}

KernelWork decode_work(const KernelCall& call) {
  const auto [batch, context, heads, kv_heads, head_dim, window] =
      std::array{call.axes[0], call.axes[1], call.axes[2], call.axes[3], call.axes[4], call.axes[5]};
  const double keys = window > 0 ? std::min(context, window) : context;
  return {.flops = 4 * batch * heads * head_dim * keys,
          .hbm_bytes = kv_bytes(call) + 2 * kActivationBytes * batch * heads * head_dim,
          .unit = attention_unit(call.variant)};
}

KernelWork mla_prefill_work(const KernelCall& call) {
  const auto [batch, tokens, past, heads] =
      std::array{call.axes[0], call.axes[1], call.axes[2], call.axes[3]};
  const double pairs = tokens * past + tokens * (tokens + 1) / 2;
  const double written =
      heads * kMlaValue * kActivationBytes + (kMlaLatent + kMlaRope) * kv_element_bytes(call.variant);
  return {.flops = 2 * batch * heads * (kMlaRope + kMlaNope + kMlaValue) * pairs,
          .hbm_bytes =
              kv_bytes(call) + batch * tokens * (heads * (kMlaRope + kMlaNope) * kActivationBytes + written)};
}

KernelWork mla_decode_work(const KernelCall& call) {
  const auto [batch, context, heads] = std::array{call.axes[0], call.axes[1], call.axes[2]};
  constexpr double kQueryAndOutput = (kMlaLatent + kMlaRope) + kMlaLatent;
  return {.flops = 2 * batch * heads * kQueryAndOutput * context,
          .hbm_bytes = kv_bytes(call) + kActivationBytes * batch * heads * kQueryAndOutput};
}

/// Distinct experts that so many independent choices of top_k reach, all experts equally likely:
/// N (1 - (1 - k/N)^T).
double experts_reached(double tokens, double experts, double top_k) {
  return experts * (1 - portable_pow(1 - top_k / experts, tokens));
}

KernelWork moe_work(const KernelCall& call) {
  const auto [tokens, hidden, ffn, experts, top_k, tensor_parallel, expert_parallel] = std::array{
      call.axes[0], call.axes[1], call.axes[2], call.axes[3], call.axes[4], call.axes[5], call.axes[6]};
  const WeightFormat& format = weight_format(call.variant);
  const double columns = ffn / tensor_parallel;
  const double routed = tokens * top_k / expert_parallel;
  const double read = experts_reached(tokens, experts, top_k) / expert_parallel;
  return {.flops = 6 * routed * hidden * columns,
          .hbm_bytes = format.weight_bytes * 3 * read * hidden * columns +
                       (format.input_bytes + kActivationBytes) * tokens * hidden +
                       (3 * kActivationBytes) * routed * columns,
          .unit = format.unit};
}

/// What an operator does to each element of `width`.
struct ElementWork {
  std::string_view variant;
  double flops;
  double bytes;  ///< read and written
};

// Logits have 32 bit and are passed over three times when they are sampled (operators.cpp), once for their
// maximum; all others have 16 bit. add_norm reads input and residual stream and writes both.
constexpr ElementWork kElementWork[] = {
    {"embedding", 0, 4}, {"norm", 4, 4},   {"add_norm", 4, 8}, {"rope", 6, 4},    {"silu_mul", 5, 6},
    {"add", 1, 6},       {"argmax", 1, 4}, {"top_p", 10, 12},  {"kv_copy", 0, 4}, {"copy", 0, 4},
};

KernelWork elementwise_work(const KernelCall& call) {
  for (const ElementWork& element : kElementWork) {
    if (element.variant == call.variant) {
      const double elements = call.axes[0] * call.axes[1];
      return {.flops = element.flops * elements, .hbm_bytes = element.bytes * elements};
    }
  }
  check_failed("variant", __FILE__, __LINE__, "unknown elementwise operator");
}

KernelWork collective_work(const KernelCall& call) {
  const auto [gpus, bytes] = std::array{call.axes[0], call.axes[1]};
  const double others = (gpus - 1) / gpus;
  if (call.variant == "send_recv") {
    return {.link_bytes = bytes};
  }
  const bool reduces_to_all = call.variant.find("all_reduce") != std::string::npos;
  return {.link_bytes = (reduces_to_all ? 2 : 1) * others * bytes};
}

}  // namespace

const WeightFormat& weight_format(std::string_view name) {
  for (const WeightFormat& format : kWeightFormats) {
    if (format.name == name) {
      return format;
    }
  }
  check_failed("format", __FILE__, __LINE__, "unknown format of weights");
}

KernelWork kernel_work(const KernelCall& call) {
  switch (call.family) {
    case KernelFamily::gemm:
      return gemm_work(call);
    case KernelFamily::prefill_attention:
      return prefill_work(call);
    case KernelFamily::decode_attention:
      return decode_work(call);
    case KernelFamily::moe:
      return moe_work(call);
    case KernelFamily::mla_prefill:
      return mla_prefill_work(call);
    case KernelFamily::mla_decode:
      return mla_decode_work(call);
    case KernelFamily::elementwise:
      return elementwise_work(call);
    case KernelFamily::collective:
      return collective_work(call);
    case KernelFamily::host:
      return {};
  }
  check_failed("family", __FILE__, __LINE__, "unknown kernel family");
}

double kv_bytes(const KernelCall& call) {
  if (call.family == KernelFamily::prefill_attention) {
    const auto [batch, tokens, past, heads, kv_heads, head_dim, window] = std::array{
        call.axes[0], call.axes[1], call.axes[2], call.axes[3], call.axes[4], call.axes[5], call.axes[6]};
    const double keys = window > 0 ? std::min(past + tokens, window + tokens - 1) : past + tokens;
    return 2 * kv_element_bytes(call.variant) * batch * keys * kv_heads * head_dim;
  }
  if (call.family == KernelFamily::decode_attention) {
    const auto [batch, context, heads, kv_heads, head_dim, window] =
        std::array{call.axes[0], call.axes[1], call.axes[2], call.axes[3], call.axes[4], call.axes[5]};
    const double keys = window > 0 ? std::min(context, window) : context;
    return 2 * kv_element_bytes(call.variant) * batch * keys * kv_heads * head_dim;
  }
  if (call.family == KernelFamily::mla_prefill) {
    const auto [batch, tokens, past, heads] =
        std::array{call.axes[0], call.axes[1], call.axes[2], call.axes[3]};
    return kActivationBytes * batch * (past + tokens) * heads * (kMlaRope + kMlaNope + kMlaValue);
  }
  if (call.family == KernelFamily::mla_decode) {
    return kv_element_bytes(call.variant) * call.axes[0] * call.axes[1] * (kMlaLatent + kMlaRope);
  }
  return 0;
}

FlopsPerSecond peak(const GpuSpec& gpu, MathUnit unit) {
  switch (unit) {
    case MathUnit::bf16:
      return gpu.bf16_peak;
    case MathUnit::fp8:
      return gpu.fp8_peak.value_or(gpu.bf16_peak);
    case MathUnit::int8:
      return gpu.int8_peak.value_or(gpu.bf16_peak);
  }
  check_failed("unit", __FILE__, __LINE__, "unknown math unit");
}

double datasheet_seconds(const KernelWork& work, const GpuSpec& gpu) {
  const double link = gpu.nvlink_per_direction.value_or(gpu.pcie_per_direction).count();
  return std::max({work.flops / peak(gpu, work.unit).count(), work.hbm_bytes / gpu.hbm_bandwidth.count(),
                   work.link_bytes / link});
}

}  // namespace inferometer
