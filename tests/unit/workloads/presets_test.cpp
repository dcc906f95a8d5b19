#include "workloads/presets.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "workloads/trace_reader.hpp"

using namespace inferometer;

namespace {

struct Lengths {
  std::vector<double> prompt, output;
};

Lengths lengths_of_trace(const std::string& file) {
  TraceOptions options;
  if (file.find("sharegpt") != std::string::npos) {
    options.rate = PerSecond(1);
  }
  const auto trace = open_trace(std::string(INFEROMETER_SHARED_DATA) + "/traces/" + file, options);
  Lengths lengths;
  Request request;
  while (trace->next_arrival()) {
    trace->take(request);
    lengths.prompt.push_back(static_cast<double>(request.prompt.count()));
    lengths.output.push_back(static_cast<double>(request.output.count()));
  }
  return lengths;
}

Lengths lengths_of_preset(const Preset& preset, std::size_t count) {
  LengthSampler sampler(preset.prompt, preset.output, preset.length_correlation, 1);
  Lengths lengths;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [prompt, output] = sampler.next();
    lengths.prompt.push_back(static_cast<double>(prompt.count()));
    lengths.output.push_back(static_cast<double>(output.count()));
  }
  return lengths;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double share_upto(const std::vector<double>& sorted, double value) {
  return static_cast<double>(std::upper_bound(sorted.begin(), sorted.end(), value) - sorted.begin()) /
         static_cast<double>(sorted.size());
}

/// Ranks, those of equal values shared.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> result;
  for (const double value : values) {
    const auto range = std::equal_range(sorted.begin(), sorted.end(), value);
    result.push_back(static_cast<double>((range.first - sorted.begin()) + (range.second - sorted.begin())) /
                     2);
  }
  return result;
}

double rank_correlation(const Lengths& lengths) {
  const std::vector<double> x = ranks(lengths.prompt), y = ranks(lengths.output);
  const double mean_x = mean(x), mean_y = mean(y);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xy / std::sqrt(xx * yy);
}

/// The fit's median, p90 and p99 must stand at these shares of the trace, within 0.02, 0.01 and 0.002.
void compare(std::vector<double> fit, std::vector<double> trace) {
  CHECK(mean(fit) == Approx(mean(trace)).epsilon(0.02));
  std::sort(fit.begin(), fit.end());
  std::sort(trace.begin(), trace.end());
  for (const auto& [p, tolerance] : std::map<double, double>{{0.5, 0.02}, {0.9, 0.01}, {0.99, 0.002}}) {
    const double at = fit[static_cast<std::size_t>(p * static_cast<double>(fit.size()))];
    CAPTURE(p, at);
    // Where the trace has many equal lengths, its share jumps over p there.
    CHECK(share_upto(trace, at - 1) <= p + tolerance);
    CHECK(share_upto(trace, at) >= p - tolerance);
  }
}

}  // namespace

TEST_CASE("the presets there are") {
  CHECK(preset_names() ==
        std::vector<std::string>{"azure-conversation", "mooncake-conversation", "sharegpt"});
  for (const std::string& name : preset_names()) {
    const Preset preset = load_preset(name);
    CHECK(preset.name == name);
    CHECK(preset.burstiness > 0);
    CHECK(describe_presets().find(name + "\n  " + preset.summary + "\n  from " + preset.source) !=
          std::string::npos);
  }
}

TEST_CASE("an unknown preset is reported with the nearest name") {
  try {
    load_preset("sharegtp");
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) ==
          "workloads/presets: unknown preset \"sharegtp\": expected azure-conversation, "
          "mooncake-conversation or "
          "sharegpt; did you mean \"sharegpt\"?");
  }
}

TEST_CASE("generated lengths are those of the traces") {
  if (!std::filesystem::exists(std::string(INFEROMETER_SHARED_DATA) + "/traces")) {
    WARN("skipped: no traces at " << INFEROMETER_SHARED_DATA);
    return;
  }
  const std::map<std::string, std::string> files = {
      {"azure-conversation", "AzureLLMInferenceTrace_conv_2023.csv"},
      {"mooncake-conversation", "mooncake_conversation_trace.jsonl"},
      {"sharegpt", "nanoflow_sharegpt.csv"}};
  for (const auto& [name, file] : files) {
    CAPTURE(name);
    const Lengths trace = lengths_of_trace(file);
    const Lengths fit = lengths_of_preset(load_preset(name), 200'000);
    compare(fit.prompt, trace.prompt);
    compare(fit.output, trace.output);
    CHECK(std::fabs(rank_correlation(fit) - rank_correlation(trace)) < 0.05);
  }
}
