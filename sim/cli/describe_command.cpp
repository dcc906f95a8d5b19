// `inferometer describe [SECTION]`: every key of a scenario, and what is built in.

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "costmodel/model_spec.hpp"
#include "hardware/cluster_spec.hpp"
#include "hardware/gpu_spec.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/plugin_option.hpp"
#include "sim/engine_arguments/engine_flag.hpp"
#include "sim/network/platform.hpp"
#include "sim/report/compare/metric_words.hpp"
#include "sim/router/router.hpp"
#include "sim/scenario/disaggregation.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scheduler/engine_preset.hpp"
#include "sim/study/compare/compare_study.hpp"
#include "sim/study/outcome.hpp"
#include "sim/study/plan/plan_spec.hpp"
#include "sim/validation/read_runs.hpp"
#include "workloads/presets.hpp"
#include "workloads/trace_reader.hpp"

namespace inferometer {
namespace {

std::string describe_models() {
  std::vector<std::vector<std::string>> rows{
      {"model", "parameters", "layers", "hidden", "heads", "KV heads", "KV B/token", "max context"}};
  for (const std::string& name : builtin_model_names()) {
    const ModelSpec model = load_model(name);
    rows.push_back({name, fmt::format("{:.3f} B", static_cast<double>(model.parameters()) / 1e9),
                    std::to_string(model.layers), std::to_string(model.hidden), std::to_string(model.heads),
                    std::to_string(model.kv_heads), std::to_string(model.kv_bytes_per_token().count()),
                    std::to_string(model.max_positions)});
  }
  return align_columns(rows, 1) +
         "\nAny Hugging Face config.json of these classes works as well (Llama, Mistral, Mixtral, Qwen and "
         "Qwen MoE,\n"
         "gpt-oss, Llama 4, DeepSeek V2 and V3): give its path, or that of its directory, as `model:`.\n";
}

std::string describe_gpus() {
  std::vector<std::vector<std::string>> rows{
      {"gpu", "name", "bf16 TFLOPS", "HBM GB", "HBM TB/s", "ridge FLOP/B", "$/h"}};
  for (const std::string& name : builtin_gpu_names()) {
    const GpuSpec gpu = load_gpu(name);
    rows.push_back({name, gpu.title, fmt::format("{:.0f}", gpu.bf16_peak.count() / 1e12),
                    fmt::format("{:.0f}", static_cast<double>(gpu.hbm_capacity.count()) / 1e9),
                    fmt::format("{:.3f}", gpu.hbm_bandwidth.count() / 1e12),
                    fmt::format("{:.0f}", gpu.ridge_point()), fmt::format("{:.2f}", gpu.price.count())});
  }
  return align_columns(rows, 2) +
         "\nSources and dates of all figures: hardware/gpus/*.yaml. A file of that form works as `gpu:` "
         "too.\n";
}

std::string describe_clusters() {
  std::vector<std::vector<std::string>> rows{
      {"cluster", "name", "gpu", "GPUs/node", "GPU GB/s", "oversubscription"}};
  for (const std::string& name : builtin_cluster_names()) {
    const ClusterSpec cluster = load_cluster(name);
    rows.push_back({name, cluster.title, cluster.gpu, std::to_string(cluster.node.gpus),
                    fmt::format("{:.0f}", cluster.node.gpu_bandwidth.count() / 1e9),
                    fmt::format("{:g}", cluster.fabric.oversubscription)});
  }
  return align_columns(rows, 3) +
         "\nGPU GB/s: from one GPU to the others of its node. Sources and dates of all figures:\n"
         "hardware/clusters/*.yaml. A file of that form works too.\n";
}

std::string describe_networks() {
  const std::string shared = "Transfers share links fairly with all others in flight: flows of SimGrid";
  const std::vector<std::vector<std::string>> rows{
      {"network", "what it knows"},
      {"ideal", "Each transfer has its links for itself: set-up, latency, bytes over the narrowest link"},
      {"simgrid", shared + (has_simgrid() ? "" : ", without which this program was built")},
      {"none", "Nothing takes time to cross"},
  };
  return align_columns(rows, 2) +
         "\nChosen by `network: {model: NAME}` in the section cluster of a scenario. Links are those of a\n"
         "description: inferometer describe clusters\n";
}

std::string describe_policies() {
  std::vector<std::vector<std::string>> rows{{"policy", "modelled on"}};
  for (const PolicyEntry& policy : policy_registry().entries()) {
    rows.push_back({policy.name, policy.summary});
  }
  rows.push_back({std::string(kDisaggregated), std::string(disaggregation_summary())});
  std::vector<std::vector<std::string>> systems{{"system of disaggregated", "what it does"}};
  for (const DisaggregatedSystem& system : disaggregated_systems()) {
    systems.push_back({system.name, system.summary});
  }
  return align_columns(rows, 2) + "\n" + align_columns(systems, 2) +
         "\nTheir parameters: inferometer describe engine\n";
}

std::string describe_routers() {
  const RouterRegistry& routers = router_registry();
  std::vector<std::vector<std::string>> rows{{"router", "how it chooses, and what it is modelled on"}};
  for (const RouterEntry& router : routers.entries()) {
    rows.push_back({router.name, router.summary});
  }
  return align_columns(rows, 2) + "\n" + describe(router_table(routers));
}

std::string describe_trace_formats() {
  std::vector<std::vector<std::string>> rows{{"trace format", "how a file of it begins"}};
  for (const TraceFormatSummary& format : trace_format_summaries()) {
    rows.push_back({format.name, format.looks_like});
  }
  return "\n" + align_columns(rows, 2) +
         "\nGive the file as `trace:`; its format is found from its first lines, and .gz is read as it is.\n"
         "A file of lengths alone needs a `rate:` beside it. Other columns are passed over.\n";
}

std::string describe_workloads() {
  return describe_presets() + describe_trace_formats();
}

std::string describe_compare() {
  std::vector<std::vector<std::string>> rows{{"metric", "what it is"}};
  for (const std::string& name : study_metric_names()) {
    rows.push_back({name, metric_heading(name)});
  }
  return describe(compare_table()) + "\n" + align_columns(rows, 2);
}

std::string describe_plan() {
  return describe(plan_table()) + candidates_help();
}

std::string describe_vllm_args() {
  return describe_flags(vllm_program()) +
         "\nFor: inferometer run SCENARIO --vllm-args \"serve MODEL --tensor-parallel-size 4 ...\". The "
         "scenario "
         "has GPU\nand traffic, and what the command line does not say; --set goes over both.\n";
}

/// What is built in, by the name that `describe` takes.
struct Topic {
  const char* name;
  std::string (*text)();
};
constexpr std::array kTopics{
    Topic{"models", describe_models},       Topic{"gpus", describe_gpus},
    Topic{"clusters", describe_clusters},   Topic{"networks", describe_networks},
    Topic{"policies", describe_policies},   Topic{"routers", describe_routers},
    Topic{"workloads", describe_workloads}, Topic{"compare", describe_compare},
    Topic{"plan", describe_plan},           Topic{"presets", describe_engine_presets},
    Topic{"vllm-args", describe_vllm_args}, Topic{"runs", own_csv_help},
};

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) {
    names.emplace_back(topic.name);
  }
  return names;
}

std::string overview(const Table& scenario) {
  return describe(scenario) +
         fmt::format("\nMore: inferometer describe SECTION, with a section above or one of\n{}.\n",
                     join_alternatives(topic_names()));
}

std::string describe_section(const std::string& name) {
  const Table scenario = scenario_table(policy_registry());
  if (name.empty()) {
    return overview(scenario);
  }
  const auto topic =
      std::find_if(kTopics.begin(), kTopics.end(), [&](const Topic& each) { return each.name == name; });
  if (topic != kTopics.end()) {
    return topic->text();
  }
  std::vector<std::string> known = topic_names();
  for (const Key& key : scenario.keys()) {
    if (key.type != ValueType::section) {
      continue;
    }
    if (key.name == name) {
      return describe(*key.table);
    }
    known.push_back(key.name);
  }
  for (const std::string& preset : engine_preset_names()) {
    if (preset == name) {
      return describe_engine_preset(name);
    }
    known.push_back(preset);
  }
  throw ConfigError({}, "there is nothing called \"" + name + "\" to describe" + did_you_mean(name, known) +
                            " (known: " + join_alternatives(known) + ")");
}

}  // namespace

void add_describe_command(CLI::App& app) {
  struct Arguments {
    std::string section;
    bool json_schema = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("describe",
                         "Every key of a scenario and of a study; the models, GPUs, clusters, networks, "
                         "policies, engine presets, routers and workloads built in");
  command->add_option(
      "SECTION", arguments->section,
      fmt::format("{}, an engine preset, or a section of a scenario", fmt::join(topic_names(), ", ")));
  add_plugin_option(*command);
  command->add_flag("--json-schema", arguments->json_schema, "The scenario's JSON Schema, for editors");
  command->callback([arguments] {
    if (arguments->json_schema) {
      std::cout << json_schema(scenario_table(policy_registry()), "extends");
    } else {
      std::cout << describe_section(arguments->section);
    }
  });
}

}  // namespace inferometer
