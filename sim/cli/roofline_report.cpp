#include "sim/cli/roofline_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/suggest.hpp"
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

/// Calibrated times end in a star where they are no measured kernels', and else in a blank below it.
std::string marked(const std::string& time, const RooflineRow& row) {
  return time + (row.is_marked() ? "*" : " ");
}

std::string formats_of(const ModelSpec& model) {
  const bool has_own_experts = model.moe && model.moe->format != model.weight_format;
  return (model.weight_format == "bf16" ? "" : ", weights " + model.weight_format) +
         (has_own_experts ? ", experts " + model.moe->format : "") +
         (model.kv_bytes == 1 ? ", KV cache fp8" : "");
}

std::string level_of(const RooflineSetting& setting) {
  if (setting.level == CostLevel::calibrated) {
    return fmt::format("calibrated ({} kernels, fitted {})", setting.kernels->library, setting.kernels->date);
  }
  return std::string(to_string(setting.level)) +
         (setting.kernels ? "" : fmt::format(" (no {} kernels were measured on this GPU)", setting.library));
}

std::string heading(const RooflineSetting& setting, const std::string& step) {
  std::string text = fmt::format("{}{} on {}, {} GPU{}: {}\n", setting.model.name, formats_of(setting.model),
                                 setting.gpu.title, setting.split().gpus(),
                                 setting.split().gpus() == 1 ? "" : "s, figures of one of them", step);
  text += fmt::format(
      "bf16 {} TFLOPS, {} TB/s, ridge {:.1f} FLOP/B; roofs that bind are those of level {}\n\n",
      figure(setting.gpu.bf16_peak.count() / 1e12), figure(setting.gpu.hbm_bandwidth.count() / 1e12),
      setting.gpu.ridge_point(), level_of(setting));
  return text;
}

/// The farthest of each kernel and axis, above and below.
std::vector<Extrapolation> farthest(const std::vector<Extrapolation>& all) {
  std::vector<Extrapolation> list;
  for (const Extrapolation& one : all) {
    const auto same = std::find_if(list.begin(), list.end(), [&one](const Extrapolation& other) {
      return other.kernel == one.kernel && other.axis == one.axis && other.measured == one.measured;
    });
    if (same == list.end()) {
      list.push_back(one);
    } else if (one.factor() > same->factor()) {
      *same = one;
    }
  }
  return list;
}

/// What the stars stand for: how far from the measured range, and what else is no measured kernel.
std::string marks_text(const std::vector<RooflineRow>& rows) {
  std::vector<Extrapolation> beyond;
  std::vector<std::pair<std::string, std::vector<std::string>>> kernels_by_note;
  for (const RooflineRow& row : rows) {
    beyond.insert(beyond.end(), row.beyond.begin(), row.beyond.end());
    for (const PriceNote& note : row.notes) {
      auto group = std::find_if(kernels_by_note.begin(), kernels_by_note.end(),
                                [&note](const auto& entry) { return entry.first == note.what; });
      if (group == kernels_by_note.end()) {
        group = kernels_by_note.insert(group, {note.what, {}});
      }
      if (std::find(group->second.begin(), group->second.end(), note.kernel) == group->second.end()) {
        group->second.push_back(note.kernel);
      }
    }
  }
  std::string text;
  for (const Extrapolation& one : farthest(beyond)) {
    text += "* outside the measured range: " + to_text(one) + "\n";
  }
  for (const auto& [what, kernels] : kernels_by_note) {
    text += fmt::format("* {}: {}\n", what, join_alternatives(kernels, "and"));
  }
  return text;
}

std::string footer(const RooflineSetting& setting, const std::vector<RooflineRow>& rows) {
  std::string text =
      "\nGPU time without the host; level roofline has fitted efficiencies and kernel start-up.\n";
  if (setting.kernels) {
    text +=
        "Level calibrated takes each kernel's time from measurements; what nobody measures (sampling), from "
        "the "
        "roofline.\n" +
        marks_text(rows);
  }
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

constexpr const char* kTimeFields = "datasheet_us,roofline_us,calibrated_us";

std::string time_fields(const RooflineRow& row) {
  return fmt::format("{:.6f},{:.6f},{}", microseconds_of(row.datasheet), microseconds_of(row.fitted),
                     row.calibrated ? fmt::format("{:.6f}", microseconds_of(*row.calibrated)) : "");
}

Duration chosen_time(const RooflineSetting& setting, const RooflineRow& row) {
  if (setting.level == CostLevel::calibrated) {
    return *row.calibrated;
  }
  return setting.level == CostLevel::datasheet ? row.datasheet : row.fitted;
}

}  // namespace

std::string roofline_text(const RooflineSetting& setting, const std::string& step,
                          const std::vector<RooflineRow>& rows) {
  std::vector<Cells> lines{
      {"operator", "runs", "GFLOP", "MB", "FLOP/B", "ridge", "bound", "datasheet us", "roofline us"}};
  if (setting.kernels) {
    lines.front().emplace_back("calibrated us ");
  }
  lines.front().emplace_back("share");
  const Duration whole = chosen_time(setting, rows.back());
  for (const RooflineRow& row : rows) {
    // A collective moves its bytes over the link, not through memory.
    const Bytes bytes = row.ridge == 0 ? row.link_bytes : row.hbm_bytes;
    lines.push_back({row.name, fmt::format("{}", row.runs), gigaflops(row.flops), megabytes(bytes),
                     intensity_text(row), ridge_text(row.ridge), std::string(to_string(row.bound)),
                     microseconds_text(row.datasheet), microseconds_text(row.fitted)});
    if (row.calibrated) {
      lines.back().push_back(marked(microseconds_text(*row.calibrated), row));
    }
    lines.back().push_back(
        fmt::format("{:.1f} %", 100 * to_seconds(chosen_time(setting, row)) / to_seconds(whole)));
  }
  return heading(setting, step) + align_columns(lines, 1) + footer(setting, {rows.back()});
}

std::string sweep_text(const RooflineSetting& setting, const std::string& step, const std::string& swept,
                       const std::vector<SweepRow>& rows) {
  std::vector<Cells> lines{
      {swept, "tokens", "GFLOP", "MB", "FLOP/B", "ridge", "bound", "datasheet ms", "roofline ms"}};
  if (setting.kernels) {
    lines.front().emplace_back("calibrated ms ");
  }
  lines.front().insert(lines.front().end(), {"largest operator", "share"});
  std::vector<RooflineRow> steps;
  for (const SweepRow& row : rows) {
    lines.push_back({fmt::format("{}", row.value), fmt::format("{}", row.tokens), gigaflops(row.step.flops),
                     megabytes(row.step.hbm_bytes), intensity_text(row.step), ridge_text(row.step.ridge),
                     std::string(to_string(row.step.bound)), milliseconds_text(row.step.datasheet),
                     milliseconds_text(row.step.fitted)});
    if (row.step.calibrated) {
      lines.back().push_back(marked(milliseconds_text(*row.step.calibrated), row.step));
    }
    lines.back().insert(lines.back().end(), {row.largest, fmt::format("{:.1f} %", 100 * row.largest_share)});
    steps.push_back(row.step);
  }
  return heading(setting, step + fmt::format(", over {}", swept)) + align_columns(lines, 1) +
         footer(setting, steps);
}

std::string roofline_csv(const std::vector<RooflineRow>& rows) {
  std::string text = fmt::format("operator,runs,{},{}\n", kNumberFields, kTimeFields);
  for (const RooflineRow& row : rows) {
    text += fmt::format("{},{},{},{}\n", row.name, row.runs, number_fields(row), time_fields(row));
  }
  return text;
}

std::string sweep_csv(const std::string& swept, const std::vector<SweepRow>& rows) {
  std::string text =
      fmt::format("{},tokens,{},{},largest_operator,largest_share\n", swept, kNumberFields, kTimeFields);
  for (const SweepRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{:.6f}\n", row.value, row.tokens, number_fields(row.step),
                        time_fields(row.step), row.largest, row.largest_share);
  }
  return text;
}

}  // namespace inferometer
