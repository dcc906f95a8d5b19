#include "sim/study/plan/stage_prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/portable_math.hpp"
#include "costmodel/calibrated_decode.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {
namespace {

// Prices of attention lie on straight pieces between knots, whose slopes are whole picoseconds, rounded down.
constexpr double kSlopeRounding = 1 / kPicosecondsPerSecond;

// Straight between two knots of a length q + 2 p, the larger at most twice the smaller, a price falls below
// the work of a window that fills up between them: at worst where the window is sqrt(2) times the smaller
// one, to 2 (sqrt(2) - 1) of it.
constexpr double kChordOfWindow = 0.828;

// A straggler's prices are made longer before they are rounded up to a picosecond, ours afterwards: a
// picosecond each of operators that take nanoseconds at least.
constexpr double kRoundingOfStraggler = 1e-3;

/// Where corrections of prefill attention are taken up to `most`, and the next one: 1, 2, 3, 4, 6, 8, 12 ...
std::vector<double> knots_to(std::int64_t most) {
  std::vector<double> knots = {1};
  for (double power = 2;; power *= 2) {
    for (const double knot : {power, 1.5 * power}) {
      const bool is_beyond = knots.back() >= static_cast<double>(most);
      if (is_beyond) {
        return knots;
      }
      knots.push_back(knot);
    }
  }
}

std::int64_t most_step_tokens(const PoolDeployment& pool) {
  return std::max(pool.pricer_limits.max_tokens, pool.limits.max_num_seqs * pool.limits.max_model_len);
}

Parallelism tensor_group(Parallelism parallelism) {
  parallelism.pipeline = 1;
  parallelism.straggler = 1;
  return parallelism;
}

}  // namespace

StagePrices::StagePrices(const ModelSpec& stage, const PoolDeployment& pool, const CostOptions& options,
                         const Profile& profile, std::shared_ptr<const KernelProfile> kernels)
    : stage_(stage),
      split_(pool.parallelism.split()),
      tensor_parallel_(pool.parallelism.tensor),
      gpu_(std::make_shared<const GpuSpec>(pool.spec.gpu)),
      profile_(std::move(kernels)) {
  const double straggler = pool.parallelism.straggler;
  slow_ = straggler > 1 ? std::max(1.0, straggler * (1 - kRoundingOfStraggler)) : 1;
  const Parallelism group = tensor_group(pool.parallelism);
  const bool is_calibrated = profile_ != nullptr;
  const CostLevel level = options.level == CostLevel::datasheet ? CostLevel::datasheet : CostLevel::roofline;
  roofline_ = std::make_shared<const Roofline>(*gpu_, is_calibrated ? profile : overridden(profile, options),
                                               level, group);
  if (is_calibrated) {
    kernels_ = std::make_shared<const CalibratedKernels>(*profile_, *gpu_, *roofline_, options.resample);
    add_products(token_operators(stage_, split_, 1));
    add_products(row_operators(stage_, split_, 1));
  }
  for (const AttentionPart& part : attention_parts(stage_)) {
    add_attention(part, pool);
  }
  // The fullest rank has no less than the mean one.
  pair_seconds_ /= static_cast<double>(split_.attention_data);
  context_seconds_ /= static_cast<double>(split_.attention_data);
}

void StagePrices::add_attention(const AttentionPart& part, const PoolDeployment& pool) {
  const ChunkShape any_chunk{1, 0};
  const Operator pair = prefill_attention(part, tensor_parallel_, {&any_chunk, 1});
  const Operator context = decode_attention(
      part, tensor_parallel_, StepShape{.decodes = 1, .decode_context = 1, .decode_window_context = 1});
  const auto has_fit = [this](const Operator& work) {
    return kernels_ != nullptr && work.call && kernels_->choose(*work.call).fit != nullptr;
  };
  const auto layers = static_cast<double>(part.layers.layers);
  const Roofs prefill = roofline_->roofs(OperatorFamily::prefill_attention);
  PrefillAttention of_chunks{layers * to_seconds(prefill.start_up),
                             layers * pair.flops.count() / prefill.compute.count()};
  const std::optional<std::int64_t> window = part.layers.sliding_window;
  if (has_fit(pair)) {
    of_chunks = calibrated_prefill(pool, pair, window);
  }
  pair_seconds_ += of_chunks.per_pair;
  if (has_fit(context)) {
    context_seconds_ += calibrated_context_seconds(pool, context, window, of_chunks.start_up);
  } else {
    const Operator one_token = decode_attention(part.layers, tensor_parallel_, 0, 1, false);
    const Roofs roofs = roofline_->roofs(OperatorFamily::decode_attention);
    context_seconds_ +=
        layers * std::max(one_token.flops.count() / roofs.compute.count(),
                          static_cast<double>(one_token.hbm_bytes.count()) / roofs.bandwidth.count());
  }
}

void StagePrices::add_products(const std::vector<Operator>& operators) {
  for (const Operator& part : operators) {
    if (part.family == OperatorFamily::gemm && kernels_->choose(*part.call).fit != nullptr) {
      products_.emplace_back(part.name, CalibratedGemm(*kernels_, part));
    }
  }
}

// The lowest correction of all knots times the work: a correction between knots lies between theirs.
StagePrices::PrefillAttention StagePrices::calibrated_prefill(const PoolDeployment& pool,
                                                              const Operator& one_layer,
                                                              std::optional<std::int64_t> window) const {
  const ChosenFit chosen = kernels_->choose(*one_layer.call);
  double lowest = std::numeric_limits<double>::max();
  for (const double length : knots_to(2 * pool.limits.max_model_len)) {
    for (const double tokens : knots_to(most_step_tokens(pool))) {
      KernelCall call = *one_layer.call;
      call.axes[0] = tokens / length;
      call.axes[1] = length;
      call.axes[2] = 0;
      lowest = std::min(lowest, kernels_->correction(one_layer.name, chosen, call));
    }
  }
  RooflineConstants exact = chosen.fit->roofline;
  exact.overhang_tokens = 1;
  const RooflineParts of_one = roofline_parts(*one_layer.call, exact, *gpu_);
  const double factor = static_cast<double>(one_layer.repeats) * portable_exp(lowest);
  const double pair = factor * of_one.compute_s * (window ? kChordOfWindow : 1);
  return {factor * of_one.start_up_s, std::max(0.0, pair - kSlopeRounding)};
}

// For each batch, the price is straight between means that are powers of two, and the least of price /
// context is at the end of a piece. A step pays a launch of attention at least, that of the decodes or, in
// their stead, that of its chunks: without it few short sequences would cost nothing.
double StagePrices::calibrated_context_seconds(const PoolDeployment& pool, const Operator& one_layer,
                                               std::optional<std::int64_t> window,
                                               double prefill_start_up) const {
  const std::int64_t rows = pool.pricer_limits.max_rows;
  const CalibratedDecode attention(*kernels_, one_layer, rows);
  const auto seconds = [&attention](std::int64_t batch, std::int64_t context, bool beside_prefill) {
    StepCost cost;
    attention.add(batch, context, beside_prefill, cost);
    return to_seconds(cost.total());
  };
  const double launch = std::min(seconds(1, 1, false) - seconds(1, 1, true), prefill_start_up);
  const std::int64_t longest =
      std::min(pool.limits.max_model_len, window.value_or(pool.limits.max_model_len));
  double lowest = std::numeric_limits<double>::max();
  for (std::int64_t batch = 1; batch <= rows; ++batch) {
    bool is_last = false;
    for (std::int64_t mean = 1; !is_last; mean *= 2) {
      is_last = mean >= longest;
      const std::int64_t context = batch * std::min(mean, longest);
      lowest = std::min(lowest, (launch + seconds(batch, context, true)) / static_cast<double>(context));
    }
  }
  return std::max(0.0, lowest - kSlopeRounding);
}

RoofTimes StagePrices::time(const Operator& part) const {
  if (kernels_ == nullptr) {
    return roofline_->time(part);
  }
  const auto product = std::find_if(products_.begin(), products_.end(),
                                    [&part](const auto& named) { return named.first == part.name; });
  return product != products_.end()
             ? rounded(product->second.parts(static_cast<std::int64_t>(part.call->axes[0])))
             : kernels_->time(part);
}

double StagePrices::sum_of(const std::vector<Operator>& operators) const {
  double seconds = 0;
  for (const Operator& part : operators) {
    seconds += to_seconds(time(part).total()) * static_cast<double>(part.repeats);
  }
  return slow_ * seconds;
}

double StagePrices::token_seconds(std::int64_t tokens) const {
  return sum_of(token_operators(stage_, split_, tokens));
}

double StagePrices::row_seconds(std::int64_t rows) const {
  return sum_of(row_operators(stage_, split_, rows));
}

double StagePrices::seconds_per_token_beyond(std::int64_t tokens) const {
  if (split_.attention_data > 1) {
    return 0;  // a token more may be one that no rank had to wait for
  }
  double seconds = 0;
  for (const Operator& part : token_operators(stage_, split_, tokens)) {
    if (part.family == OperatorFamily::gemm) {
      // Where corrections may still change beyond, nothing is known.
      const KernelFit* const fit = kernels_ != nullptr ? kernels_->choose(*part.call).fit : nullptr;
      const bool changes = fit != nullptr && fit->trees.tree_count() > 0 &&
                           (fit->rows.empty() || fit->rows.back() > static_cast<double>(tokens));
      seconds += changes ? 0 : to_seconds(time(part).compute) * static_cast<double>(part.repeats);
    } else if (part.family == OperatorFamily::elementwise) {
      const RoofTimes times = time(part);
      seconds += to_seconds(std::max(times.compute, times.bandwidth)) * static_cast<double>(part.repeats);
    }
  }
  constexpr double kRoundedUp = 1 - 1e-6;  // a picosecond of microseconds
  return slow_ * kRoundedUp * seconds / static_cast<double>(tokens);
}

std::vector<StagePrices> stage_prices(const PoolDeployment& pool, const CostOptions& options) {
  const Profile profile = load_profile(pool.spec.gpu.name);
  std::shared_ptr<const KernelProfile> kernels;
  if (options.level == CostLevel::calibrated) {
    if (std::optional<KernelProfile> found = kernel_profile(pool.spec.gpu.name, options)) {
      kernels = std::make_shared<const KernelProfile>(std::move(*found));
    }
  }
  std::vector<StagePrices> stages;
  for (const ModelSpec& stage : stages_of(pool.spec.model, pool.parallelism.pipeline)) {
    stages.emplace_back(stage, pool, options, profile, kernels);
  }
  return stages;
}

}  // namespace inferometer
