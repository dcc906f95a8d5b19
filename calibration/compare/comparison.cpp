#include "calibration/compare/comparison.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/quantile.hpp"
#include "calibration/compare/representative_calls.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kAllCalls = "all";
constexpr double kOutermostShare = 0.1;  // the range of ratios leaves out as much at either end
constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

/// A call that both sides know.
struct Both {
  KernelCall call;
  double a_s, b_s;

  [[nodiscard]] double ratio() const { return b_s / a_s; }
  [[nodiscard]] double distance() const { return std::max(ratio(), 1 / ratio()); }
};

std::string kind_text(const KernelKind& kind) {
  return fmt::format("{} {}", to_string(kind.first), kind.second);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

bool is_compute_bound(const KernelCall& call, const GpuSpec& gpu) {
  const KernelWork work = kernel_work(call);
  return work.flops / peak(gpu, work.unit).count() > work.hbm_bytes / gpu.hbm_bandwidth.count();
}

RateUnit unit_of(const std::vector<Both>& calls, const GpuSpec& gpu) {
  if (calls.front().call.family == KernelFamily::host) {
    return RateUnit::none;
  }
  const auto compute_bound = std::count_if(calls.begin(), calls.end(),
                                           [&](const Both& one) { return is_compute_bound(one.call, gpu); });
  return 2 * compute_bound > static_cast<std::ptrdiff_t>(calls.size()) ? RateUnit::teraflops
                                                                       : RateUnit::gigabytes;
}

/// What a call does in a second of its time, in the unit.
double rate(const KernelCall& call, double seconds, RateUnit unit) {
  const KernelWork work = kernel_work(call);
  if (unit == RateUnit::teraflops) {
    return work.flops / seconds / kTera;
  }
  const bool is_collective = call.family == KernelFamily::collective;
  return (is_collective ? work.link_bytes : work.hbm_bytes) / seconds / kGiga;
}

ComparisonRow row_of(const KernelKind& kind, std::string_view region, const std::vector<Both>& calls,
                     const GpuSpec& gpu) {
  ComparisonRow row;
  row.family = kind.first;
  row.variant = kind.second;
  row.region = region;
  row.calls = static_cast<std::int64_t>(calls.size());
  row.unit = unit_of(calls, gpu);
  std::vector<double> ratios, a_rates, b_rates;
  for (const Both& one : calls) {
    ratios.push_back(one.ratio());
    if (row.unit != RateUnit::none) {
      a_rates.push_back(rate(one.call, one.a_s, row.unit));
      b_rates.push_back(rate(one.call, one.b_s, row.unit));
    }
  }
  std::sort(ratios.begin(), ratios.end());
  row.ratio_median = quantile(ratios, 0.5);
  row.ratio_p10 = quantile(ratios, kOutermostShare);
  row.ratio_p90 = quantile(ratios, 1 - kOutermostShare);
  if (row.unit != RateUnit::none) {
    row.a_rate = median(std::move(a_rates));
    row.b_rate = median(std::move(b_rates));
  }
  const Both& farthest = *std::max_element(
      calls.begin(), calls.end(), [](const Both& x, const Both& y) { return x.distance() < y.distance(); });
  row.farthest = farthest.call;
  row.farthest_a_seconds = farthest.a_s;
  row.farthest_b_seconds = farthest.b_s;
  return row;
}

/// The sum, then region by region in order of name.
void add_rows(const KernelKind& kind, const std::vector<Both>& calls, const GpuSpec& a_gpu,
              const GpuSpec& b_gpu, Comparison& comparison) {
  std::map<std::string_view, std::vector<Both>> by_region;
  std::vector<Both> as_it_happens;
  for (const Both& one : calls) {
    by_region[region_of(one.call, a_gpu)].push_back(one);
    if (!fits_in_l2(one.call, a_gpu) && !fits_in_l2(one.call, b_gpu)) {
      as_it_happens.push_back(one);
    }
  }
  if (!as_it_happens.empty()) {
    comparison.rows.push_back(row_of(kind, kAllCalls, as_it_happens, a_gpu));
  }
  for (const auto& [region, part] : by_region) {
    if (region != kAllCalls) {
      comparison.rows.push_back(row_of(kind, region, part, a_gpu));
    }
  }
}

/// "gemm bf16: 2 of 14 calls not measured by A"
void note_lacking(const KernelKind& kind, std::size_t count, std::size_t of, const std::string& why,
                  std::vector<std::string>& notes) {
  if (count > 0) {
    notes.push_back(fmt::format("{}: {} of {} calls {}", kind_text(kind), count, of, why));
  }
}

std::string lacking(const KernelTimes& side, std::string_view letter) {
  return side.is_profile() ? fmt::format("beyond the range of {}'s profile", letter)
                           : fmt::format("not measured by {}", letter);
}

/// Calls to ask both sides for.
std::vector<KernelCall> asked_calls(const KernelKind& kind, const KernelTimes& a, const KernelTimes& b) {
  if (a.is_profile() && b.is_profile()) {
    return representative_calls(kind.first, kind.second);
  }
  std::vector<KernelCall> calls = a.measured_calls(kind);
  const std::vector<KernelCall> of_b = b.measured_calls(kind);
  std::copy_if(of_b.begin(), of_b.end(), std::back_inserter(calls),
               [&](const KernelCall& call) { return a.is_profile() || !a.seconds(call); });
  return calls;
}

/// The calls of a kind that both know. What is left out is noted.
std::vector<Both> common_calls(const KernelKind& kind, const KernelTimes& a, const KernelTimes& b,
                               std::vector<std::string>& notes) {
  std::vector<Both> calls;
  std::size_t not_a = 0, not_b = 0, neither = 0;
  const std::vector<KernelCall> asked = asked_calls(kind, a, b);
  for (const KernelCall& call : asked) {
    const std::optional<double> a_s = a.seconds(call);
    const std::optional<double> b_s = b.seconds(call);
    not_a += !a_s && b_s ? 1 : 0;
    not_b += a_s && !b_s ? 1 : 0;
    neither += !a_s && !b_s ? 1 : 0;
    if (a_s && b_s) {
      calls.push_back({call, *a_s, *b_s});
    }
  }
  note_lacking(kind, not_a, asked.size(), lacking(a, "A"), notes);
  note_lacking(kind, not_b, asked.size(), lacking(b, "B"), notes);
  note_lacking(kind, neither, asked.size(), "beyond the range of both profiles", notes);
  return calls;
}

void require_rows(const KernelTimes& a, const KernelTimes& b, const Comparison& comparison) {
  if (!comparison.rows.empty()) {
    return;
  }
  std::string message = "nothing to compare: no call is known to both " + a.name() + " and " + b.name();
  for (const std::string& note : comparison.notes) {
    message += "; " + note;
  }
  throw ConfigError(Position{}, message);
}

nlohmann::ordered_json side_json(const KernelTimes& side) {
  return {{"name", side.name()}, {"description", side.description()}, {"gpu", side.gpu().name}};
}

nlohmann::ordered_json row_json(const ComparisonRow& row) {
  nlohmann::ordered_json json = {{"family", to_string(row.family)},
                                 {"dtype", row.variant},
                                 {"region", row.region},
                                 {"n", row.calls},
                                 {"rate_unit", nullptr},
                                 {"a_rate_median", nullptr},
                                 {"b_rate_median", nullptr},
                                 {"ratio_median", row.ratio_median},
                                 {"ratio_p10", row.ratio_p10},
                                 {"ratio_p90", row.ratio_p90},
                                 {"farthest",
                                  {{"call", to_string(row.farthest)},
                                   {"a_seconds", row.farthest_a_seconds},
                                   {"b_seconds", row.farthest_b_seconds}}}};
  if (row.unit != RateUnit::none) {
    json["rate_unit"] = to_string(row.unit);
    json["a_rate_median"] = row.a_rate;
    json["b_rate_median"] = row.b_rate;
  }
  return json;
}

}  // namespace

std::string_view to_string(RateUnit unit) {
  return unit == RateUnit::teraflops ? "TFLOP/s" : unit == RateUnit::gigabytes ? "GB/s" : "";
}

Comparison compare(const KernelTimes& a, const KernelTimes& b) {
  Comparison comparison;
  const std::vector<KernelKind> of_a = a.kinds(), of_b = b.kinds();
  std::set<KernelKind> kinds(of_a.begin(), of_a.end());
  kinds.insert(of_b.begin(), of_b.end());
  for (const KernelKind& kind : kinds) {
    const bool in_a = std::find(of_a.begin(), of_a.end(), kind) != of_a.end();
    const bool in_b = std::find(of_b.begin(), of_b.end(), kind) != of_b.end();
    if (!in_a || !in_b) {
      comparison.notes.push_back(fmt::format("{}: only {} has it", kind_text(kind), in_a ? "A" : "B"));
      continue;
    }
    const std::vector<Both> calls = common_calls(kind, a, b, comparison.notes);
    add_rows(kind, calls, a.gpu(), b.gpu(), comparison);
  }
  require_rows(a, b, comparison);
  return comparison;
}

std::string comparison_json(const KernelTimes& a, const KernelTimes& b, const Comparison& comparison) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ComparisonRow& row : comparison.rows) {
    rows.push_back(row_json(row));
  }
  const nlohmann::ordered_json json = {
      {"a", side_json(a)}, {"b", side_json(b)}, {"rows", rows}, {"notes", comparison.notes}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace inferometer
