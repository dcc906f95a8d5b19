#include "sim/cli/roofline_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace inferometer {
namespace {

using Cells = std::vector<std::string>;

/// Three significant digits at least, and no exponent: 0.00123, 4.56, 12345.
std::string figure(double value) {
  if (value == 0) {
    return "0";
  }
  int decimals = 2;
  double leading = std::abs(value);
  for (; leading >= 10 && decimals > 0; leading /= 10) {
    --decimals;
  }
  for (; leading < 1; leading *= 10) {
    ++decimals;
  }
  return fmt::format("{:.{}f}", value, decimals);
}

std::string gigaflops(Flops flops) {
  return figure(flops.count() / 1e9);
}
std::string megabytes(Bytes bytes) {
  return figure(static_cast<double>(bytes.count()) / 1e6);
}
double microseconds_of(Duration time) {
  return to_milliseconds(time) * 1e3;
}
std::string microseconds_text(Duration time) {
  return fmt::format("{:.1f}", microseconds_of(time));
}
std::string milliseconds_text(Duration time) {
  return fmt::format("{:.3f}", to_milliseconds(time));
}
std::string ridge_text(double ridge) {
  return ridge == 0 ? "-" : fmt::format("{:.0f}", ridge);
}
std::string intensity_text(const RooflineRow& row) {
  return row.ridge == 0 ? "-" : figure(row.intensity());
}

std::string heading(const RooflineSetting& setting, const std::string& step) {
  std::string text =
      fmt::format("{} on {}, {} GPU{}: {}\n", setting.model.name, setting.gpu.title, setting.tensor_parallel,
                  setting.tensor_parallel == 1 ? "" : "s, figures of one of them", step);
  text += fmt::format(
      "bf16 {} TFLOPS, {} TB/s, ridge {:.1f} FLOP/B; roofs that bind are those of level {}\n\n",
      figure(setting.gpu.bf16_peak.count() / 1e12), figure(setting.gpu.hbm_bandwidth.count() / 1e12),
      setting.gpu.ridge_point(), to_string(setting.level));
  return text;
}

std::string footer(const RooflineSetting& setting) {
  std::string text =
      "\nGPU time without the host; level roofline has fitted efficiencies and kernel start-up.\n";
  if (!setting.profile.assumed_sections.empty()) {
    text += fmt::format("Not measured on this GPU but assumed from a related one (profile {}): {}.\n",
                        setting.profile.gpu, fmt::join(setting.profile.assumed_sections, ", "));
  }
  return text;
}

constexpr const char* kNumberFields = "flops,hbm_bytes,link_bytes,flops_per_byte,ridge_flops_per_byte,bound";

std::string number_fields(const RooflineRow& row) {
  return fmt::format("{:.0f},{},{},{:.6g},{:.6g},{}", row.flops.count(), row.hbm_bytes.count(),
                     row.link_bytes.count(), row.intensity(), row.ridge, to_string(row.bound));
}

std::string time_fields(const RooflineRow& row) {
  return fmt::format("{:.6f},{:.6f}", microseconds_of(row.datasheet), microseconds_of(row.fitted));
}

}  // namespace

std::string roofline_text(const RooflineSetting& setting, const std::string& step,
                          const std::vector<RooflineRow>& rows) {
  std::vector<Cells> lines{{"operator", "runs", "GFLOP", "MB", "FLOP/B", "ridge", "bound", "datasheet us",
                            "roofline us", "share"}};
  const Duration whole = setting.level == CostLevel::datasheet ? rows.back().datasheet : rows.back().fitted;
  for (const RooflineRow& row : rows) {
    const Duration time = setting.level == CostLevel::datasheet ? row.datasheet : row.fitted;
    // A collective moves its bytes over the link, not through memory.
    const Bytes bytes = row.ridge == 0 ? row.link_bytes : row.hbm_bytes;
    lines.push_back({row.name, fmt::format("{}", row.runs), gigaflops(row.flops), megabytes(bytes),
                     intensity_text(row), ridge_text(row.ridge), std::string(to_string(row.bound)),
                     microseconds_text(row.datasheet), microseconds_text(row.fitted),
                     fmt::format("{:.1f} %", 100 * to_seconds(time) / to_seconds(whole))});
  }
  return heading(setting, step) + align_columns(lines, 1) + footer(setting);
}

std::string sweep_text(const RooflineSetting& setting, const std::string& step, const std::string& swept,
                       const std::vector<SweepRow>& rows) {
  std::vector<Cells> lines{{swept, "tokens", "GFLOP", "MB", "FLOP/B", "ridge", "bound", "datasheet ms",
                            "roofline ms", "largest operator", "share"}};
  for (const SweepRow& row : rows) {
    lines.push_back({fmt::format("{}", row.value), fmt::format("{}", row.tokens), gigaflops(row.step.flops),
                     megabytes(row.step.hbm_bytes), intensity_text(row.step), ridge_text(row.step.ridge),
                     std::string(to_string(row.step.bound)), milliseconds_text(row.step.datasheet),
                     milliseconds_text(row.step.fitted), row.largest,
                     fmt::format("{:.1f} %", 100 * row.largest_share)});
  }
  return heading(setting, step + fmt::format(", over {}", swept)) + align_columns(lines, 1) + footer(setting);
}

std::string roofline_csv(const std::vector<RooflineRow>& rows) {
  std::string text = fmt::format("operator,runs,{},datasheet_us,roofline_us\n", kNumberFields);
  for (const RooflineRow& row : rows) {
    text += fmt::format("{},{},{},{}\n", row.name, row.runs, number_fields(row), time_fields(row));
  }
  return text;
}

std::string sweep_csv(const std::string& swept, const std::vector<SweepRow>& rows) {
  std::string text = fmt::format("{},tokens,{},datasheet_us,roofline_us,largest_operator,largest_share\n",
                                 swept, kNumberFields);
  for (const SweepRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{:.6f}\n", row.value, row.tokens, number_fields(row.step),
                        time_fields(row.step), row.largest, row.largest_share);
  }
  return text;
}

}  // namespace inferometer
