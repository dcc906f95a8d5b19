// Our own CSV: what a run was and what came out, a row each, for whoever has figures in no tool's format.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "sim/validation/formats/run_formats.hpp"
#include "sim/validation/read_runs.hpp"
#include "sim/validation/run_settings.hpp"

namespace inferometer {
namespace {

struct Column {
  const char* name;
  const char* help;
};

constexpr std::array<Column, 20> kColumns = {{
    {"run", "required: name of the run, each another"},
    {"group", "runs that are summarised together; when absent, those of an engine's version"},
    {"engine", "vllm, sglang or trtllm"},
    {"version", "of the engine, such as 0.15.1"},
    {"month", "when it was measured, such as 2026-01, where the version is not known"},
    {"model", "required: a built-in model or its Hugging Face id"},
    {"gpu", "a built-in GPU or its usual name"},
    {"tensor_parallel", "GPUs over which layers are split, 1 when absent"},
    {"pipeline_parallel", "stages over which layers are spread, 1 when absent"},
    {"quantization", "of the weights: none, fp8, fp8_block, int4, mxfp4 or nvfp4"},
    {"kv_cache_dtype", "auto or fp8"},
    {"max_num_seqs", "most sequences running at once"},
    {"num_gpu_blocks", "KV blocks, as the engine logs them"},
    {"concurrency", "clients that each send a request when they have their answer"},
    {"rate", "requests a second, of Poisson arrivals; with neither, all requests come at once"},
    {"input", "required: tokens of a prompt, or LEAST-MOST when they are uniform; after the prefix"},
    {"output", "required: tokens of an output, or LEAST-MOST"},
    {"requests", "how many; when absent, ten for each client, at least 100, or 1000 of a rate"},
    {"prefix", "tokens that prompts share at their start"},
    {"prefix_groups", "groups that share different ones, 1 when absent"},
}};

bool is_known(const std::string& column) {
  const bool is_setting = column.find('.') != std::string::npos;
  return is_setting ||
         std::any_of(kColumns.begin(), kColumns.end(),
                     [&](const Column& known) { return column == known.name; }) ||
         std::find(measured_metrics().begin(), measured_metrics().end(), column) != measured_metrics().end();
}

void check_columns(const CsvRows& rows, const std::string& path, Diagnostics& mistakes) {
  std::vector<std::string> known = measured_metrics();
  for (const Column& column : kColumns) {
    known.emplace_back(column.name);
  }
  int at = 1;  // of a header without quotes and blanks
  for (const std::string& column : rows.columns()) {
    if (!is_known(column)) {
      mistakes.add(
          {path, 1, at},
          fmt::format("unknown column {}{}; expected a column of our own CSV, a figure such as mean_ttft_ms, "
                      "or a setting such as engine.max_num_seqs",
                      quoted_excerpt(column), did_you_mean(column, known)));
    }
    at += static_cast<int>(column.size()) + 1;
  }
  for (const char* needed : {"run", "input", "output"}) {
    if (!rows.has(needed)) {
      mistakes.add({path, 1, 0}, fmt::format("expected the column {}, found none such", needed));
    }
  }
}

// "512" or "400-600".
void read_lengths(MeasuredRun& run, CsvRows& row, const char* column, const char* which) {
  const std::string field = row.needed_text(column);
  const std::size_t dash = field.find('-', 1);
  if (dash == std::string::npos) {
    set_fixed(run, which, row.count(column, 1, 1 << 20).value_or(1));
    return;
  }
  std::array<std::int64_t, 2> ends = {0, 0};
  const std::array<std::string, 2> parts = {field.substr(0, dash), field.substr(dash + 1)};
  for (std::size_t i = 0; i < 2; ++i) {
    for (const char c : parts[i]) {
      ends[i] = c >= '0' && c <= '9' && ends[i] <= 1 << 20 ? ends[i] * 10 + (c - '0') : (1 << 21);
    }
  }
  if (ends[0] < 1 || ends[1] > 1 << 20 || ends[0] > ends[1]) {
    row.refuse(column,
               fmt::format("expected {} to be a number of tokens from 1 to 1048576, or LEAST-MOST, found {}",
                           column, quoted_excerpt(field)));
    return;
  }
  ends[0] == ends[1] ? set_fixed(run, which, ends[0]) : set_uniform(run, which, ends[0], ends[1]);
}

void read_traffic(MeasuredRun& run, CsvRows& row) {
  const std::optional<std::int64_t> clients = row.count("concurrency", 1, 1'000'000);
  const std::optional<double> rate = row.positive("rate");
  const std::optional<std::int64_t> requests = row.count("requests");
  if (clients && rate) {
    row.refuse("rate", "expected a rate or a concurrency, found both");
    return;
  }
  if (clients) {
    set_closed_loop(run, *clients, requests.value_or(std::max<std::int64_t>(10 * *clients, 100)));
  } else if (rate) {
    set_poisson(run, *rate, requests.value_or(1000));
  } else if (!row.text("requests").empty()) {
    set_all_at_once(run, requests.value_or(1));
  } else {
    row.refuse("requests",
               "expected a concurrency, a rate, or requests that come all at once, found none of them");
  }
  if (const std::optional<std::int64_t> prefix = row.count("prefix", 1, 1 << 20)) {
    set(run, "workload.shared_prefix.groups", row.count("prefix_groups").value_or(1));
    set_fixed(run, "shared_prefix.prefix", *prefix);
  }
}

void read_engine(MeasuredRun& run, CsvRows& row) {
  run.engine = {row.text("engine"), row.text("version"), row.text("month")};
  static const std::vector<std::string> engines = {"vllm", "sglang", "trtllm"};
  if (!run.engine.name.empty() &&
      std::find(engines.begin(), engines.end(), run.engine.name) == engines.end()) {
    row.refuse("engine",
               fmt::format("expected engine to be vllm, sglang or trtllm, found {}{}",
                           quoted_excerpt(run.engine.name), did_you_mean(run.engine.name, engines)));
  }
  run.group = row.text("group");
  if (run.group.empty()) {
    const std::string of = run.engine.version.empty() ? run.engine.month : run.engine.version;
    run.group =
        run.engine.name.empty() ? "runs" : fmt::format("{}{}{}", run.engine.name, of.empty() ? "" : " ", of);
  }
}

MeasuredRun read_row(CsvRows& row) {
  MeasuredRun run;
  run.name = row.needed_text("run");
  run.source = row.source();
  read_engine(run, row);
  set_model(run, row.needed_text("model"));
  if (const std::string gpu = row.text("gpu"); !gpu.empty()) {
    set_gpu(run, gpu);
  }
  set_parallel(run, "tensor_parallel", row.count("tensor_parallel", 1, 64).value_or(1));
  set_parallel(run, "pipeline_parallel", row.count("pipeline_parallel", 1, 64).value_or(1));
  if (const std::string quantization = row.text("quantization"); !quantization.empty()) {
    set_precision(run, quantization);
  }
  if (const std::string dtype = row.text("kv_cache_dtype"); !dtype.empty()) {
    set_text(run, "engine.kv_cache_dtype", dtype);
  }
  for (const char* key : {"max_num_seqs", "num_gpu_blocks"}) {
    if (const std::optional<std::int64_t> value = row.count(key)) {
      set(run, fmt::format("engine.{}", key), *value);
    }
  }
  read_lengths(run, row, "input", "prompt");
  read_lengths(run, row, "output", "output");
  read_traffic(run, row);
  for (const std::string& column : row.columns()) {
    if (column.find('.') != std::string::npos && !row.text(column).empty()) {
      set(run, column, row.text(column));
    }
  }
  for (const std::string& metric : measured_metrics()) {
    if (const std::optional<double> value = row.positive(metric)) {
      run.values.push_back({metric, *value});
    }
  }
  if (run.values.empty() && row.is_good()) {
    row.refuse("run", "expected a figure, such as mean_ttft_ms or output_throughput, found none in this row");
  }
  return run;
}

}  // namespace

CsvRunFormat own_csv_format() {
  return {"Inferometer runs",
          {"run", "model", "input", "output"},
          [](CsvRows& rows, const std::string& path, Diagnostics& mistakes) {
            check_columns(rows, path, mistakes);
            mistakes.throw_if_any();
            std::vector<MeasuredRun> runs;
            while (rows.next()) {
              runs.push_back(read_row(rows));
            }
            return runs;
          }};
}

std::string own_csv_help() {
  std::string text =
      "Measured runs as CSV, a row a run, columns in any order; an empty field is an absent one.\n\n";
  for (const Column& column : kColumns) {
    text += fmt::format("  {:<18}{}\n", column.name, column.help);
  }
  text += "  path.to.key       any setting of a scenario, such as engine.max_num_batched_tokens\n";
  text += "\nFigures, at least one in each row; times in ms, throughputs a second:\n\n";
  std::string line = " ";
  for (const std::string& metric : measured_metrics()) {
    if (line.size() + metric.size() > 100) {
      text += line + "\n";
      line = " ";
    }
    line += " " + metric;
  }
  return text + line + "\n";
}

}  // namespace inferometer
