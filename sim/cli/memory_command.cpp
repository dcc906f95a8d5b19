#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "costmodel/memory_footprint.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/expert_options.hpp"
#include "sim/cli/known_word.hpp"
#include "sim/cli/memory_report.hpp"

namespace inferometer {
namespace {

constexpr const char* kAll = "all";
/// GPUs up to which a replica is looked for that would do.
constexpr std::int64_t kMostGpus = 64;
/// Beyond any context; keeps token arithmetic inside 64 bits.
constexpr std::int64_t kMaxContext = 1'000'000'000'000;

struct MemoryOptions {
  std::string model;
  std::string gpu;
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  ExpertOptions experts;
  std::int64_t context = 0;
  CLI::Option* context_option = nullptr;
  NumberFormats formats;
  MemorySettings settings;
  std::string kv_memory = "vllm";
  bool csv = false;
  bool json = false;
};

MemoryRow make_row(const ModelSpec& model, const GpuSpec& gpu, const MemoryOptions& options,
                   bool one_of_many) {
  MemoryRow row;
  row.model = model.name;
  row.gpu = gpu.name;
  row.tensor_parallel = options.tensor_parallel;
  row.pipeline_parallel = options.pipeline_parallel;
  row.attention_data_parallel = options.experts.attention_data_parallel;
  row.expert_parallel = options.experts.expert_parallel;
  row.quantization = options.formats.quantization;
  row.kv_cache_dtype = options.formats.kv_cache_dtype;
  row.gpu_memory_utilization = options.settings.gpu_memory_utilization;
  row.kv_memory = options.kv_memory;
  row.max_positions = model.max_positions;
  row.context = TokenCount(options.context_option->count() > 0 ? options.context : model.max_positions);
  row.smallest_fitting = smallest_fitting_tensor_parallel(model, gpu, options.settings, row.context);
  if (!row.smallest_fitting) {
    row.smallest_over_nodes =
        smallest_fitting_parallelism(model, gpu, kMostGpus, options.settings, row.context);
  }
  Parallelism parallelism = over_nodes(options.tensor_parallel);
  parallelism.pipeline = options.pipeline_parallel;
  options.experts.apply(parallelism);
  try {
    row.footprint = memory_footprint(model, gpu, parallelism, options.settings);
  } catch (const ConfigError& error) {
    // In a list over all models, one that cannot be split so is an entry, not the end of the list. The
    // settings are right: the call before this one has checked them.
    const std::int64_t least =
        std::min({options.tensor_parallel, options.pipeline_parallel, options.experts.attention_data_parallel,
                  options.experts.expert_parallel});
    if (!one_of_many || least < 1) {
      throw;
    }
    row.cannot_split = error.diagnostics().front().message;
  }
  return row;
}

void run_memory(MemoryOptions& options) {
  require_known("--kv-memory", options.kv_memory, {kKvMemoryWords.begin(), kKvMemoryWords.end()});
  options.settings.kv_memory = kv_memory(options.kv_memory);
  if (options.context_option->count() > 0 && (options.context < 1 || options.context > kMaxContext)) {
    throw ConfigError(Position{}, fmt::format("--context {} is not a whole number of tokens from 1 to {}",
                                              options.context, kMaxContext));
  }
  const bool all_models = options.model == kAll;
  const bool all_gpus = options.gpu == kAll;
  std::vector<MemoryRow> rows;
  for (const std::string& model_name : all_models ? builtin_model_names() : std::vector{options.model}) {
    const ModelSpec model = load_model(model_name);
    for (const std::string& gpu_name : all_gpus ? builtin_gpu_names() : std::vector{options.gpu}) {
      const GpuSpec gpu = load_gpu(gpu_name);
      rows.push_back(make_row(options.formats.apply(model, gpu), gpu, options, all_models || all_gpus));
    }
  }
  std::string text;
  if (options.csv) {
    text = memory_csv(rows);
  } else if (options.json) {
    text = memory_json(rows);
  } else if (all_models && all_gpus) {
    text = memory_matrix(rows);
  } else {
    text = all_models || all_gpus ? memory_table(rows) : memory_text(rows.front());
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_memory_command(CLI::App& app) {
  const auto options = std::make_shared<MemoryOptions>();
  CLI::App* command = app.add_subcommand("memory", "What fits on the GPUs: weights, activations, KV cache");
  command->add_option("--model", options->model, "Built-in name, config.json, its directory, or \"all\"")
      ->required();
  command->add_option("--gpu", options->gpu, "Built-in name, YAML file, or \"all\"")->required();
  command
      ->add_option("--tensor-parallel", options->tensor_parallel,
                   "GPUs over which every layer is split; more than 8 span nodes")
      ->capture_default_str();
  command
      ->add_option("--pipeline-parallel", options->pipeline_parallel,
                   "Stages over which the layers are spread, each on so many GPUs")
      ->capture_default_str();
  options->experts.add_options(*command);
  options->formats.add_options(*command);
  options->context_option =
      command->add_option("--context", options->context,
                          "Tokens of the sequences to count (default: the longest the model was made for)");
  command
      ->add_option("--max-num-batched-tokens", options->settings.max_num_batched_tokens,
                   "Tokens of a step at most")
      ->capture_default_str();
  command->add_option("--max-num-seqs", options->settings.max_num_seqs, "Sequences of a step at most")
      ->capture_default_str();
  command
      ->add_option("--gpu-memory-utilization", options->settings.gpu_memory_utilization,
                   "Share of the GPU's memory that the engine takes")
      ->capture_default_str();
  command
      ->add_option(
          "--kv-memory", options->kv_memory,
          "Whose arithmetic finds the memory for KV: vllm, sglang (activations lie outside the share) "
          "or trtllm (the share is of what the rest leaves)")
      ->capture_default_str();
  command->add_option("--block-size", options->settings.block_size, "Tokens of a KV cache block")
      ->capture_default_str();
  CLI::Option* csv = command->add_flag("--csv", options->csv, "A line of values for each model and GPU");
  command->add_flag("--json", options->json, "The same as a JSON array")->excludes(csv);
  command->callback([options] { run_memory(*options); });
}

}  // namespace inferometer
