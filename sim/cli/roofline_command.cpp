#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/expert_options.hpp"
#include "sim/cli/known_word.hpp"
#include "sim/cli/named_file.hpp"
#include "sim/cli/roofline_report.hpp"
#include "sim/cli/speculation_options.hpp"
#include "sim/cli/step_argument.hpp"

namespace inferometer {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  inferometer roofline --model llama-3-8b --gpu h100-sxm --decode 64@1024\n"
    "  inferometer roofline --model llama-3-8b --gpu a100-80gb-sxm --prefill 64x512 --level datasheet\n"
    "  inferometer roofline --model llama-3-8b --gpu h100-sxm --chunk 512@8192 --decode 64@1024\n"
    "  inferometer roofline --model llama-3-70b --gpu h100-sxm --tensor-parallel 8 --decode 1@4096 "
    "--sweep batch=1:512\n"
    "  inferometer roofline --model llama-3-8b --gpu h100-sxm --decode 64@1024 --speculate 4 --acceptance "
    "0.7 "
    "--method eagle\n"
    "  inferometer roofline --model llama-3-8b --gpu h100-sxm --decode 64@1024 --quantization fp8 "
    "--kv-cache-dtype fp8\n"
    "  inferometer roofline --model mixtral-8x7b --gpu h100-sxm --tensor-parallel 2 --decode 8@1024\n";

struct RooflineOptions {
  std::string model, gpu;
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  ExpertOptions experts;
  std::string prefill, chunk, decode, sweep;
  std::string level = "calibrated";
  std::string kernels = "vllm";
  std::string kernel_profile;
  NumberFormats formats;
  SpeculationOptions speculation;
  bool csv = false;
};

StepArgument step_from(const RooflineOptions& options) {
  StepArgument step;
  if (!options.prefill.empty()) {
    step.prefill = parse_prefill(options.prefill);
  }
  if (!options.chunk.empty()) {
    step.chunk = parse_chunk(options.chunk);
  }
  if (!options.decode.empty()) {
    step.decode = parse_decode(options.decode);
  }
  if (!step.prefill && !step.chunk && !step.decode) {
    throw ConfigError(
        Position{},
        "no step to price: give --prefill BATCHxLENGTH, --chunk SIZE@PAST or --decode BATCH@CONTEXT");
  }
  return step;
}

/// The level asked for; roofline in place of calibrated where no kernels were measured.
CostLevel level_from(const std::string& word, bool has_kernels) {
  require_known("--level", word, {"datasheet", "roofline", "calibrated"});
  if (word == to_string(CostLevel::datasheet)) {
    return CostLevel::datasheet;
  }
  return has_kernels && word == to_string(CostLevel::calibrated) ? CostLevel::calibrated
                                                                 : CostLevel::roofline;
}

std::string one_step(const RooflineSetting& setting, const StepArgument& step, bool csv) {
  const OwnedStepShape shape(step, setting.model.sliding_window);
  const std::vector<RooflineRow> rows = roofline_rows(setting, shape.shape());
  return csv ? roofline_csv(rows) : roofline_text(setting, to_text(step), rows);
}

std::string swept_steps(const RooflineSetting& setting, const StepArgument& step, const Sweep& sweep,
                        bool csv) {
  std::vector<SweepRow> rows;
  for (const std::int64_t value : sweep.values) {
    const OwnedStepShape shape(with_value(step, sweep.name, value), setting.model.sliding_window);
    rows.push_back(sweep_row(setting, value, shape.shape()));
  }
  return csv ? sweep_csv(sweep.name, rows) : sweep_text(setting, to_text(step), sweep.name, rows);
}

/// A CSV with a first column for the stage; one header for all.
std::string with_stage_column(const std::string& csv, std::size_t stage) {
  const std::size_t header_end = csv.find('\n') + 1;
  std::string text = stage == 1 ? "stage," + csv.substr(0, header_end) : "";
  for (std::size_t begin = header_end; begin < csv.size();) {
    const std::size_t end = csv.find('\n', begin) + 1;
    text += std::to_string(stage) + "," + csv.substr(begin, end - begin);
    begin = end;
  }
  return text;
}

/// One after the other, each under a heading of its own.
std::string all_stages(RooflineSetting setting, const StepArgument& step, const RooflineOptions& options) {
  const std::vector<ModelSpec> stages = stages_of(setting.model, options.pipeline_parallel);
  std::string text;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    setting.model = stages[i];
    const std::string one = options.sweep.empty()
                                ? one_step(setting, step, options.csv)
                                : swept_steps(setting, step, parse_sweep(options.sweep, step), options.csv);
    if (stages.size() == 1) {
      return one;
    }
    if (options.csv) {
      text += with_stage_column(one, i + 1);
      continue;
    }
    text += fmt::format("{}Stage {} of {}, {} layer{}\n", i == 0 ? "" : "\n", i + 1, stages.size(),
                        stages[i].layers, stages[i].layers == 1 ? "" : "s");
    text += one;
  }
  return text;
}

void run_roofline(const RooflineOptions& options) {
  const StepArgument step = step_from(options);
  RooflineSetting setting;
  require_known("--kernels", options.kernels, kernel_libraries());
  setting.gpu = load_gpu(options.gpu);
  setting.model = options.formats.apply(load_model(options.model), setting.gpu);
  CostOptions cost;
  cost.kernels = options.kernels;
  cost.kernel_profile = options.kernel_profile;
  setting.kernels = kernel_profile(setting.gpu.name, cost);
  setting.library = setting.kernels ? setting.kernels->library : options.kernels;
  setting.level = level_from(options.level, setting.kernels.has_value());
  if (!options.kernel_profile.empty() && setting.level != CostLevel::calibrated) {
    throw ConfigError(Position{}, "--kernel-profile has no meaning at level " + options.level +
                                      "; measured kernels belong to level calibrated");
  }
  setting.profile = load_profile(setting.gpu.name);
  setting.tensor_parallel = options.tensor_parallel;
  setting.attention_data_parallel = options.experts.attention_data_parallel;
  setting.expert_parallel = options.experts.expert_parallel;
  Parallelism parallelism = in_one_node(options.tensor_parallel);
  parallelism.pipeline = options.pipeline_parallel;
  options.experts.apply(parallelism);
  check_links(setting.model, parallelism);
  if (options.speculation.is_asked_for() && options.pipeline_parallel > 1) {
    throw ConfigError(Position{}, "--speculate goes with --pipeline-parallel 1");
  }
  const std::string text = options.speculation.is_asked_for()
                               ? options.speculation.report(setting, cost, step, options.sweep, options.csv)
                               : all_stages(setting, step, options);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_roofline_command(CLI::App& app) {
  const auto options = std::make_shared<RooflineOptions>();
  CLI::App* command = app.add_subcommand("roofline", "What binds a step, operator by operator");
  command->add_option("--model", options->model, "Built-in name, config.json, or its directory")->required();
  command->add_option("--gpu", options->gpu, "Built-in name, or YAML file")->required();
  command->add_option("--tensor-parallel", options->tensor_parallel, "GPUs over which every layer is split")
      ->capture_default_str();
  command
      ->add_option(
          "--pipeline-parallel", options->pipeline_parallel,
          "Stages over which the layers are spread: each is priced, and sends over links within a node")
      ->capture_default_str();
  options->experts.add_options(*command);
  CLI::Option* prefill = command->add_option("--prefill", options->prefill,
                                             "BATCHxLENGTH: whole prompts (LENGTH alone: one prompt)");
  command
      ->add_option("--chunk", options->chunk,
                   "SIZE@PAST: SIZE tokens of a prompt after PAST cached ones (SIZE alone: its first)")
      ->excludes(prefill);
  command
      ->add_option("--decode", options->decode,
                   "BATCH@CONTEXT: sequences that attend CONTEXT tokens each; may go beside --chunk")
      ->excludes(prefill);
  command->add_option(
      "--sweep", options->sweep,
      "NAME=FROM:TO[:xFACTOR|:+STEP]: a row for each value of one of the step's numbers (batch, "
      "length, size, past, context); doubles unless told otherwise");
  command
      ->add_option(
          "--level", options->level,
          "Whose roofs bind: datasheet, roofline or calibrated (roofline where no kernels of the library "
          "were measured on the GPU)")
      ->capture_default_str();
  CLI::Option* kernels =
      command
          ->add_option("--kernels", options->kernels,
                       "Library whose measured kernels level calibrated takes: vllm or tensorrt-llm")
          ->capture_default_str();
  command
      ->add_option("--kernel-profile", options->kernel_profile,
                   "Profile of kernels that calibrate run or calibrate fit wrote, in place of a shipped one")
      ->type_name("FILE")
      ->check(file_fault)
      ->excludes(kernels);
  options->formats.add_options(*command);
  options->speculation.add_options(*command);
  command->add_flag("--csv", options->csv, "Values with a header instead of a table");
  command->footer(kExamples);
  command->callback([options] { run_roofline(*options); });
}

}  // namespace inferometer
