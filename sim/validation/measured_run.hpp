#pragma once

// A measured run of a serving engine, in the words of a scenario: what was served, on what, under which
// traffic, and what came out. Who uses it: readers of measurements (formats/) make them, `inferometer
// validate` and `inferometer calibrate host` predict and judge them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inferometer {

/// One request of a run whose requests were recorded.
struct MeasuredRequest {
  double arrival_s = 0;                                ///< from the start of the run
  std::int64_t prompt_tokens = 0;                      ///< >= 1
  std::int64_t output_tokens = 0;                      ///< >= 1
  std::optional<double> ttft_ms, e2e_ms, itl_ms_mean;  ///< what was recorded of it
};

/// A figure of a run. `metric` is a name of headline_metrics(): "mean_ttft_ms", "output_throughput", ...; or
/// kLoneTtft.
struct MeasuredValue {
  std::string metric;
  double value = 0;  ///< > 0
};

/// Median TTFT, in ms, of requests that arrived while no other was in the system.
inline constexpr const char* kLoneTtft = "median_lone_ttft_ms";

/// "vllm", "0.15.1", and when it ran if the version is not known; empty where the file does not say.
struct MeasuredEngine {
  std::string name;     ///< vllm, sglang, trtllm
  std::string version;  ///< "0.15.1", "1.0.0rc3"
  std::string month;    ///< "2026-01"
};

struct MeasuredRun {
  std::string name;    ///< unique within its file, readable: "60-llama-3-1-70b-tp4-general-lite-4-1 stage 1"
  std::string group;   ///< runs of one kind, summarised together: "vllm 0.15.1 runs"
  std::string source;  ///< FILE:LINE
  MeasuredEngine engine;
  /// "path.to.key=value" over a scenario, as --set has them: model, hardware.*, engine.*, workload.*. With
  /// requests, no workload key but those that go with a trace.
  std::vector<std::string> settings;
  std::vector<MeasuredRequest> requests;  ///< replayed as they came, when not empty
  std::vector<MeasuredValue> values;
  std::vector<std::string> notes;  ///< what the file leaves open and what was assumed
};

}  // namespace inferometer
