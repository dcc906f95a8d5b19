// GuideLLM's benchmarks.json: a list of benchmarks, each at a load of its own, with statistics of requests
// that succeeded (src/guidellm/benchmark/schemas/generative/, read 2026-12). Its inter_token_latency_ms is of
// a request, without the first token: our TPOT; request_latency is in seconds.

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "sim/validation/formats/run_formats.hpp"
#include "sim/validation/json_figures.hpp"
#include "sim/validation/run_settings.hpp"

namespace inferometer {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 5> kStatistics = {{{"mean", "mean"},
                                                                             {"median", "median"},
                                                                             {"percentiles.p90", "p90"},
                                                                             {"percentiles.p95", "p95"},
                                                                             {"percentiles.p99", "p99"}}};

class BenchmarkReader {
 public:
  BenchmarkReader(const nlohmann::json& benchmark, Position where, std::size_t number)
      : benchmark_(benchmark), where_(std::move(where)), number_(number) {}

  MeasuredRun read(const std::string& name, const std::string& model) {
    MeasuredRun run;
    run.source = to_string(where_);
    if (model.empty()) {
      run.notes.emplace_back("the file does not say the model: give model");
    } else {
      set_model(run, model);
    }
    read_traffic(run, name);
    set_spread(run, "prompt", needed("metrics.prompt_token_count.successful.mean", 1),
               number("metrics.prompt_token_count.successful.std_dev").value_or(0));
    set_spread(run, "output", needed("metrics.output_token_count.successful.mean", 1),
               number("metrics.output_token_count.successful.std_dev").value_or(0));
    read_latency(run, "time_to_first_token_ms", "ttft", 1);
    read_latency(run, "inter_token_latency_ms", "tpot", 1);
    read_latency(run, "request_latency", "e2el", 1000);
    add_figure(run, "request_throughput", number("metrics.requests_per_second.successful.mean"));
    add_figure(run, "output_throughput", number("metrics.output_tokens_per_second.successful.mean"));
    return run;
  }

 private:
  [[nodiscard]] std::optional<double> number(std::string_view path) const {
    return number_below(benchmark_, path);
  }

  [[nodiscard]] double needed(std::string_view path, double least) const {
    const std::optional<double> value = number(path);
    if (!value || *value < least) {
      throw ConfigError(
          where_, fmt::format("expected {} of benchmark {} to be a number from {}, found {}", path, number_,
                              least, value ? fmt::format("{}", *value) : "nothing"));
    }
    return *value;
  }

  void read_latency(MeasuredRun& run, const char* key, const char* latency, double ms) const {
    for (const auto& [theirs, ours] : kStatistics) {
      if (const std::optional<double> value = number(fmt::format("metrics.{}.successful.{}", key, theirs))) {
        add_figure(run, fmt::format("{}_{}_ms", ours, latency), ms * *value);
      }
    }
  }

  // Strategies of the scheduler: synchronous and concurrent are closed loops, throughput sends all at once,
  // constant and poisson have a rate.
  void read_traffic(MeasuredRun& run, const std::string& name) const {
    const char* strategy = "config.strategy.";
    const std::string type = text_below(benchmark_, fmt::format("{}type_", strategy));
    const auto requests = static_cast<std::int64_t>(needed("metrics.request_totals.successful", 1));
    const std::optional<double> streams = number(fmt::format("{}streams", strategy));
    const std::optional<double> rate = number(fmt::format("{}rate", strategy));
    run.name = fmt::format("{} {} {}", name, number_, type);
    if (type == "synchronous") {
      set_closed_loop(run, 1, requests);
    } else if (type == "concurrent" && streams && *streams >= 1) {
      set_closed_loop(run, static_cast<std::int64_t>(*streams), requests);
      run.name += fmt::format(" {}", *streams);
    } else if (type == "throughput") {
      set_all_at_once(run, requests);
    } else if ((type == "constant" || type == "poisson") && rate && *rate > 0) {
      set(run, "workload.generator", type);
      set(run, "workload.rate", fmt::format("{} req/s", *rate));
      set(run, "workload.requests", requests);
      run.name += fmt::format(" {}", *rate);
    } else {
      throw ConfigError(
          where_, fmt::format("expected config.strategy of benchmark {} to be synchronous, concurrent with "
                              "streams, throughput, or constant or poisson with a rate, found {}",
                              number_, quoted_excerpt(type)));
    }
  }

  const nlohmann::json& benchmark_;
  Position where_;
  std::size_t number_;
};

std::string model_of(const JsonObject& object, const nlohmann::json& benchmark) {
  const nlohmann::json* args = object.find("args");
  std::string model = args == nullptr ? "" : text_below(*args, "model");
  return model.empty() ? text_below(benchmark, "config.backend.model") : model;
}

std::vector<MeasuredRun> read_object(const JsonObject& object, const std::string& path,
                                     const std::string& name) {
  const nlohmann::json* benchmarks = object.find("benchmarks");
  if (!benchmarks->is_array() || benchmarks->empty()) {
    throw ConfigError(object.where("benchmarks"),
                      "expected benchmarks to be a list with one or more, found none");
  }
  std::vector<MeasuredRun> runs;
  for (const nlohmann::json& benchmark : *benchmarks) {
    BenchmarkReader reader(benchmark, object.where("benchmarks"), runs.size() + 1);
    MeasuredRun run = reader.read(name, model_of(object, benchmark));
    check_has_figures(run, path, "time_to_first_token_ms");
    fill_from_path(run, path);
    run.group = fmt::format("{}GuideLLM", run.engine.name.empty() ? "" : run.engine.name + " ");
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

JsonRunFormat guidellm_format() {
  return {"GuideLLM benchmarks", {"benchmarks"}, read_object};
}

}  // namespace inferometer
