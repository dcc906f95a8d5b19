#include "sim/validation/run_settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/validation/known_names.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kLongest = 1'048'576;  // what a scenario takes

bool is_of(const std::string& setting, std::string_view path) {
  return setting.size() > path.size() && setting.compare(0, path.size(), path) == 0 &&
         setting[path.size()] == '=';
}

bool is_set(const MeasuredRun& run, std::string_view path) {
  return std::any_of(run.settings.begin(), run.settings.end(),
                     [&](const std::string& setting) { return is_of(setting, path); });
}

void put(MeasuredRun& run, std::string_view path, std::string_view value) {
  std::string setting = fmt::format("{}={}", path, value);
  const auto same = std::find_if(run.settings.begin(), run.settings.end(),
                                 [&](const std::string& other) { return is_of(other, path); });
  if (same != run.settings.end()) {
    *same = std::move(setting);
    return;
  }
  // A choice comes before what is said of it: to choose another generator or policy drops the keys of the one
  // before.
  const bool is_choice = path == "workload.generator" || path == "engine.policy";
  run.settings.insert(is_choice ? run.settings.begin() : run.settings.end(), std::move(setting));
}

std::string short_name(std::string_view id) {
  while (!id.empty() && id.back() == '/') {
    id.remove_suffix(1);
  }
  const std::size_t slash = id.rfind('/');
  return std::string(slash == std::string_view::npos ? id : id.substr(slash + 1));
}

std::string number(double value) {
  return fmt::format("{}", value);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The version behind `name` in a lower-case text: "0.15.1" in "vllm_0.15.1_runs", "vllm-v0.15.1". Empty
// without one.
std::string version_after(std::string_view text, std::size_t at) {
  while (at < text.size() &&
         (text[at] == '_' || text[at] == '-' || text[at] == ' ' || text[at] == 'v' || text[at] == '/')) {
    ++at;
  }
  const std::size_t begin = at;
  while (at < text.size() && (is_digit(text[at]) || text[at] == '.')) {
    ++at;
  }
  std::string_view version = text.substr(begin, at - begin);
  while (!version.empty() && version.back() == '.') {
    version.remove_suffix(1);
  }
  return version.find('.') == std::string_view::npos ? "" : std::string(version);
}

}  // namespace

void set(MeasuredRun& run, std::string_view path, std::string_view value) {
  put(run, path, value);
}

void set(MeasuredRun& run, std::string_view path, std::int64_t value) {
  put(run, path, fmt::format("{}", value));
}

void set_text(MeasuredRun& run, std::string_view path, std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  put(run, path, fmt::format("\"{}\"", quoted));
}

void set_model(MeasuredRun& run, std::string_view id) {
  if (const std::optional<std::string> name = known_model(id)) {
    set(run, "model", *name);
  } else {
    set_text(run, "model", short_name(id));
    run.notes.push_back(fmt::format("no built-in model is {}: give one that is with model=PATH", id));
  }
  if (const std::optional<std::string> quantization = quantization_in_name(id)) {
    set(run, "engine.quantization", *quantization);
  }
}

void set_gpu(MeasuredRun& run, std::string_view name) {
  if (const std::optional<std::string> known = known_gpu(name)) {
    set(run, "hardware.gpu", *known);
  } else {
    set_text(run, "hardware.gpu", name);
    run.notes.push_back(fmt::format("no built-in GPU is {}: give one that is with hardware.gpu=PATH", name));
  }
}

void set_precision(MeasuredRun& run, std::string_view precision) {
  if (!is_set(run, "engine.quantization")) {
    const std::string word = quantization_of(precision);
    const bool is_plain =
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    is_plain ? set(run, "engine.quantization", word) : set_text(run, "engine.quantization", word);
  }
}

bool quantization_is_fp8(const MeasuredRun& run) {
  return std::any_of(run.settings.begin(), run.settings.end(), [](const std::string& setting) {
    return setting.rfind("engine.quantization=fp8", 0) == 0;
  });
}

void set_parallel(MeasuredRun& run, std::string_view key, std::int64_t value) {
  if (value > 1) {
    set(run, fmt::format("hardware.{}", key), value);
  }
}

void set_fixed(MeasuredRun& run, std::string_view which, std::int64_t tokens) {
  put(run, fmt::format("workload.{}", which), fmt::format("{{distribution: fixed, tokens: {}}}", tokens));
}

void set_uniform(MeasuredRun& run, std::string_view which, std::int64_t least, std::int64_t most) {
  put(run, fmt::format("workload.{}", which),
      fmt::format("{{distribution: uniform, min: {}, max: {}}}", least, most));
}

void set_spread(MeasuredRun& run, std::string_view which, double mean, double deviation) {
  const double middle = std::clamp(std::round(mean), 1.0, static_cast<double>(kLongest));
  // A uniform distribution reaches sqrt(3) deviations to both sides of its mean.
  const double reach = std::floor(std::min(std::sqrt(3.0) * deviation, middle - 1));
  const auto least = static_cast<std::int64_t>(middle - reach);
  const auto most = std::min(static_cast<std::int64_t>(middle + reach), kLongest);
  least < most ? set_uniform(run, which, least, most)
               : set_fixed(run, which, static_cast<std::int64_t>(middle));
}

void set_lengths(MeasuredRun& run, std::string_view which, std::vector<std::int64_t> tokens) {
  constexpr std::size_t kSteps = 20;
  std::sort(tokens.begin(), tokens.end());
  if (tokens.front() == tokens.back()) {
    set_fixed(run, which, tokens.front());
    return;
  }
  std::string probabilities;
  std::string lengths;
  for (std::size_t i = 0; i <= kSteps; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    probabilities += fmt::format("{}{}", comma, static_cast<double>(i) / kSteps);
    lengths += fmt::format("{}{}", comma, tokens[i * (tokens.size() - 1) / kSteps]);
  }
  put(run, fmt::format("workload.{}", which),
      fmt::format("{{distribution: quantiles, probabilities: [{}], lengths: [{}]}}", probabilities, lengths));
}

void set_closed_loop(MeasuredRun& run, std::int64_t clients, std::int64_t requests) {
  set(run, "workload.generator", "closed_loop");
  set(run, "workload.clients", std::min(clients, requests));
  set(run, "workload.requests", requests);
}

void set_poisson(MeasuredRun& run, double rate, std::int64_t requests) {
  set(run, "workload.generator", "poisson");
  set(run, "workload.rate", number(rate) + " req/s");
  set(run, "workload.requests", requests);
}

void set_all_at_once(MeasuredRun& run, std::int64_t requests) {
  set(run, "workload.generator", "all_at_once");
  set(run, "workload.requests", requests);
}

const std::vector<std::string>& measured_metrics() {
  static const std::vector<std::string> metrics = [] {
    std::vector<std::string> names = {"request_throughput", "output_throughput", "total_token_throughput"};
    for (const char* latency : {"ttft", "tpot", "itl", "e2el"}) {
      for (const char* statistic : {"mean", "median", "p50", "p90", "p95", "p99"}) {
        names.push_back(fmt::format("{}_{}_ms", statistic, latency));
      }
    }
    names.emplace_back(kLoneTtft);
    return names;
  }();
  return metrics;
}

void fill_from_path(MeasuredRun& run, const std::string& path) {
  std::string text = path;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  static constexpr std::array<std::string_view, 4> kEngines = {"vllm", "sglang", "trtllm", "tensorrt-llm"};
  for (const std::string_view engine : kEngines) {
    const std::size_t at = text.rfind(engine);
    const std::string name(engine == "tensorrt-llm" ? "trtllm" : engine);
    if (at == std::string::npos || (!run.engine.name.empty() && run.engine.name != name)) {
      continue;
    }
    const std::string version = version_after(text, at + engine.size());
    if (run.engine.name.empty() || (run.engine.version.empty() && !version.empty())) {
      run.engine.name = name;
      run.engine.version = run.engine.version.empty() ? version : run.engine.version;
      run.notes.push_back(fmt::format("engine taken from the file's path: {}{}{}", name,
                                      version.empty() ? "" : " ", version));
    }
    break;
  }
  if (is_set(run, "hardware.gpu")) {
    return;
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("/_ .", begin), text.size());
    if (const std::optional<std::string> gpu = known_gpu(std::string_view(text).substr(begin, end - begin))) {
      set(run, "hardware.gpu", *gpu);
      run.notes.push_back(fmt::format("GPU taken from the file's path: {}", *gpu));
      return;
    }
    begin = end + 1;
  }
  run.notes.emplace_back("the file does not say the GPU: give hardware.gpu");
}

}  // namespace inferometer
