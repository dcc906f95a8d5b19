// Runs of vLLM under inference-perf with a shared prefix, a row for each stage of constant rate.
//
// "constant" is how inference-perf calls arrivals with exponential gaps that are stretched to end at rate *
// duration (inference_perf/loadgen/load_timer.py, ConstantLoadTimer, read 2026-12): our poisson generator
// with its exact duration. Row -1 of an experiment is its stages together: its mean latencies are the stages'
// means weighted by requests. It is left out where the stages are there, so that no figure counts twice.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/config/decimal.hpp"
#include "base/text.hpp"
#include "base/text_input/csv_fields.hpp"
#include "sim/validation/formats/run_formats.hpp"
#include "sim/validation/run_settings.hpp"

namespace inferometer {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 7> kFigures = {{{"ttft_mean_ms", "mean_ttft_ms"},
                                                                          {"ttft_p90_ms", "p90_ttft_ms"},
                                                                          {"ttft_p99_ms", "p99_ttft_ms"},
                                                                          {"itl_mean_ms", "mean_itl_ms"},
                                                                          {"e2e_mean_ms", "mean_e2el_ms"},
                                                                          {"e2e_p90_ms", "p90_e2el_ms"},
                                                                          {"e2e_p99_ms", "p99_e2el_ms"}}};

// "2.5" or "2.5+6.0"; empty with a mistake for anything else.
std::vector<double> sums(CsvRows& row, const char* column) {
  const std::string field = row.needed_text(column);
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= field.size() && !field.empty();) {
    const std::size_t end = std::min(field.find('+', begin), field.size());
    const std::string part(trimmed(std::string_view(field).substr(begin, end - begin)));
    const bool is_number = !part.empty() && decimal_length(part) == part.size();
    const std::optional<double> value = is_number ? to_double(read_decimal(part), 0) : std::nullopt;
    if (!value || *value <= 0) {
      row.refuse(column, fmt::format("expected {} to be numbers above 0 with + between, found {}", column,
                                     quoted_excerpt(field)));
      return {};
    }
    values.push_back(*value);
    begin = end + 1;
  }
  return values;
}

void set_traffic(MeasuredRun& run, CsvRows& row) {
  const std::vector<double> rates = sums(row, "rate_rps");
  const std::vector<double> durations = sums(row, "duration_s");
  if (rates.size() != durations.size() && !rates.empty() && !durations.empty()) {
    row.refuse("duration_s", fmt::format("expected as many durations as rates, {}, found {}", rates.size(),
                                         durations.size()));
  }
  double requests = 0;
  double seconds = 0;
  for (std::size_t i = 0; i < std::min(rates.size(), durations.size()); ++i) {
    requests += std::floor(rates[i] * durations[i]);
    seconds += durations[i];
  }
  if (requests < 1 || requests > 1e9) {
    if (row.is_good()) {
      row.refuse("rate_rps",
                 fmt::format("expected rate times duration to be 1 to 1e9 requests, found {}", requests));
    }
    return;
  }
  set_poisson(run, rates.size() == 1 ? rates[0] : requests / seconds, static_cast<std::int64_t>(requests));
  if (rates.size() > 1) {
    run.notes.push_back(fmt::format("{} stages as one of their mean rate", rates.size()));
  }
}

// The tool makes groups * users prompts beforehand, each a group's system prompt and a question of its own,
// and sends them over and over: whoever caches prefixes computes each once. So all but its last token is a
// prefix here.
void set_prompts(MeasuredRun& run, CsvRows& row) {
  const std::int64_t system = row.count("system_prompt_len", 0).value_or(0);
  const std::int64_t question = row.needed_count("question_len");
  const std::optional<std::int64_t> groups = row.count("n_prefix_groups");
  const std::optional<std::int64_t> users = row.count("users_per_group");
  if (groups && users && system + question > 1) {
    set(run, "workload.shared_prefix.groups", *groups * *users);
    set_fixed(run, "shared_prefix.prefix", system + question - 1);
    set_fixed(run, "prompt", 1);
    return;
  }
  if (system > 0) {
    set(run, "workload.shared_prefix.groups", groups.value_or(1));
    set_fixed(run, "shared_prefix.prefix", system);
  }
  set_fixed(run, "prompt", question);
}

MeasuredRun read_row(CsvRows& row) {
  MeasuredRun run;
  const std::int64_t stage = row.count("stage_index", -1).value_or(0);
  const std::string label = row.text("dir").empty() ? row.needed_text("exp_id") : row.text("dir");
  run.name = stage < 0 ? label + " all stages" : fmt::format("{} stage {}", label, stage);
  run.source = row.source();
  run.engine.name = "vllm";
  set_model(run, row.needed_text("model"));
  set_gpu(run, row.needed_text("hardware"));
  set_parallel(run, "tensor_parallel", row.count("tp").value_or(1));
  for (const auto& [column, key] : {std::pair("max_num_seqs", "max_num_seqs"),
                                    std::pair("max_num_batched_tokens", "max_num_batched_tokens"),
                                    std::pair("total_kv_blocks", "num_gpu_blocks")}) {
    if (const std::optional<std::int64_t> value = row.count(column)) {
      set(run, fmt::format("engine.{}", key), *value);
    }
  }
  set_traffic(run, row);
  set_prompts(run, row);
  set_fixed(run, "output", row.needed_count("output_len"));
  if (row.text("multi_turn") == "True") {
    run.notes.emplace_back("said to be multi-turn; taken as prompts that do not grow, as latencies have it");
  }
  for (const auto& [column, metric] : kFigures) {
    if (const std::optional<double> value = row.positive(column)) {
      run.values.push_back({metric, *value});
    }
  }
  if (run.values.empty() && row.is_good()) {
    row.refuse("ttft_mean_ms", "expected a figure in ttft_mean_ms, itl_mean_ms or e2e_mean_ms, found none");
  }
  return run;
}

std::vector<MeasuredRun> read_rows(CsvRows& rows, const std::string& path, Diagnostics&) {
  struct Row {
    std::string experiment;
    bool is_all_stages;
    MeasuredRun run;
  };
  std::vector<Row> all;
  while (rows.next()) {
    const bool is_all_stages = rows.text("stage_index") == "-1";
    all.push_back({rows.text("exp_id") + " " + rows.text("dir"), is_all_stages, read_row(rows)});
    fill_from_path(all.back().run, path);
    MeasuredRun& run = all.back().run;
    run.group =
        fmt::format("vllm{}{} staged rates", run.engine.version.empty() ? "" : " ", run.engine.version);
  }
  std::vector<MeasuredRun> runs;
  for (Row& row : all) {
    const auto is_stage = [&](const Row& other) {
      return other.experiment == row.experiment && !other.is_all_stages;
    };
    const bool has_stages = std::any_of(all.begin(), all.end(), is_stage);
    if (row.is_all_stages && has_stages) {
      continue;
    }
    const auto is_sum = [&](const Row& other) {
      return other.experiment == row.experiment && other.is_all_stages;
    };
    if (std::any_of(all.begin(), all.end(), is_sum)) {
      row.run.notes.emplace_back("the file's row of all stages repeats this one and was left out");
    }
    runs.push_back(std::move(row.run));
  }
  return runs;
}

}  // namespace

CsvRunFormat inference_perf_format() {
  return {"inference-perf stages",
          {"exp_id", "model", "hardware", "question_len", "output_len", "stage_index", "rate_rps",
           "duration_s", "ttft_mean_ms"},
          read_rows};
}

}  // namespace inferometer
