// AIPerf's profile_export_aiperf.json: a block of statistics for each metric, and the configuration of the
// run (https://docs.nvidia.com/aiperf/reference/json-export-schema,
// src/aiperf/common/models/export_models.py, read 2026-12). Its inter_token_latency is of a request, (latency
// - TTFT) / (tokens - 1): our TPOT.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "sim/validation/formats/run_formats.hpp"
#include "sim/validation/json_figures.hpp"
#include "sim/validation/run_settings.hpp"

namespace inferometer {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 5> kStatistics = {
    {{"avg", "mean"}, {"p50", "median"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}}};

double unit_in_ms(const JsonObject& object, const std::string& key, const std::string& unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"ms", 1}, {"s", 1e3}, {"sec", 1e3}, {"us", 1e-3}, {"ns", 1e-6}}};
  for (const auto& [name, ms] : kUnits) {
    if (unit == name) {
      return ms;
    }
  }
  throw ConfigError(
      object.where(key),
      fmt::format("expected the unit of {} to be ms, s, sec, us or ns, found {}", key, quoted_excerpt(unit)));
}

void read_latency(MeasuredRun& run, const JsonObject& object, const std::string& key, const char* latency) {
  const nlohmann::json* block = object.find(key);
  if (block == nullptr || !block->is_object()) {
    return;
  }
  const double ms = unit_in_ms(object, key, text_below(*block, "unit"));
  for (const auto& [theirs, ours] : kStatistics) {
    if (const std::optional<double> value = number_below(*block, theirs)) {
      if (*value < 0) {
        throw ConfigError(object.where(key), fmt::format("expected {} of {} to be a number from 0, found {}",
                                                         theirs, key, *value));
      }
      add_figure(run, fmt::format("{}_{}_ms", ours, latency), ms * *value);
    }
  }
}

double statistic(const JsonObject& object, const std::string& key, const char* name, double otherwise) {
  const nlohmann::json* block = object.find(key);
  return block == nullptr ? otherwise : number_below(*block, name).value_or(otherwise);
}

void read_lengths(MeasuredRun& run, const JsonObject& object, const std::string& key, const char* which) {
  const double mean = statistic(object, key, "avg", 0);
  if (mean < 1) {
    throw ConfigError(object.where(key),
                      fmt::format("expected {} with an avg of 1 or more tokens, found none", key));
  }
  set_spread(run, which, mean, std::max(0.0, statistic(object, key, "std", 0)));
}

// input_config, as older and newer versions have it: loadgen beside endpoint.
void read_config(MeasuredRun& run, const JsonObject& object, std::int64_t requests) {
  const nlohmann::json* config = object.find("input_config");
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json& given = config == nullptr ? none : *config;
  const nlohmann::json names = given.value("/endpoint/model_names"_json_pointer, nlohmann::json::array());
  if (names.is_array() && !names.empty() && names[0].is_string()) {
    set_model(run, names[0].get<std::string>());
  } else {
    run.notes.emplace_back("the file does not say the model: give model");
  }
  const std::optional<double> rate = number_below(given, "loadgen.request_rate");
  const std::optional<double> clients = number_below(given, "loadgen.concurrency");
  if (rate && *rate > 0) {
    set_poisson(run, *rate, requests);
    if (text_below(given, "loadgen.arrival_pattern") == "constant") {
      set(run, "workload.generator", "constant");
    }
    if (clients) {
      run.notes.push_back(fmt::format("at most {} requests at once: not modelled beside a rate", *clients));
    }
  } else if (clients && *clients >= 1) {
    set_closed_loop(run, static_cast<std::int64_t>(*clients), requests);
  } else {
    run.notes.emplace_back("the file does not say the traffic: give workload.generator");
  }
}

std::vector<MeasuredRun> read_object(const JsonObject& object, const std::string& path,
                                     const std::string& name) {
  MeasuredRun run;
  run.name = name;
  run.source = path;
  const double count = statistic(object, "request_count", "avg", 0);
  if (count < 1 || count > 1e9) {
    throw ConfigError(object.where("request_count"),
                      "expected request_count with an avg from 1 to 1e9, found none");
  }
  read_config(run, object, static_cast<std::int64_t>(count));
  read_lengths(run, object, "input_sequence_length", "prompt");
  read_lengths(run, object, "output_sequence_length", "output");
  read_latency(run, object, "time_to_first_token", "ttft");
  read_latency(run, object, "inter_token_latency", "tpot");
  read_latency(run, object, "request_latency", "e2el");
  for (const auto& [theirs, ours] : {std::pair("request_throughput", "request_throughput"),
                                     std::pair("output_token_throughput", "output_throughput")}) {
    if (const nlohmann::json* block = object.find(theirs)) {
      add_figure(run, ours, number_below(*block, "avg"));
    }
  }
  check_has_figures(run, path, "time_to_first_token");
  fill_from_path(run, path);
  run.group = fmt::format("{}AIPerf", run.engine.name.empty() ? "" : run.engine.name + " ");
  std::vector<MeasuredRun> runs;
  runs.push_back(std::move(run));
  return runs;
}

}  // namespace

JsonRunFormat aiperf_format_of_runs() {
  return {"AIPerf profile export",
          {"request_count", "request_latency", "input_sequence_length", "output_sequence_length"},
          read_object};
}

}  // namespace inferometer
