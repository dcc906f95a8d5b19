#include "workloads/generator_config.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workloads/length_config.hpp"
#include "workloads/presets.hpp"

namespace inferometer {

namespace {

/// Longest time that requests / rate may come to: what is left of 106 days is for the system to finish in.
constexpr double kLongestTrafficSeconds = 100.0 * 24 * 3600;
constexpr double kSecondsPerDay = 24.0 * 3600;

std::optional<std::int64_t> exact_duration_for(const Values& section) {
  return section.flag("exact_duration") ? std::optional(section.count("requests")) : std::nullopt;
}

std::unique_ptr<ArrivalProcess> make_on_off(const Values& section, std::uint64_t seed) {
  OnOffArrivals options;
  options.rate = section.rate("rate");
  options.mean_on = section.duration("mean_on");
  options.mean_off = section.duration("mean_off");
  options.fixed_phases = section.text("phases") == "fixed";
  return make_on_off_arrivals(options, seed);
}

/// A time of day as a fraction of the day.
double time_of_day(const Values& section, const char* key, Diagnostics& diagnostics) {
  const Duration day = section.duration("day");
  if (section.duration(key) >= day) {
    diagnostics.add(section.where(key),
                    fmt::format("expected a time of day before the end of the day, {}, found {}",
                                to_text(day), to_text(section.duration(key))));
    return 0;
  }
  return to_seconds(section.duration(key)) / to_seconds(day);
}

std::vector<double> day_weights(const Values& section, Diagnostics& diagnostics) {
  const bool is_sine = section.given("peak_to_trough");
  if (is_sine == section.given("weights")) {
    diagnostics.add(is_sine ? section.where("weights") : section.where("generator"),
                    fmt::format("a diurnal generator needs peak_to_trough or weights, found {}",
                                is_sine ? "both" : "neither"));
    return {};
  }
  if (is_sine) {
    const double peak_at = section.given("peak_at") ? time_of_day(section, "peak_at", diagnostics) : 0.5;
    return sinusoidal_day(section.number("peak_to_trough"), peak_at);
  }
  if (section.given("peak_at")) {
    diagnostics.add(section.where("peak_at"), "peak_at goes with peak_to_trough, not with weights");
  }
  std::vector<double> weights = section.numbers("weights");
  double total = 0;
  for (const double weight : weights) {
    total += weight;
  }
  if (total <= 0) {
    diagnostics.add(section.where("weights"), "expected at least one weight above 0");
  }
  return weights;
}

std::unique_ptr<ArrivalProcess> make_diurnal(const Values& section, std::uint64_t seed,
                                             Diagnostics& diagnostics) {
  DiurnalArrivals options;
  options.rate = section.rate("rate");
  options.day = section.duration("day");
  options.weights = day_weights(section, diagnostics);
  time_of_day(section, "starts_at", diagnostics);
  options.starts_at = section.duration("starts_at");
  return diagnostics.empty() ? make_diurnal_arrivals(options, seed) : nullptr;
}

std::unique_ptr<ArrivalProcess> make_arrivals(const Values& section, std::uint64_t seed,
                                              Diagnostics& diagnostics) {
  const std::string& generator = section.text("generator");
  if (generator == "all_at_once") {
    return make_all_at_once_arrivals();
  }
  check_traffic_duration(section, diagnostics);
  if (generator == "diurnal") {
    return make_diurnal(section, seed, diagnostics);
  }
  if (!diagnostics.empty()) {
    return nullptr;
  }
  const PerSecond rate = section.rate("rate");
  if (generator == "poisson") {
    return make_poisson_arrivals(rate, seed, exact_duration_for(section));
  }
  if (generator == "gamma") {
    return make_gamma_arrivals({rate, section.number("burstiness"), exact_duration_for(section)}, seed);
  }
  return generator == "on_off" ? make_on_off(section, seed) : make_constant_arrivals(rate);
}

/// Prompt and output lengths of a generator; empty after a mistake.
std::optional<LengthSampler> make_lengths(const Values& section, std::uint64_t seed,
                                          Diagnostics& diagnostics) {
  if (section.given("lengths")) {
    for (const char* key : {"prompt", "output", "length_correlation"}) {
      if (section.given(key)) {
        diagnostics.add(section.where(key), fmt::format("{} is not used together with lengths", key));
      }
    }
    const Preset preset = load_preset(section.text("lengths"));
    return LengthSampler(preset.prompt, preset.output, preset.length_correlation, seed);
  }
  std::array<std::shared_ptr<const LengthDistribution>, 2> lengths;
  std::size_t index = 0;
  for (const char* key : {"prompt", "output"}) {
    if (section.given(key)) {
      lengths[index] = make_length(section.section(key), diagnostics);
    } else {
      diagnostics.add(section.where(),
                      fmt::format("{} is missing: a generator needs prompt and output, or lengths", key));
    }
    index += 1;
  }
  if (!lengths[0] || !lengths[1]) {
    return std::nullopt;
  }
  const double correlation = section.given("length_correlation") ? section.number("length_correlation") : 0;
  return LengthSampler(lengths[0], lengths[1], correlation, seed);
}

}  // namespace

void check_traffic_duration(const Values& section, Diagnostics& diagnostics) {
  const auto requests = section.count("requests");
  const double seconds = static_cast<double>(requests) / section.rate("rate").count();
  if (seconds > kLongestTrafficSeconds) {
    diagnostics.add(section.where("rate"),
                    fmt::format("{} requests at this rate take {:.1f} days, expected at most 100", requests,
                                seconds / kSecondsPerDay));
  }
}

MaxNewRule make_max_new_rule(const Values& section, Diagnostics& diagnostics) {
  MaxNewRule rule;
  if (section.given("max_new_tokens")) {
    rule.tokens = TokenCount(section.count("max_new_tokens"));
  }
  if (section.given("max_new_factor")) {
    rule.factor = section.number("max_new_factor");
    if (rule.tokens) {
      diagnostics.add(section.where("max_new_factor"),
                      "expected max_new_tokens or max_new_factor, found both");
    }
  }
  return rule;
}

std::unique_ptr<Workload> make_generator(const Values& section, std::uint64_t seed,
                                         Diagnostics& diagnostics) {
  const MaxNewRule max_new = make_max_new_rule(section, diagnostics);
  std::optional<LengthSampler> lengths = make_lengths(section, seed, diagnostics);
  const std::int64_t requests = section.count("requests");
  if (section.text("generator") == "closed_loop") {
    diagnostics.throw_if_any();
    ClosedLoopOptions options;
    options.clients = section.count("clients");
    options.think_time = section.duration("think_time");
    options.fixed_think_time = section.text("think_times") == "fixed";
    options.ramp_up = section.duration("ramp_up");
    options.requests = requests;
    options.seed = seed;
    return make_closed_loop_workload(options, RequestBodies(*std::move(lengths), max_new));
  }
  std::unique_ptr<ArrivalProcess> arrivals = make_arrivals(section, seed, diagnostics);
  diagnostics.throw_if_any();
  return make_generated_workload(std::move(arrivals), RequestBodies(*std::move(lengths), max_new), requests);
}

}  // namespace inferometer
