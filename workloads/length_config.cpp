#include "workloads/length_config.hpp"

#include <fmt/format.h>

namespace inferometer {

namespace {

const std::string kLongestText = std::to_string(kLongestLength);

Key bound(const char* name, const char* sentence) {
  return Key(name, ValueType::count, sentence).range("1", kLongestText);
}

TokenCount tokens(const Values& section, const char* key) {
  return TokenCount(section.count(key));
}

bool bounds_are_right(const Values& section, Diagnostics& diagnostics) {
  if (section.count("min") <= section.count("max")) {
    return true;
  }
  diagnostics.add(section.where(section.given("min") ? "min" : "max"),
                  fmt::format("expected min <= max, found min {} and max {}", section.count("min"),
                              section.count("max")));
  return false;
}

std::shared_ptr<const LengthDistribution> make_log_normal(const Values& section, Diagnostics& diagnostics) {
  const bool has_median = section.given("median");
  if (has_median == section.given("mean")) {
    diagnostics.add(
        has_median ? section.where("mean") : section.where(),
        fmt::format("a log_normal length needs median or mean, found {}", has_median ? "both" : "neither"));
    return nullptr;
  }
  LogNormalLength options;
  options.sigma = section.number("sigma");
  options.median =
      has_median ? section.number("median") : log_normal_median(section.number("mean"), options.sigma);
  options.min = tokens(section, "min");
  options.max = tokens(section, "max");
  if (log_normal_share(options) < kSmallestLogNormalShare) {
    diagnostics.add(section.where(has_median ? "median" : "mean"),
                    fmt::format("hardly any length of this distribution lies within min {} and max {}",
                                options.min.count(), options.max.count()));
    return nullptr;
  }
  return make_log_normal_length(options);
}

std::shared_ptr<const LengthDistribution> make_quantiles(const Values& section, Diagnostics& diagnostics) {
  const std::string mistake = quantile_mistake(section.numbers("probabilities"), section.numbers("lengths"));
  if (!mistake.empty()) {
    diagnostics.add(section.where("lengths"), mistake);
    return nullptr;
  }
  return make_quantile_length(section.numbers("probabilities"), section.numbers("lengths"));
}

}  // namespace

Table length_table(const std::string& name, const std::string& plural) {
  Table table(name, "How many tokens " + plural + " have");
  table
      .add_choice("distribution", {"fixed", "uniform", "log_normal", "zipf", "quantiles"},
                  "Shape of the distribution of lengths")
      .required();
  table.add_variant("distribution", "fixed", {bound("tokens", "Every length").required()});
  table.add_variant("distribution", "uniform",
                    {bound("min", "Shortest length, in tokens").required(),
                     bound("max", "Longest length, in tokens; all between are as likely").required()});
  table.add_variant(
      "distribution", "log_normal",
      {Key("median", ValueType::number, "Median length in tokens, before cutting at min and max")
           .range("1", kLongestText)
           .optional("mean must be given"),
       Key("mean", ValueType::number, "Mean length in tokens, before cutting at min and max")
           .range("1", kLongestText)
           .optional("median must be given"),
       Key("sigma", ValueType::number, "Standard deviation of the length's natural logarithm")
           .required()
           .range("0.01", "5"),
       bound("min", "Shorter lengths are left out").by_default("1"),
       bound("max", "Longer lengths are left out").by_default(kLongestText)});
  table.add_variant(
      "distribution", "zipf",
      {bound("min", "Shortest length, in tokens").required(),
       bound("max", "Longest length, in tokens").required(),
       Key("exponent", ValueType::number, "A length L is as likely as L to the power of -exponent")
           .required()
           .range("0", "10")});
  Key probabilities("probabilities", ValueType::number, "Shares of lengths, rising from 0 to 1");
  probabilities.is_list = true;
  Key lengths("lengths", ValueType::number,
              "Tokens that such a share of lengths does not exceed; straight lines between");
  lengths.is_list = true;
  table.add_variant("distribution", "quantiles",
                    {probabilities.required().range("0", "1"), lengths.required().range("1", kLongestText)});
  return table;
}

std::shared_ptr<const LengthDistribution> make_length(const Values& section, Diagnostics& diagnostics) {
  const std::string& distribution = section.text("distribution");
  if (distribution == "fixed") {
    return make_fixed_length(tokens(section, "tokens"));
  }
  if (distribution == "quantiles") {
    return make_quantiles(section, diagnostics);
  }
  if (!bounds_are_right(section, diagnostics)) {
    return nullptr;
  }
  if (distribution == "uniform") {
    return make_uniform_length(tokens(section, "min"), tokens(section, "max"));
  }
  if (distribution == "zipf") {
    return make_zipf_length(tokens(section, "min"), tokens(section, "max"), section.number("exponent"));
  }
  return make_log_normal(section, diagnostics);
}

}  // namespace inferometer
