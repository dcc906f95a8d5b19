// What `vllm bench serve --save-result [--save-detailed]` and SGLang's bench_serving leave: vLLM one object a
// file, SGLang one a line. Neither says on what it ran; the user gives a scenario for that.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "sim/validation/formats/run_formats.hpp"
#include "sim/validation/json_figures.hpp"
#include "sim/validation/run_settings.hpp"

namespace inferometer {
namespace {

std::string text_of(const JsonObject& object, std::string_view key) {
  const nlohmann::json* value = object.find(key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

void read_model(MeasuredRun& run, const JsonObject& object) {
  for (const char* key : {"model_id", "model", "model_name"}) {
    if (const std::string model = text_of(object, key); !model.empty()) {
      set_model(run, model);
      return;
    }
  }
  run.notes.emplace_back("the file does not say the model: give model");
}

// SGLang names the engine it sent to, vLLM the endpoint ("vllm" stands for any OpenAI-like one).
void read_engine(MeasuredRun& run, const JsonObject& object) {
  const std::string backend = text_of(object, "backend");
  for (const char* engine : {"vllm", "sglang", "trtllm"}) {
    if (backend.compare(0, std::string_view(engine).size(), engine) == 0) {
      run.engine.name = engine;
    }
  }
  std::string date = text_of(object, "date");  // "20250914-015043"
  if (date.size() >= 6 &&
      std::all_of(date.begin(), date.begin() + 6, [](char c) { return c >= '0' && c <= '9'; })) {
    run.engine.month = date.substr(0, 4) + "-" + date.substr(4, 2);
  }
}

// With --save-detailed.
std::vector<std::int64_t> lengths_of(const JsonObject& object, std::string_view key) {
  std::vector<std::int64_t> lengths;
  const nlohmann::json* values = object.find(key);
  if (values == nullptr || !values->is_array()) {
    return lengths;
  }
  for (const nlohmann::json& value : *values) {
    if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > 1 << 20) {
      throw ConfigError(object.where(key),
                        fmt::format("expected {} to be whole numbers from 0 to 1048576, found {}", key,
                                    quoted_excerpt(value.dump())));
    }
    if (value.get<double>() >= 1) {  // 0 is of a request that failed
      lengths.push_back(static_cast<std::int64_t>(value.get<double>()));
    }
  }
  return lengths;
}

struct Lengths {
  const char* which;
  const char* total;
  const char* list;
  const char* asked;  // SGLang's random data set
};

// The longest output that was asked for, where the file's name has it as "out128" or "osl128"; 0 where it
// does not.
std::int64_t output_in_name(const std::string& name) {
  for (const std::string_view word : {"out", "osl"}) {
    const std::size_t at = name.find(word);
    std::int64_t tokens = 0;
    for (std::size_t i = at + word.size(); at != std::string::npos && i < name.size() && tokens <= 1 << 20;
         ++i) {
      if (name[i] < '0' || name[i] > '9') {
        break;
      }
      tokens = 10 * tokens + (name[i] - '0');
    }
    if (tokens > 0) {
      return tokens;
    }
  }
  return 0;
}

// Requests that may end by themselves: no two are alike, and clients do not go in step. Uniform about the
// mean, as far as the longest that was asked for.
void set_open_ended(MeasuredRun& run, std::int64_t mean) {
  const std::int64_t asked = output_in_name(run.name);
  const std::int64_t reach = asked >= mean ? std::min(mean - 1, asked - mean) : mean - 1;
  set_uniform(run, "output", mean - reach, mean + reach);
  run.notes.push_back(
      fmt::format("outputs end by themselves, at {} tokens on average; taken as uniform", mean));
}

void read_lengths(MeasuredRun& run, const JsonObject& object, const Lengths& of, std::int64_t completed) {
  const std::int64_t total = needed_count(object, of.total, 1);
  if (std::vector<std::int64_t> lengths = lengths_of(object, of.list); !lengths.empty()) {
    set_lengths(run, of.which, std::move(lengths));
    return;
  }
  const std::optional<double> asked = number_of(object, of.asked);
  const std::optional<double> ratio = number_of(object, "random_range_ratio");
  if (text_of(object, "dataset_name") == "random" && asked && ratio && *asked >= 1 && *ratio <= 1) {
    const auto most = static_cast<std::int64_t>(*asked);
    const auto least = std::max<std::int64_t>(1, static_cast<std::int64_t>(*asked * *ratio));
    least < most ? set_uniform(run, of.which, least, most) : set_fixed(run, of.which, most);
    return;
  }
  const double mean = static_cast<double>(total) / static_cast<double>(completed);
  const auto middle = std::max<std::int64_t>(1, std::llround(mean));
  if (std::string_view(of.which) == "output" && total % completed != 0 && middle > 1) {
    set_open_ended(run, middle);
    return;
  }
  set_fixed(run, of.which, middle);
}

void read_traffic(MeasuredRun& run, const JsonObject& object, std::int64_t requests) {
  const nlohmann::json* rate = object.find("request_rate");
  const std::optional<double> limit = number_of(object, "max_concurrency");
  const bool is_endless = rate == nullptr || rate->is_null() || rate->is_string();
  if (rate != nullptr && rate->is_string() && rate->get<std::string>() != "inf") {
    throw ConfigError(object.where("request_rate"),
                      fmt::format("expected request_rate to be a number or \"inf\", found {}",
                                  quoted_excerpt(rate->dump())));
  }
  if (is_endless) {
    limit&&* limit >= 1 ? set_closed_loop(run, static_cast<std::int64_t>(*limit), requests)
                        : set_all_at_once(run, requests);
    return;
  }
  const std::optional<double> per_second = number_of(object, "request_rate");
  if (!per_second || *per_second <= 0) {
    throw ConfigError(object.where("request_rate"),
                      "expected request_rate to be a number above 0 or \"inf\", found 0");
  }
  const std::optional<double> burstiness = number_of(object, "burstiness");
  set_poisson(run, *per_second, requests);
  if (burstiness && *burstiness > 0 && *burstiness != 1) {
    set(run, "workload.generator", "gamma");
    set(run, "workload.burstiness", fmt::format("{}", *burstiness));
  }
  if (limit && *limit >= 1) {
    run.notes.push_back(fmt::format("at most {} requests at once: not modelled beside a rate", *limit));
  }
}

void read_figures(MeasuredRun& run, const JsonObject& object) {
  for (const std::string& metric : measured_metrics()) {
    add_figure(run, metric, number_of(object, metric));
  }
  // SGLang's words for the time to the end.
  for (const char* statistic : {"mean", "median", "p90", "p99"}) {
    add_figure(run, fmt::format("{}_e2el_ms", statistic),
               number_of(object, fmt::format("{}_e2e_latency_ms", statistic)));
  }
  if (!number_of(object, "total_token_throughput")) {
    add_figure(run, "total_token_throughput", number_of(object, "total_throughput"));
  }
}

std::vector<MeasuredRun> read_object(const JsonObject& object, const std::string& path,
                                     const std::string& name) {
  MeasuredRun run;
  run.name = name;
  run.source = to_string(object.where("completed"));
  const std::int64_t completed = needed_count(object, "completed", 1);
  const std::optional<double> sent = number_of(object, "num_prompts");
  read_model(run, object);
  read_engine(run, object);
  read_lengths(run, object, {"prompt", "total_input_tokens", "input_lens", "random_input_len"}, completed);
  read_lengths(run, object, {"output", "total_output_tokens", "output_lens", "random_output_len"}, completed);
  read_traffic(run, object, completed);
  if (sent && *sent > static_cast<double>(completed)) {
    run.notes.push_back(
        fmt::format("{} of {} requests failed", *sent - static_cast<double>(completed), *sent));
  }
  read_figures(run, object);
  check_has_figures(run, path, "mean_ttft_ms");
  fill_from_path(run, path);
  run.group = fmt::format("{} bench serve", run.engine.name.empty() ? "vllm" : run.engine.name);
  std::vector<MeasuredRun> runs;
  runs.push_back(std::move(run));
  return runs;
}

}  // namespace

JsonRunFormat bench_serve_format() {
  return {"vllm bench serve, SGLang bench_serving",
          {"completed", "duration", "total_input_tokens", "total_output_tokens"},
          read_object};
}

}  // namespace inferometer
