#include "calibration/measure/kernel_goals.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;
constexpr std::string_view kBf16 = "bf16", kCopy = "copy";

// What makes a call large enough to show what a kernel can do.
constexpr double kLargeGemmFlops = 1e11;   // 100 us and more at the peak of any GPU here
constexpr double kLargeKvBytes = 200e6;    // several times the L2 cache of every GPU
constexpr double kLargeArrayBytes = 64e6;  // over the 50 MB of an H100's L2 cache

constexpr double kDecodeGoal = 0.85, kPrefillGoal = 0.6, kElementwiseGoal = 0.8;

// Median of large bf16 GEMMs of cuBLAS as vLLM calls it, in TFLOP/s: kernel measurements of
// ai-dynamo/aiconfigurator @095f58a5.
struct PublishedGemm {
  std::string_view gpu;
  double tflops;
};
constexpr PublishedGemm kPublishedGemms[] = {{"a100-80gb-sxm", 265}, {"h100-sxm", 784}, {"h200-sxm", 778}};

// FlashAttention on causal prompts with heads of 128 in bf16, in TFLOP/s by tokens: from the same source,
// FlashAttention 2 on A100, 3 on H100. H200 has the multiprocessors of H100.
struct FlashPoint {
  double tokens, tflops;
};
constexpr FlashPoint kFlash2OnA100[] = {{4096, 158}, {8192, 169}, {16384, 176}};
constexpr FlashPoint kFlash3OnH100[] = {{4096, 516}, {8192, 573}, {16384, 609}};
constexpr double kFlashHeadDim = 128;

struct FlashTable {
  std::string_view gpu, name;
  std::span<const FlashPoint> points;
};
constexpr FlashTable kFlashTables[] = {{"a100-80gb-sxm", "FlashAttention 2", kFlash2OnA100},
                                       {"h100-sxm", "FlashAttention 3", kFlash3OnH100},
                                       {"h200-sxm", "FlashAttention 3", kFlash3OnH100}};

template <typename Table>
auto row_of(const Table& table, std::string_view gpu) {
  const auto* const row = std::find_if(std::begin(table), std::end(table),
                                       [&](const auto& candidate) { return candidate.gpu == gpu; });
  return row == std::end(table) ? nullptr : row;
}

/// Straight between the table's lengths, in their logarithm. Precondition: within them.
double flash_rate(const FlashTable& table, double tokens) {
  const std::span<const FlashPoint> points = table.points;
  std::size_t above = 1;
  while (above + 1 < points.size() && points[above].tokens < tokens) {
    ++above;
  }
  const FlashPoint &low = points[above - 1], &high = points[above];
  const double along = std::log(tokens / low.tokens) / std::log(high.tokens / low.tokens);
  return kTera * (low.tflops + along * (high.tflops - low.tflops));
}

double axis(const KernelCall& call, std::string_view name) {
  return call.axes[axis_index(call.family, name)];
}

double bytes_per_second(const MeasuredKernel& point) {
  return kernel_work(point.call).hbm_bytes / point.seconds;
}

bool is_whole_long_prompt(const KernelCall& call) {
  const double tokens = axis(call, "tokens");
  return axis(call, "past") == 0 && axis(call, "window") == 0 && axis(call, "head_dim") == kFlashHeadDim &&
         tokens >= kFlash3OnH100[0].tokens && tokens <= kFlash3OnH100[2].tokens;
}

bool counts(const KernelCall& call) {
  switch (call.family) {
    case KernelFamily::gemm:
      return kernel_work(call).flops >= kLargeGemmFlops;
    case KernelFamily::prefill_attention:
      return is_whole_long_prompt(call);
    case KernelFamily::decode_attention:
      return kv_bytes(call) > kLargeKvBytes;
    case KernelFamily::elementwise:
      return kernel_work(call).hbm_bytes > kLargeArrayBytes;
    case KernelFamily::moe:
    case KernelFamily::mla_prefill:
    case KernelFamily::mla_decode:
    case KernelFamily::collective:
    case KernelFamily::host:
      return false;
  }
  return false;
}

/// Bytes a second of the largest copy; nothing when none of that size was measured.
std::optional<double> copy_rate(const Measurements& set) {
  const MeasuredKernel* largest = nullptr;
  for (const MeasuredKernel& point : set.points) {
    if (point.call.family == KernelFamily::elementwise && point.call.variant == kCopy && counts(point.call) &&
        (largest == nullptr || kernel_work(point.call).hbm_bytes > kernel_work(largest->call).hbm_bytes)) {
      largest = &point;
    }
  }
  return largest == nullptr ? std::nullopt : std::optional(bytes_per_second(*largest));
}

/// What the rate of a call is compared with.
struct Yardstick {
  std::optional<double> rate;
  std::string name;
  std::optional<double> goal_share;
};

Yardstick yardstick(const KernelCall& call, std::string_view gpu, std::optional<double> copy) {
  if (call.family == KernelFamily::gemm) {
    const PublishedGemm* const row = call.variant == kBf16 ? row_of(kPublishedGemms, gpu) : nullptr;
    return row == nullptr ? Yardstick{}
                          : Yardstick{kTera * row->tflops, "the published median", std::nullopt};
  }
  if (call.family == KernelFamily::prefill_attention) {
    const FlashTable* const row = call.variant == kBf16 ? row_of(kFlashTables, gpu) : nullptr;
    return row == nullptr
               ? Yardstick{}
               : Yardstick{flash_rate(*row, axis(call, "tokens")), std::string(row->name), kPrefillGoal};
  }
  // A copy is what the others are compared with.
  if (!copy || call.variant == kCopy) {
    return {};
  }
  const bool is_decode = call.family == KernelFamily::decode_attention;
  return {copy, "the device's copy", is_decode ? kDecodeGoal : kElementwiseGoal};
}

struct Compared {
  const MeasuredKernel* point;
  double rate;
  Yardstick yardstick;

  [[nodiscard]] double rank() const { return yardstick.rate ? rate / *yardstick.rate : rate; }
};

KernelGoal goal_of(std::vector<Compared> compared, bool is_bytes) {
  std::stable_sort(compared.begin(), compared.end(),
                   [](const Compared& a, const Compared& b) { return a.rank() < b.rank(); });
  const Compared& middle = compared[(compared.size() - 1) / 2];
  KernelGoal goal;
  goal.call = middle.point->call;
  goal.family = goal.call.family;
  goal.variant = goal.call.variant;
  goal.calls = static_cast<std::int64_t>(compared.size());
  goal.achieved = middle.rate;
  goal.is_bytes = is_bytes;
  goal.yardstick = middle.yardstick.rate;
  goal.yardstick_name = middle.yardstick.name;
  goal.goal_share = middle.yardstick.goal_share;
  if (goal.yardstick) {
    goal.lowest_share = compared.front().rank();
  }
  return goal;
}

std::string rate_text(double rate, bool is_bytes) {
  return is_bytes ? fmt::format("{:.0f} GB/s", rate / kGiga) : fmt::format("{:.1f} TFLOP/s", rate / kTera);
}

std::string percent_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "";
}

}  // namespace

std::optional<double> KernelGoal::share() const {
  return yardstick ? std::optional(achieved / *yardstick) : std::nullopt;
}

std::optional<bool> KernelGoal::is_met() const {
  return yardstick && goal_share ? std::optional(*share() >= *goal_share) : std::nullopt;
}

std::vector<KernelGoal> kernel_goals(const Measurements& set) {
  const std::optional<double> copy = copy_rate(set);
  std::map<std::pair<KernelFamily, std::string>, std::vector<Compared>> by_variant;
  for (const MeasuredKernel& point : set.points) {
    const KernelFamily family = point.call.family;
    if (!counts(point.call)) {
      continue;
    }
    const bool is_bytes = family == KernelFamily::decode_attention || family == KernelFamily::elementwise;
    const double rate = is_bytes ? bytes_per_second(point) : kernel_work(point.call).flops / point.seconds;
    by_variant[{family, point.call.variant}].push_back(
        {&point, rate, yardstick(point.call, set.header.gpu, copy)});
  }
  std::vector<KernelGoal> goals;
  for (auto& [key, compared] : by_variant) {
    const bool is_bytes =
        key.first == KernelFamily::decode_attention || key.first == KernelFamily::elementwise;
    goals.push_back(goal_of(std::move(compared), is_bytes));
  }
  return goals;
}

std::string goal_table(const std::vector<KernelGoal>& goals) {
  std::vector<std::vector<std::string>> rows = {
      {"family", "variant", "beside", "calls", "achieved", "yardstick", "share", "lowest", "goal", "met"}};
  for (const KernelGoal& goal : goals) {
    const std::optional<bool> is_met = goal.is_met();
    rows.push_back({std::string(to_string(goal.family)), goal.variant,
                    goal.yardstick_name.empty() ? "nothing known" : goal.yardstick_name,
                    std::to_string(goal.calls), rate_text(goal.achieved, goal.is_bytes),
                    goal.yardstick ? rate_text(*goal.yardstick, goal.is_bytes) : "",
                    percent_text(goal.share()), percent_text(goal.lowest_share),
                    percent_text(goal.goal_share), !is_met ? "" : (*is_met ? "yes" : "no")});
  }
  return align_columns(rows, 3);
}

std::vector<std::string> missed_goals(const std::vector<KernelGoal>& goals) {
  std::vector<std::string> sentences;
  for (const KernelGoal& goal : goals) {
    if (goal.is_met().value_or(true)) {
      continue;
    }
    const double slower = *goal.goal_share / *goal.share() - 1;
    sentences.push_back(
        fmt::format("{} {} reaches {}, {} of {} (goal {}): a profile from this kernel makes the GPU look {} "
                    "slower than it "
                    "is at {}",
                    to_string(goal.family), goal.variant, rate_text(goal.achieved, goal.is_bytes),
                    percent_text(goal.share()), goal.yardstick_name, percent_text(goal.goal_share),
                    percent_text(slower), to_string(goal.family)));
  }
  return sentences;
}

}  // namespace inferometer
