#include "costmodel/cost_options.hpp"

#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/config/path_text.hpp"
#include "base/error.hpp"

namespace inferometer {
namespace {

void add_share(Table& table, const std::string& name, const std::string& sentence) {
  table.add(name, ValueType::number, sentence)
      .optional("the figure of the GPU's profile")
      .range("", "1")
      .above("0");
}

std::optional<double> share_from(const Values& values, const std::string& name) {
  return values.has(name) ? std::optional<double>(values.number(name)) : std::nullopt;
}

void replace(double& figure, const std::optional<double>& by) {
  figure = by.value_or(figure);
}

}  // namespace

std::vector<std::string> kernel_libraries() {
  return {"vllm", "tensorrt-llm"};
}

std::string_view to_string(CostLevel level) {
  switch (level) {
    case CostLevel::datasheet:
      return "datasheet";
    case CostLevel::roofline:
      return "roofline";
    case CostLevel::calibrated:
      return "calibrated";
  }
  check_failed("level", __FILE__, __LINE__, "unknown cost level");
}

// Host defaults: the low end of what is commonly reported for vLLM V1 without asynchronous scheduling, 0.5
// to 1.5 ms a step and about 5 us a sequence (as of 2026-11; no measurement stands behind them, so a user who
// has one should say it).
Table cost_model_table() {
  Table table("cost_model", "How the time of an engine step is found");
  table
      .add_choice(
          "level", {"datasheet", "roofline", "calibrated"},
          "datasheet: the larger of the compute and memory roofs; roofline: with fitted efficiencies and "
          "kernel start-up; calibrated: corrected by measured kernels, for GPUs that have a profile of the "
          "library "
          "(else roofline)")
      .by_default("calibrated");
  table.add_choice("kernels", kernel_libraries(), "Library whose measured kernels the level calibrated takes")
      .by_default("vllm");
  table
      .add("kernel_profile", ValueType::text,
           "Path of a profile of measured kernels that calibrate run or calibrate fit wrote, for the level "
           "calibrated")
      .optional("the shipped profile of the library");
  table.add("host_fixed", ValueType::duration, "Time of scheduler and launch on the host, each step")
      .by_default("500 us")
      .range("0 s", "1 s");
  table.add("host_per_sequence", ValueType::duration, "More host time for each sequence of the step")
      .by_default("5 us")
      .range("0 s", "100 ms");
  table.add("host_per_prefill_token", ValueType::duration, "More host time for each prompt token of the step")
      .by_default("0 s")
      .range("0 s", "1 ms");
  table
      .add(
          "frontend_latency", ValueType::duration,
          "From a client's sending of a request to the scheduler's queue (HTTP, tokenisation, the way to the "
          "engine): part of TTFT and E2E, holds nobody else up. It counts where requests enter: of pool "
          "prefill where prefill and decode are apart")
      .by_default("0 s")
      .range("0 s", "10 s");
  table
      .add("host_overlap", ValueType::flag,
           "true: the host prepares the next step meanwhile, and a step takes the longer of the two; false: "
           "the GPU "
           "waits for the host")
      .by_default("false");
  table
      .add("cuda_graphs", ValueType::flag,
           "true: a decode-only step is priced for the batch padded up to the next captured size (1, 2, 4, "
           "8..248 by "
           "8, 256..512 by 16, at most twice max_num_seqs); false: for the batch itself (gaps between "
           "kernels launched one by one are then to "
           "be put into host_fixed)")
      .by_default("true");
  add_share(table, "gemm_compute_efficiency", "Share of the compute peak that matrix products reach");
  add_share(table, "gemm_bandwidth_efficiency", "Share of the memory bandwidth that matrix products reach");
  add_share(table, "attention_compute_efficiency", "Share of the compute peak that attention reaches");
  add_share(table, "attention_bandwidth_efficiency", "Share of the memory bandwidth that attention reaches");
  add_share(table, "link_efficiency", "Share of the link bandwidth that collectives reach");
  return table;
}

namespace {

void choose_level_for_efficiencies(const Values& values, CostOptions& options) {
  if (options.level != CostLevel::calibrated) {
    return;
  }
  for (const char* share :
       {"gemm_compute_efficiency", "gemm_bandwidth_efficiency", "attention_compute_efficiency",
        "attention_bandwidth_efficiency", "link_efficiency"}) {
    if (!values.has(share)) {
      continue;
    }
    if (values.given("level")) {
      throw ConfigError(values.where(share),
                        std::string("cost_model.") + share +
                            " has no meaning at level calibrated, whose kernels were measured; "
                            "write level: roofline");
    }
    options.level = CostLevel::roofline;
  }
}

void take_kernel_profile(const Values& values, CostOptions& options) {
  if (!values.has("kernel_profile")) {
    return;
  }
  const auto refuse = [&](const std::string& why) {
    throw ConfigError(values.where("kernel_profile"), "cost_model.kernel_profile " + why);
  };
  if (options.level != CostLevel::calibrated) {
    refuse("has no meaning at level " + std::string(to_string(options.level)) +
           "; measured kernels belong to level calibrated");
  }
  if (values.given("kernels")) {
    refuse("and cost_model.kernels both choose kernels; give one of them");
  }
  options.kernel_profile = path_or_name(values, "kernel_profile");
}

CostLevel level_from(std::string_view word) {
  for (const CostLevel level : {CostLevel::datasheet, CostLevel::roofline}) {
    if (to_string(level) == word) {
      return level;
    }
  }
  return CostLevel::calibrated;
}

}  // namespace

CostOptions cost_options_from(const Values& values) {
  CostOptions options;
  options.level = level_from(values.text("level"));
  options.kernels = values.text("kernels");
  options.host_fixed = values.duration("host_fixed");
  options.host_per_sequence = values.duration("host_per_sequence");
  options.host_per_prefill_token = values.duration("host_per_prefill_token");
  options.frontend_latency = values.duration("frontend_latency");
  options.host_overlap = values.flag("host_overlap");
  options.cuda_graphs = values.flag("cuda_graphs");
  options.gemm_compute_efficiency = share_from(values, "gemm_compute_efficiency");
  options.gemm_bandwidth_efficiency = share_from(values, "gemm_bandwidth_efficiency");
  options.attention_compute_efficiency = share_from(values, "attention_compute_efficiency");
  options.attention_bandwidth_efficiency = share_from(values, "attention_bandwidth_efficiency");
  options.link_efficiency = share_from(values, "link_efficiency");
  choose_level_for_efficiencies(values, options);
  take_kernel_profile(values, options);
  return options;
}

std::optional<std::string> kernel_profile_file(const std::string& gpu, const CostOptions& options) {
  return options.kernel_profile.empty() ? kernel_profile_file(gpu, options.kernels) : options.kernel_profile;
}

std::optional<KernelProfile> kernel_profile(const std::string& gpu, const CostOptions& options) {
  if (options.kernel_profile.empty()) {
    return shipped_kernel_profile(gpu, options.kernels);
  }
  KernelProfile profile = read_kernel_profile(options.kernel_profile);
  if (profile.gpu != gpu) {
    throw ConfigError(Position{options.kernel_profile, 0, 0},
                      "this profile is of kernels on " + profile.gpu + ", the deployment is on " + gpu);
  }
  return profile;
}

Profile overridden(Profile profile, const CostOptions& options) {
  replace(profile.gemm.compute_efficiency, options.gemm_compute_efficiency);
  replace(profile.gemm.bandwidth_efficiency, options.gemm_bandwidth_efficiency);
  for (KernelEfficiency* attention : {&profile.prefill_attention, &profile.decode_attention}) {
    replace(attention->compute_efficiency, options.attention_compute_efficiency);
    replace(attention->bandwidth_efficiency, options.attention_bandwidth_efficiency);
  }
  for (LinkEfficiency& link : profile.all_reduce) {
    replace(link.link_efficiency, options.link_efficiency);
  }
  return profile;
}

}  // namespace inferometer
