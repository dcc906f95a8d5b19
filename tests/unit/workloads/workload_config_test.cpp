#include "workloads/workload_config.hpp"

#include <algorithm>
#include <string>

#include "base/config/config_node.hpp"
#include "tests/support/catch.hpp"
#include "workloads/presets.hpp"

using namespace inferometer;

namespace {

std::unique_ptr<Workload> make(const std::string& text, std::uint64_t seed = 1) {
  Diagnostics diagnostics;
  const Values section = parse(workload_table(), read_yaml_text(text, "w.yaml"), diagnostics);
  diagnostics.throw_if_any();
  return make_workload(section, seed, "");
}

std::string error_of(const std::string& text) {
  try {
    make(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

Request first_of(const std::string& text) {
  const auto workload = make(text);
  Request request;
  REQUIRE(workload->next_arrival().has_value());
  workload->take(request);
  return request;
}

Request last_of(const std::string& text) {
  const auto workload = make(text);
  Request request;
  while (workload->next_arrival()) {
    workload->take(request);
  }
  return request;
}

const std::string kLengths =
    ", prompt: {distribution: fixed, tokens: 100}, output: {distribution: fixed, tokens: 20}";

}  // namespace

TEST_CASE("every generator can be written down") {
  CHECK(last_of("{generator: poisson, rate: 4 req/s, requests: 10" + kLengths + "}").arrival ==
        TimePoint(milliseconds(2500)));
  CHECK(last_of("{generator: gamma, burstiness: 0.5, rate: 4 req/s, requests: 10" + kLengths + "}").arrival ==
        TimePoint(milliseconds(2500)));
  CHECK(last_of("{generator: poisson, rate: 4 req/s, requests: 10, exact_duration: false" + kLengths + "}")
            .arrival != TimePoint(milliseconds(2500)));
  CHECK(last_of("{generator: constant, rate: 120 req/min, requests: 8" + kLengths + "}").arrival ==
        TimePoint(seconds(4)));
  CHECK(last_of("{generator: all_at_once, requests: 8" + kLengths + "}").arrival == TimePoint());
  // While on, 30 req/s: the first request of a burst of 2 s comes within it (all but surely: e^-60).
  CHECK(first_of("{generator: on_off, rate: 10 req/s, mean_on: 2 s, mean_off: 4 s, phases: fixed" + kLengths +
                 "}")
            .arrival < TimePoint(seconds(2)));
  // Nothing in the first half of a day of 10 s.
  CHECK(
      first_of("{generator: diurnal, rate: 10 req/s, weights: [0, 1], day: 10 s" + kLengths + "}").arrival >=
      TimePoint(seconds(5)));
  CHECK(first_of("{generator: diurnal, rate: 10 req/s, weights: [0, 1], day: 10 s, starts_at: 5 s" +
                 kLengths + "}")
            .arrival < TimePoint(seconds(5)));
  CHECK(first_of("{generator: diurnal, rate: 10 req/s, peak_to_trough: 4, peak_at: 14 h" + kLengths + "}")
            .prompt == TokenCount(100));

  const auto loop =
      make("{generator: closed_loop, clients: 2, think_time: 1 s, think_times: fixed, requests: 5" +
           kLengths + "}");
  Request request;
  loop->take(request);
  loop->take(request);
  CHECK_FALSE(loop->next_arrival().has_value());
  loop->finished(0, TimePoint(seconds(2)));
  CHECK(loop->next_arrival() == TimePoint(seconds(3)));
}

TEST_CASE("closed-loop clients ramp up over the time written") {
  const auto loop = make("{generator: closed_loop, clients: 2, ramp_up: 4 s, requests: 5" + kLengths + "}");
  Request request;
  loop->take(request);
  CHECK(loop->next_arrival() == TimePoint(seconds(2)));
}

TEST_CASE("lengths, what clients allow and the number of requests are as written") {
  const Request request = first_of("{generator: all_at_once, max_new_tokens: 64" + kLengths + "}");
  CHECK(request.prompt == TokenCount(100));
  CHECK(request.output == TokenCount(20));
  CHECK(request.max_new == TokenCount(64));
  CHECK(first_of("{generator: all_at_once, max_new_factor: 1.5" + kLengths + "}").max_new == TokenCount(30));
  CHECK(first_of("{generator: all_at_once" + kLengths + "}").max_new == TokenCount(20));
  CHECK(make("{generator: all_at_once" + kLengths + "}")->size_hint() == 1000);
  CHECK(first_of("{generator: all_at_once, prompt: {distribution: uniform, min: 7, max: 7}, "
                 "output: {distribution: zipf, min: 9, max: 9, exponent: 1}}")
            .prompt == TokenCount(7));
  CHECK(
      first_of(
          "{generator: all_at_once, prompt: {distribution: log_normal, mean: 700, sigma: 1, min: 5, max: 5}, "
          "output: {distribution: quantiles, probabilities: [0, 1], lengths: [3, 3]}}")
          .output == TokenCount(3));
}

TEST_CASE("a preset is gamma arrivals of its burstiness with its lengths") {
  const double burstiness = load_preset("azure-conversation").burstiness;
  const auto preset = make("{preset: azure-conversation, rate: 12 req/s, requests: 200}", 3);
  const auto gamma = make("{generator: gamma, burstiness: " + std::to_string(burstiness) +
                              ", rate: 12 req/s, requests: 200, lengths: azure-conversation}",
                          3);
  Request a, b;
  while (preset->next_arrival()) {
    CHECK(preset->next_arrival() == gamma->next_arrival());
    preset->take(a);
    gamma->take(b);
    CHECK(a.prompt == b.prompt);
    CHECK(a.output == b.output);
  }
  CHECK_FALSE(gamma->next_arrival().has_value());
  CHECK(a.arrival == TimePoint(duration_from_seconds(200.0 / 12)));
}

TEST_CASE("exactly one source of requests") {
  CHECK(error_of("{requests: 5}") != "no error");
  CHECK(error_of("{max_new_tokens: 5}") ==
        "w.yaml:1:1: expected exactly one of preset, trace and generator, found none");
  CHECK(error_of("{preset: sharegpt, rate: 1 req/s, generator: all_at_once}") ==
        "w.yaml:1:46: expected exactly one of preset, trace and generator, found preset and generator");
  CHECK(error_of("{preset: sharegpt, rate: 1 req/s, trace: a.csv, generator: all_at_once}") ==
        "w.yaml:1:60: expected exactly one of preset, trace and generator, found preset and trace and "
        "generator");
}

TEST_CASE("mistakes across keys") {
  const std::string output = ", output: {distribution: fixed, tokens: 20}";
  CHECK(error_of("{generator: all_at_once}") ==
        "w.yaml:1:1: prompt is missing: a generator needs prompt and output, or lengths\n"
        "w.yaml:1:1: output is missing: a generator needs prompt and output, or lengths");
  CHECK(error_of("{generator: all_at_once, lengths: sharegpt, length_correlation: 0.5}") ==
        "w.yaml:1:65: length_correlation is not used together with lengths");
  CHECK(error_of("{generator: all_at_once, prompt: {distribution: uniform, min: 9, max: 8}" + output + "}") ==
        "w.yaml:1:63: expected min <= max, found min 9 and max 8");
  CHECK(error_of("{generator: all_at_once, prompt: {distribution: log_normal, sigma: 1}" + output + "}") ==
        "w.yaml:1:34: a log_normal length needs median or mean, found neither");
  CHECK(error_of("{generator: all_at_once, prompt: {distribution: log_normal, sigma: 1, median: 5, mean: 6}" +
                 output + "}") == "w.yaml:1:88: a log_normal length needs median or mean, found both");
  CHECK(error_of(
            "{generator: all_at_once, prompt: {distribution: log_normal, sigma: 0.1, median: 10, min: 900}" +
            output + "}") ==
        "w.yaml:1:81: hardly any length of this distribution lies within min 900 and max 1048576");
  CHECK(error_of("{generator: all_at_once, prompt: {distribution: quantiles, probabilities: [0, 1], lengths: "
                 "[5, 4]}" +
                 output + "}") == "w.yaml:1:92: expected lengths that do not fall, found 4 after 5");
  CHECK(error_of("{generator: all_at_once, max_new_tokens: 5, max_new_factor: 2" + kLengths + "}") ==
        "w.yaml:1:61: expected max_new_tokens or max_new_factor, found both");
  CHECK(error_of("{preset: sharegpt, rate: 0.0001 req/s, requests: 2000}") ==
        "w.yaml:1:26: 2000 requests at this rate take 231.5 days, expected at most 100");
  CHECK(error_of("{generator: diurnal, rate: 1 req/s" + kLengths + "}") ==
        "w.yaml:1:13: a diurnal generator needs peak_to_trough or weights, found neither");
  CHECK(error_of("{generator: diurnal, rate: 1 req/s, peak_to_trough: 2, weights: [1, 2]" + kLengths + "}") ==
        "w.yaml:1:65: a diurnal generator needs peak_to_trough or weights, found both");
  CHECK(error_of("{generator: diurnal, rate: 1 req/s, weights: [0, 0]" + kLengths + "}") ==
        "w.yaml:1:46: expected at least one weight above 0");
  CHECK(error_of("{generator: diurnal, rate: 1 req/s, weights: [1], peak_at: 2 h" + kLengths + "}") ==
        "w.yaml:1:60: peak_at goes with peak_to_trough, not with weights");
  CHECK(error_of("{generator: diurnal, rate: 1 req/s, peak_to_trough: 2, day: 1 h, starts_at: 1 h" +
                 kLengths + "}") ==
        "w.yaml:1:77: expected a time of day before the end of the day, 1 h, found 1 h");
  CHECK(error_of("{trace: a.csv, window_start: 10 s, window_end: 10 s}") ==
        "w.yaml:1:48: expected window_end after window_start");
}

TEST_CASE("keys that the choice does not use are errors") {
  for (const char* text :
       {"{preset: sharegpt, rate: 1 req/s, rate_scale: 2}",
        "{preset: sharegpt, rate: 1 req/s, burstiness: 2}",
        "{preset: sharegpt, rate: 1 req/s, lengths: sharegpt}", "{trace: a.csv, max_new_factor: 2}",
        "{generator: all_at_once, lengths: sharegpt, rate: 1 req/s}",
        "{generator: poisson, lengths: sharegpt, rate: 1 req/s, clients: 3}",
        "{generator: poisson, lengths: sharegpt, rate: 0 req/s}", "{generator: poisson, lengths: sharegpt}",
        "{generator: poisson, lengths: sharegpt, rate: 1 req/s, requests: 0}",
        "{generator: poisson, lengths: sharegpt, rate: 2000000000 req/s}"}) {
    CAPTURE(text);
    CHECK(error_of(text).rfind("w.yaml:1:", 0) == 0);
  }
}

TEST_CASE("a trace is looked for beside the scenario") {
  Diagnostics diagnostics;
  const Values section = parse(workload_table(), read_yaml_text("{trace: none.csv}", "w.yaml"), diagnostics);
  diagnostics.throw_if_any();
  try {
    make_workload(section, 1, "some/folder");
    FAIL("no error");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).rfind("w.yaml:1:9: trace: some/folder/none.csv: ", 0) == 0);
  }
}
