#include "costmodel/kernels/kernel_call.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.hpp"

namespace inferometer {
namespace {

using Words = std::string_view;

constexpr Words kGemmAxes[] = {"m", "n", "k"};
constexpr Words kPrefillAxes[] = {"batch", "tokens", "past", "heads", "kv_heads", "head_dim", "window"};
constexpr Words kDecodeAxes[] = {"batch", "context", "heads", "kv_heads", "head_dim", "window"};
constexpr Words kMoeAxes[] = {"tokens",          "hidden",          "ffn", "experts", "top_k",
                              "tensor_parallel", "expert_parallel", "skew"};
constexpr Words kMlaPrefillAxes[] = {"batch", "tokens", "past", "heads"};
constexpr Words kMlaDecodeAxes[] = {"batch", "context", "heads"};
constexpr Words kElementwiseAxes[] = {"tokens", "width"};
constexpr Words kCollectiveAxes[] = {"gpus", "bytes"};
constexpr Words kHostAxes[] = {"sequences", "gpus"};

constexpr Words kWeightFormats[] = {"bf16",  "fp8",          "fp8_block",    "fp4",           "int8",
                                    "mxfp4", "int8_weights", "int4_weights", "mxfp4_weights", "fp4_weights"};
constexpr Words kAttentionFormats[] = {"bf16", "fp8_kv", "fp8"};
constexpr Words kMlaFormats[] = {"bf16", "fp8_kv"};
constexpr Words kElementwiseOperators[] = {"embedding", "norm",   "add_norm", "rope",    "silu_mul",
                                           "add",       "argmax", "top_p",    "kv_copy", "copy"};
constexpr Words kCollectives[] = {"all_reduce",     "all_reduce_eager", "nccl_all_reduce", "all_gather",
                                  "reduce_scatter", "all_to_all",       "send_recv"};
constexpr Words kHostWork[] = {"schedule", "prepare_inputs", "sample", "process_outputs", "execute"};

constexpr KernelFamilyInfo kFamilies[] = {
    {KernelFamily::gemm, "gemm", kGemmAxes, kWeightFormats},
    {KernelFamily::prefill_attention, "prefill_attention", kPrefillAxes, kAttentionFormats},
    {KernelFamily::decode_attention, "decode_attention", kDecodeAxes, kAttentionFormats},
    {KernelFamily::moe, "moe", kMoeAxes, kWeightFormats},
    {KernelFamily::mla_prefill, "mla_prefill", kMlaPrefillAxes, kMlaFormats},
    {KernelFamily::mla_decode, "mla_decode", kMlaDecodeAxes, kMlaFormats},
    {KernelFamily::elementwise, "elementwise", kElementwiseAxes, kElementwiseOperators},
    {KernelFamily::collective, "collective", kCollectiveAxes, kCollectives},
    {KernelFamily::host, "host", kHostAxes, kHostWork},
};

}  // namespace

std::span<const KernelFamilyInfo> kernel_families() {
  return kFamilies;
}

const KernelFamilyInfo& info(KernelFamily family) {
  return kFamilies[static_cast<std::size_t>(family)];
}

std::string_view to_string(KernelFamily family) {
  return info(family).name;
}

std::optional<KernelFamily> kernel_family_from(std::string_view name) {
  for (const KernelFamilyInfo& candidate : kFamilies) {
    if (candidate.name == name) {
      return candidate.family;
    }
  }
  return std::nullopt;
}

std::size_t axis_index(KernelFamily family, std::string_view name) {
  const std::span<const Words> axes = info(family).axes;
  const auto found = std::find(axes.begin(), axes.end(), name);
  INFEROMETER_CHECK(found != axes.end(), "the family has no such axis");
  return static_cast<std::size_t>(found - axes.begin());
}

std::string to_string(const KernelCall& call) {
  std::string text = fmt::format("{} {}", to_string(call.family), call.variant);
  const std::span<const Words> axes = info(call.family).axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += fmt::format(" {}={}", axes[i], call.axes[i]);
  }
  return text;
}

}  // namespace inferometer
