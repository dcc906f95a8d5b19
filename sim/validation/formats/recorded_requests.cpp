// A folder of one run whose requests were recorded one by one: exp-config.yaml, how the engine was started,
// and requests.csv, when each request came and what became of it. Replayed as they came.

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/config/config_node.hpp"
#include "base/config/decimal.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "sim/validation/formats/run_formats.hpp"
#include "sim/validation/run_settings.hpp"

namespace inferometer {
namespace {

constexpr double kMsOfSecond = 1000;

struct Key {
  const char* name;
  const char* setting;  // "" = read elsewhere
};

constexpr Key kKeys[] = {{"tensor_parallelism", "hardware.tensor_parallel"},
                         {"pipeline_parallelism", "hardware.pipeline_parallel"},
                         {"max_model_len", "engine.max_model_len"},
                         {"max_num_batched_tokens", "engine.max_num_batched_tokens"},
                         {"max_num_seqs", "engine.max_num_seqs"},
                         {"total_kv_blocks", "engine.num_gpu_blocks"}};

// Of exp-config.yaml; other keys than these are of the experiment's own and say nothing of the engine.
void read_config(MeasuredRun& run, const std::string& path, Diagnostics& mistakes) {
  const ConfigNode config = read_yaml_file(path);
  const ConfigNode* model = config.find("model");
  if (model == nullptr || model->kind != ConfigNode::Kind::scalar || model->scalar.empty()) {
    mistakes.add(config.where, "expected the key model with the model's Hugging Face id, found none");
    return;
  }
  set_model(run, model->scalar);
  for (const char* name : {"gpu", "hardware"}) {
    if (const ConfigNode* gpu = config.find(name); gpu != nullptr && !gpu->scalar.empty()) {
      set_gpu(run, gpu->scalar);
      break;
    }
  }
  for (const Key& key : kKeys) {
    const ConfigNode* node = config.find(key.name);
    if (node == nullptr) {
      continue;
    }
    const bool is_number = decimal_length(node->scalar) == node->scalar.size() && !node->scalar.empty();
    const IntegerResult value = is_number ? to_integer(read_decimal(node->scalar), 0, 1) : IntegerResult{};
    if (value.fault != IntegerFault::none || value.value < 1) {
      mistakes.add(node->where, fmt::format("expected {} to be a whole number from 1, found {}", key.name,
                                            quoted_excerpt(node->scalar)));
      continue;
    }
    set(run, key.setting, value.value);
  }
}

MeasuredRequest read_request(CsvRows& row) {
  MeasuredRequest request;
  if (row.text("arrival_s").empty()) {
    row.needed_text("arrival_s");
  }
  request.arrival_s = row.from_zero("arrival_s").value_or(0);
  request.prompt_tokens = row.needed_count("prompt_tokens", 1, std::int64_t{1} << 20);
  request.output_tokens = row.needed_count("completion_tokens", 1, std::int64_t{1} << 20);
  const std::optional<double> ttft_s = row.positive("ttft_s");
  const std::optional<double> e2e_s = row.positive("e2e_s");
  if (ttft_s && e2e_s && *e2e_s < *ttft_s) {
    row.refuse("e2e_s", fmt::format("expected e2e_s to be at least ttft_s, {}, found {}", *ttft_s, *e2e_s));
  }
  if (ttft_s) {
    request.ttft_ms = kMsOfSecond * *ttft_s;
  }
  if (e2e_s) {
    request.e2e_ms = kMsOfSecond * *e2e_s;
  }
  if (ttft_s && e2e_s && request.output_tokens > 1) {
    request.itl_ms_mean = kMsOfSecond * (*e2e_s - *ttft_s) / static_cast<double>(request.output_tokens - 1);
  }
  return request;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// TTFTs of requests that found nobody: all that came before have their answers.
std::vector<double> lone_ttfts(const std::vector<MeasuredRequest>& requests) {
  std::vector<double> lone;
  double busy_until_s = 0;
  for (const MeasuredRequest& request : requests) {
    if (!request.e2e_ms || !request.ttft_ms) {
      return {};  // without every end, nobody knows who was alone
    }
    if (lone.empty() || request.arrival_s >= busy_until_s) {
      lone.push_back(*request.ttft_ms);
    }
    busy_until_s = std::max(busy_until_s, request.arrival_s + *request.e2e_ms / kMsOfSecond);
  }
  return lone;
}

void add_values(MeasuredRun& run) {
  std::vector<double> ttft, tpot, e2e;
  double decode_ms = 0;
  double gaps = 0;
  for (const MeasuredRequest& request : run.requests) {
    if (request.ttft_ms) {
      ttft.push_back(*request.ttft_ms);
    }
    if (request.e2e_ms) {
      e2e.push_back(*request.e2e_ms);
    }
    if (request.itl_ms_mean) {
      tpot.push_back(*request.itl_ms_mean);
      decode_ms += *request.itl_ms_mean * static_cast<double>(request.output_tokens - 1);
      gaps += static_cast<double>(request.output_tokens - 1);
    }
  }
  const auto add = [&](const char* metric, double value) {
    if (value > 0) {
      run.values.push_back({metric, value});
    }
  };
  if (const std::vector<double> lone = lone_ttfts(run.requests); !lone.empty()) {
    add(kLoneTtft, median_of(lone));
  }
  if (!ttft.empty()) {
    add("mean_ttft_ms", mean_of(ttft));
  }
  if (!tpot.empty()) {
    add("mean_tpot_ms", mean_of(tpot));
    add("mean_itl_ms", decode_ms / gaps);
  }
  if (!e2e.empty()) {
    add("mean_e2el_ms", mean_of(e2e));
  }
}

std::vector<MeasuredRun> read_folder(CsvRows& rows, const std::string& path, Diagnostics& mistakes) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::filesystem::path config = folder / "exp-config.yaml";
  if (!std::filesystem::exists(config)) {
    throw ConfigError({path, 0, 0},
                      fmt::format("expected exp-config.yaml beside it, which says what was measured; "
                                  "found no {}",
                                  config.string()));
  }
  MeasuredRun run;
  run.name = folder.filename().string();
  run.source = path;
  run.engine.name = "vllm";
  read_config(run, config.string(), mistakes);
  fill_from_path(run, path);
  run.group =
      fmt::format("vllm{}{} recorded requests", run.engine.version.empty() ? "" : " ", run.engine.version);
  while (rows.next()) {
    run.requests.push_back(read_request(rows));
  }
  std::stable_sort(
      run.requests.begin(), run.requests.end(),
      [](const MeasuredRequest& a, const MeasuredRequest& b) { return a.arrival_s < b.arrival_s; });
  if (run.requests.empty() && mistakes.empty()) {
    mistakes.add({path, 0, 0}, "expected requests, found none");
  }
  add_values(run);
  std::vector<MeasuredRun> runs;
  runs.push_back(std::move(run));
  return runs;
}

}  // namespace

CsvRunFormat recorded_requests_format() {
  return {"requests one by one",
          {"arrival_s", "prompt_tokens", "completion_tokens", "ttft_s", "e2e_s"},
          read_folder};
}

}  // namespace inferometer
