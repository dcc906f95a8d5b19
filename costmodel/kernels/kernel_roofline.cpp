#include "costmodel/kernels/kernel_roofline.hpp"

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"
#include "costmodel/kernels/expert_load.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

double log_of(double size) {
  return portable_log(size);
}

/// Smallest power of two that holds a number, as its exponent: libraries choose kernels by it.
double power_of_two_above(double size) {
  int exponent = 0;
  for (double power = 1; power < size; power *= 2) {
    ++exponent;
  }
  return exponent;
}

/// How many rounds of the whole GPU so many tiles take, and how much of them is idle: both as logarithms.
void add_waves(KernelFeatures& features, double tiles, const GpuSpec& gpu) {
  const double waves = tiles / static_cast<double>(gpu.sm_count);
  features.add(log_of(waves));
  features.add(log_of(std::ceil(waves) / waves));
}

KernelFeatures gemm_features(const KernelCall& call, const GpuSpec& gpu) {
  const auto [m, n, k] = std::array{call.axes[0], call.axes[1], call.axes[2]};
  KernelFeatures features;
  features.add(log_of(m));
  features.add(log_of(n));
  features.add(log_of(k));
  features.add(log_of(m * n));
  features.add(log_of(n * k));
  features.add(log_of(m * n * k));
  features.add(log_of(datasheet_seconds(kernel_work(call), gpu)));
  features.add(power_of_two_above(m));
  // Tiles of matrix products: the smallest, the commonest, the largest that libraries use.
  constexpr std::array<std::array<double, 2>, 3> kTiles = {{{64, 64}, {128, 128}, {128, 256}}};
  for (const auto& [rows, columns] : kTiles) {
    add_waves(features, std::ceil(m / rows) * std::ceil(n / columns), gpu);
  }
  return features;
}

/// A chunk of q tokens after p cached ones attends as many pairs, with as many rows, as q / (q + 2 p) prompts
/// of q + 2 p tokens. Measurements know whole prompts.
KernelFeatures prefill_features(const KernelCall& call, const GpuSpec& gpu) {
  const auto [batch, tokens, past, heads, kv_heads, head_dim, window] = std::array{
      call.axes[0], call.axes[1], call.axes[2], call.axes[3], call.axes[4], call.axes[5], call.axes[6]};
  const double length = tokens + 2 * past;
  const double prompts = batch * tokens / length;
  KernelFeatures features;
  features.add(log_of(prompts));
  features.add(log_of(length));
  features.add(log_of(heads));
  features.add(log_of(kv_heads));
  features.add(log_of(heads / kv_heads));
  features.add(log_of(prompts * heads));
  features.add(log_of(prompts * kv_heads));
  features.add(log_of(kv_bytes(call)));
  features.add(log_of(batch * tokens * heads));
  features.add(log_of(datasheet_seconds(kernel_work(call), gpu)));
  features.add(head_dim);
  features.add(log_of(window > 0 ? std::min(window, length) : length));
  features.add(window > 0 ? 1 : 0);
  constexpr double kTileRows = 128;
  add_waves(features, batch * heads * std::ceil(tokens / kTileRows), gpu);
  return features;
}

KernelFeatures decode_features(const KernelCall& call, const GpuSpec& gpu) {
  const auto [batch, context, heads, kv_heads, head_dim, window] =
      std::array{call.axes[0], call.axes[1], call.axes[2], call.axes[3], call.axes[4], call.axes[5]};
  const double group = heads / kv_heads;
  KernelFeatures features;
  features.add(log_of(batch));
  features.add(log_of(kv_heads));
  features.add(log_of(heads));
  features.add(log_of(context));
  features.add(log_of(batch * kv_heads));
  features.add(log_of(batch * heads));
  features.add(log_of(group));
  features.add(power_of_two_above(group));
  features.add(log_of(kv_bytes(call)));
  features.add(log_of(datasheet_seconds(kernel_work(call), gpu)));
  features.add(head_dim);
  features.add(log_of(window > 0 ? std::min(window, context) : context));
  features.add(window > 0 ? 1 : 0);
  add_waves(features, batch * kv_heads, gpu);
  constexpr double kTileRows = 16;  // query heads of a group that share one tile of the smallest matrix unit
  add_waves(features, batch * kv_heads * std::ceil(group / kTileRows), gpu);
  return features;
}

/// Whole prompts stand for chunks as in prefill_features().
KernelFeatures mla_prefill_features(const KernelCall& call, const GpuSpec& gpu) {
  const auto [batch, tokens, past, heads] =
      std::array{call.axes[0], call.axes[1], call.axes[2], call.axes[3]};
  const double length = tokens + 2 * past;
  const double prompts = batch * tokens / length;
  KernelFeatures features;
  features.add(log_of(prompts));
  features.add(log_of(length));
  features.add(log_of(heads));
  features.add(log_of(prompts * heads));
  features.add(log_of(batch * tokens));
  features.add(log_of(batch * tokens * heads));
  features.add(log_of(datasheet_seconds(kernel_work(call), gpu)));
  constexpr double kTileRows = 128;
  add_waves(features, batch * heads * std::ceil(tokens / kTileRows), gpu);
  return features;
}

KernelFeatures mla_decode_features(const KernelCall& call, const GpuSpec& gpu) {
  const auto [batch, context, heads] = std::array{call.axes[0], call.axes[1], call.axes[2]};
  KernelFeatures features;
  features.add(log_of(batch));
  features.add(log_of(context));
  features.add(log_of(heads));
  features.add(log_of(batch * context));
  features.add(log_of(batch * heads));
  features.add(log_of(datasheet_seconds(kernel_work(call), gpu)));
  constexpr double kTileRows = 64;  // query heads that share a tile of keys
  add_waves(features, batch * std::ceil(heads / kTileRows), gpu);
  return features;
}

/// The work of experts as they are benchmarked: expert_load.hpp.
KernelWork moe_work_as_measured(const KernelCall& call, const ExpertLoad& load) {
  const auto [tokens, hidden, columns] = std::array{call.axes[0], call.axes[1], call.axes[2] / call.axes[5]};
  const WeightFormat& format = weight_format(call.variant);
  constexpr double kBytes = 2;  // of what lies between kernels
  return {.flops = 6 * load.rows() * hidden * columns,
          .hbm_bytes = format.weight_bytes * 3 * load.reached() * hidden * columns +
                       (format.input_bytes + kBytes) * tokens * hidden + 3 * kBytes * load.rows() * columns,
          .unit = format.unit};
}

/// The power of two that divides a number of columns, as its exponent: libraries have slow kernels for widths
/// that no tile divides. No tile is wider than 128.
double alignment(double columns) {
  double exponent = 0;
  for (double power = 2; power <= 128 && std::fmod(columns, power) == 0; power *= 2) {
    ++exponent;
  }
  return exponent;
}

/// Sizes first, then the load of this GPU's experts, then what tiles make of it: rows that are none, and
/// waves. Collectors of older tables gave skewed choices that are few to the first experts of the first GPU:
/// how few they are, and how many experts that reaches beside those of expert_load.hpp, lets a correction
/// tell.
KernelFeatures moe_features(const KernelCall& call, const GpuSpec& gpu) {
  const auto [tokens, hidden, experts, top_k, expert_parallel] =
      std::array{call.axes[0], call.axes[1], call.axes[3], call.axes[4], call.axes[6]};
  const double columns = call.axes[2] / call.axes[5];
  const double local_experts = experts / expert_parallel;  // libraries choose tiles by tokens for each
  const double choices = tokens * top_k;
  const ExpertLoad load = expert_load(call);
  const KernelWork work = moe_work_as_measured(call, load);
  const double compute_s = work.flops / peak(gpu, work.unit).count();
  const double bandwidth_s = work.hbm_bytes / gpu.hbm_bandwidth.count();
  KernelFeatures features;
  for (const double size : {tokens, expert_parallel, tokens * hidden, choices, choices * columns, columns,
                            local_experts, tokens / local_experts, work.flops, work.hbm_bytes,
                            choices / experts, std::min(choices, local_experts) / load.reached()}) {
    features.add(log_of(size));
  }
  features.add(call.axes[7]);
  features.add(alignment(columns));
  for (const double part : {load.rows(), load.reached(), load.fullest(), load.rows() / load.reached()}) {
    features.add(log_of(part));
  }
  features.add(log_of(std::max(compute_s, bandwidth_s)));
  features.add(log_of(compute_s / bandwidth_s));
  // Few rows wait for weights while many compute: roofs of each expert, one after the other.
  const double of_row = compute_s / load.rows();
  const double of_weights = bandwidth_s / load.reached();
  const double apart = load.sum([&](double rows) { return std::max(rows * of_row, of_weights); });
  features.add(log_of(apart / std::max(compute_s, bandwidth_s)));
  constexpr double kTileColumns = 128;
  for (const double tile : {16.0, 64.0, 128.0}) {
    const double tiles = load.sum([tile](double rows) { return std::ceil(rows / tile); });
    features.add(log_of(tiles * tile / load.rows()));
    if (tile > 16) {
      features.add(log_of(tiles * std::ceil(2 * columns / kTileColumns) / static_cast<double>(gpu.sm_count)));
    }
  }
  return features;
}

double units(const KernelCall& call) {
  switch (call.family) {
    case KernelFamily::decode_attention:
      return call.axes[0] * call.axes[3];
    case KernelFamily::mla_decode:
      return call.axes[0] * call.axes[2];
    case KernelFamily::host:
      return call.axes[0];
    default:
      return 0;
  }
}

/// FLOPs of the masked parts of tiles: half of T0 - 1 keys more for each query.
double overhang_flops(const KernelCall& call, double overhang_tokens) {
  if (call.family != KernelFamily::prefill_attention) {
    return 0;
  }
  const auto [batch, tokens, heads, head_dim] =
      std::array{call.axes[0], call.axes[1], call.axes[3], call.axes[5]};
  return 4 * batch * tokens * heads * head_dim * (overhang_tokens - 1) / 2;
}

}  // namespace

RooflineParts roofline_parts(const KernelCall& call, const RooflineConstants& constants, const GpuSpec& gpu) {
  const KernelWork work =
      call.family == KernelFamily::moe ? moe_work_as_measured(call, expert_load(call)) : kernel_work(call);
  const double link = gpu.nvlink_per_direction.value_or(gpu.pcie_per_direction).count();
  const double moved = call.family == KernelFamily::collective ? work.link_bytes / link
                                                               : work.hbm_bytes / gpu.hbm_bandwidth.count();
  return {constants.start_up_s + constants.per_unit_s * units(call),
          (work.flops + overhang_flops(call, constants.overhang_tokens)) /
              (peak(gpu, work.unit).count() * constants.compute_efficiency),
          moved / constants.bandwidth_efficiency};
}

KernelFeatures kernel_features(const KernelCall& call, const GpuSpec& gpu) {
  switch (call.family) {
    case KernelFamily::gemm:
      return gemm_features(call, gpu);
    case KernelFamily::prefill_attention:
      return prefill_features(call, gpu);
    case KernelFamily::decode_attention:
      return decode_features(call, gpu);
    case KernelFamily::moe:
      return moe_features(call, gpu);
    case KernelFamily::mla_prefill:
      return mla_prefill_features(call, gpu);
    case KernelFamily::mla_decode:
      return mla_decode_features(call, gpu);
    case KernelFamily::elementwise:
    case KernelFamily::collective:
    case KernelFamily::host:
      return {};
  }
  return {};
}

std::size_t feature_count(KernelFamily family) {
  KernelCall smallest{.family = family, .variant = std::string(info(family).variants.front())};
  smallest.axes.fill(1);
  GpuSpec any_gpu;
  any_gpu.sm_count = 1;
  return kernel_features(smallest, any_gpu).count;
}

}  // namespace inferometer
