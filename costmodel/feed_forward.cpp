#include "costmodel/feed_forward.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/expert_routing.hpp"
#include "costmodel/kernels/kernel_work.hpp"
#include "costmodel/operator_parts.hpp"

namespace inferometer {
namespace {

constexpr double kGatedMatrices = 3;       // gate, up and down of an expert
constexpr std::int64_t kLogitBytes = 4;    // the router's choice is made in 32 bit
constexpr std::int64_t kChoiceBytes = 8;   // a weight and an index for each chosen expert
constexpr std::int64_t kChoiceFlops = 10;  // softmax and selection for each logit
// An 8-bit activation with its share of a 32-bit scale for every 128 (DeepEP).
constexpr double kScaledByte = 1 + 4.0 / 128;

struct GatedNames {
  std::string_view up, product, down;
};
constexpr GatedNames kDense{"gate + up projection", "silu x up", "down projection"};
constexpr GatedNames kShared{"shared gate + up projection", "shared silu x up", "shared down projection"};

/// A gated feed-forward network that every token passes.
void add_gated(std::vector<Operator>& list, const GatedNames& names, const ModelSpec& model,
               std::int64_t repeats, std::int64_t tokens, std::int64_t columns) {
  list.push_back(gemm(names.up, model.weight_format, model, repeats, tokens, model.hidden, 2 * columns));
  list.push_back(measured_elementwise(
      "silu_mul", tokens, columns,
      elementwise(names.product, repeats, 5 * tokens * columns, 3 * kActivationBytes * tokens * columns)));
  list.push_back(gemm(names.down, model.weight_format, model, repeats, tokens, columns, model.hidden));
}

/// Among all GPUs of the stage, each of which sends as many bytes, its own part of an array included.
Operator among_stage(std::string_view name, std::string_view variant, std::int64_t repeats, std::int64_t gpus,
                     double bytes, std::int64_t ring_steps) {
  const auto others = static_cast<double>(gpus - 1) / static_cast<double>(gpus);
  return {.name = name,
          .family = OperatorFamily::collective,
          .repeats = repeats,
          .link_bytes = Bytes(static_cast<std::int64_t>(others * bytes)),
          .ring_steps = ring_steps,
          .is_among_stage = true,
          .call = call_of(KernelFamily::collective, variant, {static_cast<double>(gpus), bytes})};
}

/// What brings tokens to the experts of other ranks (`there`) or back.
Operator exchange(const ModelSpec& model, const ModelSplit& split, std::int64_t tokens, bool there) {
  const MixtureOfExperts& moe = *model.moe;
  const std::int64_t gpus = split.gpus();
  const std::string_view name = there ? "expert dispatch" : "expert combine";
  const auto width = static_cast<double>(model.hidden);
  const auto own_tokens = static_cast<double>(ceil_div(tokens, gpus));
  if (split.expert == 1) {
    const double bytes = own_tokens * static_cast<double>(gpus * kActivationBytes) * width;
    return among_stage(name, there ? "all_gather" : "reduce_scatter", model.moe_layers(), gpus, bytes,
                       gpus - 1);
  }
  const auto copies = static_cast<double>(std::min(moe.experts_per_token, split.expert));
  const bool is_8_bit = there && weight_format(moe.format).unit == MathUnit::fp8;
  const double element = is_8_bit ? kScaledByte : static_cast<double>(kActivationBytes);
  return among_stage(name, "all_to_all", model.moe_layers(), gpus, own_tokens * copies * element * width, 0);
}

void add_experts(std::vector<Operator>& list, const ModelSpec& model, const ModelSplit& split,
                 std::int64_t tokens) {
  const MixtureOfExperts& moe = *model.moe;
  const std::int64_t layers = model.moe_layers();
  const std::int64_t of_rank = ceil_div(tokens, split.attention_data);
  list.push_back(gemm("router", kCheckpointFormat, model, layers, of_rank, model.hidden, moe.experts));
  list.push_back(elementwise("expert choice", layers, kChoiceFlops * of_rank * moe.experts,
                             of_rank * (kLogitBytes * moe.experts + kChoiceBytes * moe.experts_per_token)));
  const bool is_exchanged = split.attention_data > 1;
  if (is_exchanged) {
    list.push_back(exchange(model, split, tokens, true));
  }
  list.push_back(routed_experts(model, split, tokens));
  if (is_exchanged) {
    list.push_back(exchange(model, split, tokens, false));
    if (split.tensor > 1) {
      const std::int64_t share = ceil_div(kActivationBytes * of_rank * model.hidden, split.tensor);
      list.push_back(all_gather("expert output gather", layers, split.tensor, share));
    }
  }
  if (moe.shared_ffn > 0) {
    add_gated(list, kShared, model, layers, of_rank, ceil_div(moe.shared_ffn, split.tensor));
    if (moe.shared_gate) {
      list.push_back(gemm("shared expert gate", kCheckpointFormat, model, layers, of_rank, model.hidden, 1));
    }
  }
}

}  // namespace

Operator routed_experts(const ModelSpec& model, const ModelSplit& split, std::int64_t tokens) {
  const MixtureOfExperts& moe = *model.moe;
  const WeightFormat& format = weight_format(moe.format);
  const auto groups = static_cast<double>(split.expert);
  const auto per_token = static_cast<double>(moe.experts_per_token);
  const auto width = static_cast<double>(model.hidden);
  const std::int64_t columns = ceil_div(moe.ffn, split.expert_tensor());
  const double pairs = fullest_group_pairs(moe, static_cast<double>(tokens), split.expert);
  const double as_tokens = pairs * groups / per_token;  // that would load every group as much
  const double weight_bytes =
      moe.format == kCheckpointFormat ? static_cast<double>(model.weight_bytes) : format.weight_bytes;
  const double weights = weight_bytes * kGatedMatrices * width * static_cast<double>(columns) *
                         distinct_experts(moe, as_tokens) / groups;
  const double activations =
      (format.input_bytes + static_cast<double>(kActivationBytes)) * as_tokens * width +
      3 * static_cast<double>(kActivationBytes) * pairs * static_cast<double>(columns);
  return {
      .name = kRoutedExperts,
      .family = OperatorFamily::experts,
      .repeats = model.moe_layers(),
      .flops = Flops(2 * kGatedMatrices * pairs * width * static_cast<double>(columns)),
      .hbm_bytes = Bytes(static_cast<std::int64_t>(std::ceil(weights + activations))),
      // The benchmark times the fullest of unevenly loaded GPUs already.
      .call = call_of(KernelFamily::moe, moe.format,
                      {moe.skew > 0 ? static_cast<double>(tokens) : as_tokens, width,
                       static_cast<double>(columns * split.expert_tensor()), static_cast<double>(moe.experts),
                       per_token, static_cast<double>(split.expert_tensor()), groups, moe.skew})};
}

std::vector<Operator> feed_forward_operators(const ModelSpec& model, const ModelSplit& split,
                                             std::int64_t tokens) {
  std::vector<Operator> list;
  if (model.dense_layers() > 0) {
    add_gated(list, kDense, model, model.dense_layers(), ceil_div(tokens, split.attention_data),
              ceil_div(model.ffn, split.tensor));
  }
  if (model.moe_layers() > 0) {
    add_experts(list, model, split, tokens);
  }
  return list;
}

}  // namespace inferometer
