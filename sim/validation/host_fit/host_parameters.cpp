#include "sim/validation/host_fit/host_parameters.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    if (letter == ',') {
      words.emplace_back();
    } else if (letter != ' ') {
      words.back() += letter;
    }
  }
  return words;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  for (const HostParameter& parameter : host_parameters()) {
    keys.push_back(parameter.key);
  }
  return keys;
}

}  // namespace

const std::vector<HostParameter>& host_parameters() {
  // Ends of the ranges as cost_model_table() has them.
  static const std::vector<HostParameter> kParameters = {
      {"host_fixed", microseconds(500), microseconds(50), milliseconds(1000)},
      {"host_per_sequence", microseconds(5), microseconds(1), milliseconds(100)},
      {"host_per_prefill_token", nanoseconds(200), nanoseconds(100), milliseconds(1)},
      {"frontend_latency", milliseconds(10), milliseconds(1), milliseconds(10000)}};
  return kParameters;
}

std::vector<HostParameter> host_parameters_named(const std::string& words) {
  const std::vector<std::string> keys = all_keys(), named = words_of(words);
  for (auto word = named.begin(); word != named.end(); ++word) {
    if (std::find(keys.begin(), keys.end(), *word) == keys.end()) {
      throw ConfigError({"--fit"}, "\"" + *word + "\" is no host time; allowed: " +
                                       join_alternatives(keys, "and") + did_you_mean(*word, keys));
    }
    if (std::find(named.begin(), word, *word) != word) {
      throw ConfigError({"--fit"}, *word + " is there twice");
    }
  }
  std::vector<HostParameter> chosen;
  for (const HostParameter& parameter : host_parameters()) {
    if (std::find(named.begin(), named.end(), parameter.key) != named.end()) {
      chosen.push_back(parameter);
    }
  }
  return chosen;
}

std::vector<double> host_values(const Scenario& scenario, const std::vector<HostParameter>& parameters) {
  std::vector<double> values;
  for (const HostParameter& parameter : parameters) {
    const Duration value = scenario.values.section("cost_model").duration(parameter.key);
    values.push_back(static_cast<double>(value.count()) / static_cast<double>(parameter.typical.count()));
  }
  return values;
}

Duration host_duration(const HostParameter& parameter, double value) {
  return Duration(std::llround(value * static_cast<double>(parameter.typical.count())));
}

std::vector<std::string> host_assignments(const std::vector<HostParameter>& parameters,
                                          const std::vector<double>& values) {
  std::vector<std::string> assignments;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    assignments.push_back("cost_model." + parameters[i].key + "=" +
                          std::to_string(host_duration(parameters[i], values[i]).count()) + " ps");
  }
  return assignments;
}

}  // namespace inferometer
