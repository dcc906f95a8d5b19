#include "workloads/generator_config.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workloads/length_config.hpp"
#include "workloads/presets.hpp"
#include "workloads/session_workload.hpp"
#include "workloads/sharing_config.hpp"

namespace inferometer {

namespace {

/// Longest time that requests / rate may come to: what is left of 106 days is for the system to finish in.
constexpr double kLongestTrafficSeconds = 100.0 * 24 * 3600;
constexpr double kSecondsPerDay = 24.0 * 3600;

/// What arrives: single requests, or sessions with their first.
struct Arriving {
  double requests_each = 1;  ///< mean
  std::optional<SessionScripts> scripts;

  [[nodiscard]] PerSecond rate(const Values& section) const { return section.rate("rate") / requests_each; }

  [[nodiscard]] std::optional<std::int64_t> exact_duration_for(const Values& section) const {
    if (!section.flag("exact_duration")) {
      return std::nullopt;
    }
    const std::int64_t requests = section.count("requests");
    return scripts ? sessions_for(*scripts, requests) : requests;
  }
};

std::unique_ptr<ArrivalProcess> make_on_off(const Values& section, PerSecond rate, std::uint64_t seed) {
  OnOffArrivals options;
  options.rate = rate;
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

std::unique_ptr<ArrivalProcess> make_diurnal(const Values& section, PerSecond rate, std::uint64_t seed,
                                             Diagnostics& diagnostics) {
  DiurnalArrivals options;
  options.rate = rate;
  options.day = section.duration("day");
  options.weights = day_weights(section, diagnostics);
  time_of_day(section, "starts_at", diagnostics);
  options.starts_at = section.duration("starts_at");
  return diagnostics.empty() ? make_diurnal_arrivals(options, seed) : nullptr;
}

std::unique_ptr<ArrivalProcess> make_arrivals(const Values& section, const Arriving& arriving,
                                              std::uint64_t seed, Diagnostics& diagnostics) {
  const std::string& generator = section.text("generator");
  if (generator == "all_at_once") {
    return make_all_at_once_arrivals();
  }
  check_traffic_duration(section, diagnostics);
  const PerSecond rate = arriving.rate(section);
  if (generator == "diurnal") {
    return make_diurnal(section, rate, seed, diagnostics);
  }
  if (!diagnostics.empty()) {
    return nullptr;
  }
  if (generator == "poisson") {
    return make_poisson_arrivals(rate, seed, arriving.exact_duration_for(section));
  }
  if (generator == "gamma") {
    return make_gamma_arrivals({rate, section.number("burstiness"), arriving.exact_duration_for(section)},
                               seed);
  }
  return generator == "on_off" ? make_on_off(section, rate, seed) : make_constant_arrivals(rate);
}

ClientOptions make_clients(const Values& section) {
  return {section.count("clients"),
          {section.duration("think_time"), section.text("think_times") == "fixed"},
          section.duration("ramp_up")};
}

/// Prompt and output lengths of a generator; empty after a mistake.
std::optional<LengthPair> make_lengths(const Values& section, Diagnostics& diagnostics) {
  if (section.given("lengths")) {
    for (const char* key : {"prompt", "output", "length_correlation"}) {
      if (section.given(key)) {
        diagnostics.add(section.where(key), fmt::format("{} is not used together with lengths", key));
      }
    }
    const Preset preset = load_preset(section.text("lengths"));
    return LengthPair{preset.prompt, preset.output, preset.length_correlation};
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
  return LengthPair{lengths[0], lengths[1], correlation};
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
  const std::optional<LengthPair> lengths = make_lengths(section, diagnostics);
  std::optional<RequestBodies> bodies;
  Arriving arriving;
  if (lengths) {
    bodies.emplace(LengthSampler(*lengths, seed), max_new);
    share_and_divide(section, seed, *bodies, diagnostics);
    if (section.given("sessions")) {
      arriving.requests_each = static_cast<double>(section.section("sessions").count("turns"));
      arriving.scripts = make_session_scripts(section, seed, *bodies, *lengths, diagnostics);
    }
  }
  const std::int64_t requests = section.count("requests");
  if (section.text("generator") == "closed_loop") {
    diagnostics.throw_if_any();
    const ClientOptions clients = make_clients(section);
    if (arriving.scripts) {
      return make_session_workload(Clients(clients, requests, seed), *std::move(arriving.scripts), requests);
    }
    return make_closed_loop_workload({clients, requests, seed}, *std::move(bodies));
  }
  std::unique_ptr<ArrivalProcess> arrivals = make_arrivals(section, arriving, seed, diagnostics);
  diagnostics.throw_if_any();
  if (arriving.scripts) {
    return make_session_workload(std::move(arrivals), *std::move(arriving.scripts), requests);
  }
  return make_generated_workload(std::move(arrivals), *std::move(bodies), requests);
}

}  // namespace inferometer
