// Profiles as JSON: written by hand, a value a line, so that two of them can be compared line by line; read
// by simdjson, which takes about a millisecond for a megabyte.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <simdjson.h>

#include "base/config/file_text.hpp"
#include "base/error.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "costmodel/kernels/linear_trend.hpp"
#include "costmodel/kernels/tree_text.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kSchema = "inferometer-profile/1";
constexpr std::size_t kMostBytes = 64u << 20;

// ---- writing ----

/// Bytes that are no UTF-8 become U+FFFD: they come from the headers of tables and from the command line.
std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number(double value) {
  return fmt::format("{}", value);
}

/// To so many significant digits.
std::string short_number(double value, int digits = 4) {
  return fmt::format("{:.{}g}", value, digits);
}

template <class Values, class Text>
std::string list(const Values& values, Text text) {
  std::string result = "[";
  for (const auto& value : values) {
    result += (result.size() > 1 ? "," : "") + text(value);
  }
  return result + "]";
}

std::string trees_json(const RegressionTrees& trees) {
  const auto edges = list(trees.edges(), [](const std::vector<double>& cuts) { return list(cuts, number); });
  return fmt::format("{{\"edges\": {},\n      \"codes\": \"{}\"}}", edges, tree_text(trees.codes()));
}

/// To fewer digits than a double has: what comes back as seconds is written the same again.
std::string microseconds_number(double seconds) {
  return short_number(seconds * 1e6, 12);
}

std::string roofline_json(const RooflineConstants& roofline) {
  return fmt::format(
      "{{\"start_up_us\": {}, \"per_unit_us\": {}, \"compute_efficiency\": {}, \"bandwidth_efficiency\": {}, "
      "\"overhang_tokens\": {}}}",
      microseconds_number(roofline.start_up_s), microseconds_number(roofline.per_unit_s),
      number(roofline.compute_efficiency), number(roofline.bandwidth_efficiency),
      number(roofline.overhang_tokens));
}

std::string error_json(const RegionError& error) {
  return fmt::format(
      "{{\"region\": {}, \"points\": {}, \"bias\": {}, \"median\": {}, \"mean\": {}, \"p90\": {},\n"
      "       \"log_ratio\": {}}}",
      json_text(error.region), error.points, short_number(error.bias), short_number(error.median),
      short_number(error.mean), short_number(error.p90),
      list(error.log_ratio, [](double value) { return short_number(value); }));
}

std::string curve_json(const SizeCurve& curve) {
  return fmt::format("{{\"gpus\": {}, \"bytes\": {},\n       \"log_ratio\": {}}}", number(curve.gpus),
                     list(curve.bytes, number),
                     list(curve.log_ratio, [](double value) { return short_number(value, 5); }));
}

std::string range_json(const KernelFit& fit) {
  std::string result;
  const auto axes = info(fit.family).axes;
  for (std::size_t i = 0; i < fit.range.size(); ++i) {
    result += fmt::format("{}\"{}\": [{}, {}]", i > 0 ? ", " : "", axes[i], number(fit.range[i].low),
                          number(fit.range[i].high));
  }
  return "{" + result + "}";
}

std::string fit_json(const KernelFit& fit) {
  const std::string library = fit.library.empty() ? "" : ", \"library\": " + json_text(fit.library);
  std::string text = fmt::format(
      "    {{\"family\": \"{}\", \"variant\": \"{}\"{}, \"points\": {},\n     \"range\": {},\n     "
      "\"roofline\": {},\n"
      "     \"errors\": {}",
      to_string(fit.family), fit.variant, library, fit.points, range_json(fit), roofline_json(fit.roofline),
      list(fit.regions, error_json));
  if (!fit.rows.empty()) {
    text += ",\n     \"rows\": " + list(fit.rows, number);
  }
  if (!fit.curves.empty()) {
    text += ",\n     \"curves\": " + list(fit.curves, curve_json);
  }
  if (fit.trees.tree_count() > 0) {
    text += ",\n     \"trees\": " + trees_json(fit.trees);
  }
  if (!fit.slopes.empty()) {
    text += ",\n     \"slopes\": " + list(fit.slopes, number);
  }
  if (fit.trees_in_l2.tree_count() > 0) {
    text += ",\n     \"trees_in_l2\": " + trees_json(fit.trees_in_l2);
  }
  return text + "}";
}

std::string source_json(const ProfileSource& source) {
  return fmt::format("\n    {{\"library\": {}, \"source\": {}, \"notice\": {}}}", json_text(source.library),
                     json_text(source.source), json_text(source.notice));
}

// ---- reading ----

using simdjson::dom::array;
using simdjson::dom::element;

bool is_measure(double log_ratio) {
  return std::abs(log_ratio) <= RegressionTrees::kMostValue;
}

/// What a profile's reader needs to say where something is wrong: the file, and the path to the value.
class ProfileReader {
 public:
  explicit ProfileReader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw ConfigError(Position{file_}, "this is no profile of kernels: " + why);
  }

  element member(const element& object, const char* name) const {
    element value;
    if (object[name].get(value) != simdjson::SUCCESS) {
      refuse(fmt::format("\"{}\" is missing", name));
    }
    return value;
  }
  std::string text(const element& object, const char* name) const {
    std::string_view value;
    if (member(object, name).get(value) != simdjson::SUCCESS) {
      refuse(fmt::format("\"{}\" is no text", name));
    }
    return std::string(value);
  }
  double number_from(const element& value, std::string_view name) const {
    double result = 0;
    if (value.get(result) != simdjson::SUCCESS) {
      refuse(fmt::format("\"{}\" is no number", name));
    }
    return result;
  }
  double figure(const element& object, const char* name, double low, double high) const {
    const double value = number_from(member(object, name), name);
    if (!(value >= low && value <= high)) {
      refuse(fmt::format("\"{}\" is {}; allowed is {} to {}", name, value, low, high));
    }
    return value;
  }
  array items(const element& object, const char* name) const {
    array value;
    if (member(object, name).get(value) != simdjson::SUCCESS) {
      refuse(fmt::format("\"{}\" is no list", name));
    }
    return value;
  }
  std::vector<double> listed(const array& values, std::string_view name) const {
    std::vector<double> result;
    for (const element& value : values) {
      result.push_back(number_from(value, name));
    }
    return result;
  }
  std::vector<double> figures(const element& object, const char* name) const {
    return listed(items(object, name), name);
  }

  RegressionTrees trees(const element& object) const {
    std::vector<std::vector<double>> edges;
    for (const element& cuts : items(object, "edges")) {
      array values;
      if (cuts.get(values) != simdjson::SUCCESS) {
        refuse("\"edges\" are no lists");
      }
      edges.push_back(listed(values, "edges"));
    }
    try {
      return {std::move(edges), codes_from_text(text(object, "codes"))};
    } catch (const ConfigError& error) {
      refuse(error.diagnostics().front().message);
    }
  }

  RooflineConstants roofline(const element& object) const {
    constexpr double kMostMicroseconds = 1e6;
    return {.start_up_s = figure(object, "start_up_us", 0, kMostMicroseconds) * 1e-6,
            .per_unit_s = figure(object, "per_unit_us", 0, kMostMicroseconds) * 1e-6,
            .compute_efficiency = figure(object, "compute_efficiency", 1e-6, 1),
            .bandwidth_efficiency = figure(object, "bandwidth_efficiency", 1e-6, 1),
            .overhang_tokens = figure(object, "overhang_tokens", 1, 1e6)};
  }

  RegionError error(const element& object) const {
    RegionError result{.region = text(object, "region"),
                       .points = static_cast<std::int64_t>(figure(object, "points", 1, 1e12)),
                       .bias = figure(object, "bias", -1, 1e6),
                       .median = figure(object, "median", 0, 1e6),
                       .mean = figure(object, "mean", 0, 1e6),
                       .p90 = figure(object, "p90", 0, 1e6)};
    const std::vector<double> ratios = figures(object, "log_ratio");
    if (ratios.size() != result.log_ratio.size() || !std::is_sorted(ratios.begin(), ratios.end()) ||
        !std::all_of(ratios.begin(), ratios.end(), is_measure)) {
      refuse(fmt::format("the \"log_ratio\" of an error takes {} numbers, ascending, none beyond {}",
                         result.log_ratio.size(), RegressionTrees::kMostValue));
    }
    std::copy(ratios.begin(), ratios.end(), result.log_ratio.begin());
    return result;
  }

  SizeCurve curve(const element& object) const {
    SizeCurve result{.gpus = figure(object, "gpus", 2, 1e6),
                     .bytes = figures(object, "bytes"),
                     .log_ratio = figures(object, "log_ratio")};
    const bool ascends = std::adjacent_find(result.bytes.begin(), result.bytes.end(),
                                            std::greater_equal<>()) == result.bytes.end();
    if (result.bytes.empty() || !ascends || result.bytes.front() <= 0 ||
        result.bytes.size() != result.log_ratio.size()) {
      refuse("a curve takes as many \"log_ratio\" as \"bytes\", which ascend from above 0");
    }
    if (!std::all_of(result.log_ratio.begin(), result.log_ratio.end(), is_measure)) {
      refuse(fmt::format("a \"log_ratio\" of a curve is beyond {}", RegressionTrees::kMostValue));
    }
    return result;
  }

  KernelFit fit(const element& object) const {
    KernelFit result;
    const std::string family = text(object, "family");
    const std::optional<KernelFamily> known = kernel_family_from(family);
    if (!known) {
      refuse("\"" + family + "\" is no family of kernels");
    }
    result.family = *known;
    result.variant = text(object, "variant");
    const auto variants = info(result.family).variants;
    if (std::find(variants.begin(), variants.end(), result.variant) == variants.end()) {
      refuse("\"" + result.variant + "\" is no variant of " + family);
    }
    element lender;
    if (object["library"].get(lender) == simdjson::SUCCESS) {
      result.library = text(object, "library");
    }
    result.points = static_cast<std::int64_t>(figure(object, "points", 1, 1e12));
    result.roofline = roofline(member(object, "roofline"));
    const element ranges = member(object, "range");
    for (const std::string_view axis : info(result.family).axes) {
      const std::vector<double> range = figures(ranges, std::string(axis).c_str());
      if (range.size() != 2 || range[0] < 0 || range[0] > range[1]) {
        refuse(fmt::format("the range of \"{}\" is not two numbers from 0 on, low and high", axis));
      }
      result.range.push_back({range[0], range[1]});
    }
    for (const element& value : items(object, "errors")) {
      result.regions.push_back(error(value));
    }
    read_correction(object, result);
    return result;
  }

  void read_correction(const element& object, KernelFit& fit) const {
    element part;
    if (object["trees"].get(part) == simdjson::SUCCESS) {
      fit.trees = trees(part);
    }
    if (object["trees_in_l2"].get(part) == simdjson::SUCCESS) {
      fit.trees_in_l2 = trees(part);
    }
    if (object["slopes"].get(part) == simdjson::SUCCESS) {
      fit.slopes = figures(object, "slopes");
      if (fit.slopes.size() != fit.trees.edges().size() ||
          !(largest_trend(fit.slopes, fit.trees.edges()) <= RegressionTrees::kMostValue)) {
        refuse("\"slopes\" are one for each feature that the trees cut, and small");
      }
    }
    const std::size_t features = feature_count(fit.family);
    for (const RegressionTrees* grown : {&fit.trees, &fit.trees_in_l2}) {
      if (grown->tree_count() > 0 && grown->edges().size() != features) {
        refuse(fmt::format("the trees of {} cut {} features; it has {}", to_string(fit.family),
                           grown->edges().size(), features));
      }
    }
    if (object["rows"].get(part) == simdjson::SUCCESS) {
      fit.rows = figures(object, "rows");
      const bool ascends =
          std::adjacent_find(fit.rows.begin(), fit.rows.end(), std::greater_equal<>()) == fit.rows.end();
      if (fit.rows.empty() || !ascends || fit.rows.front() < 1) {
        refuse("\"rows\" are whole numbers from 1 on, ascending, at least one");
      }
    }
    if (fit.family == KernelFamily::collective) {
      for (const element& value : items(object, "curves")) {
        fit.curves.push_back(curve(value));
      }
      const auto not_above = [](const SizeCurve& a, const SizeCurve& b) { return a.gpus >= b.gpus; };
      if (fit.curves.empty() ||
          std::adjacent_find(fit.curves.begin(), fit.curves.end(), not_above) != fit.curves.end()) {
        refuse("\"curves\" of a collective are in order of their GPUs, each once, at least one");
      }
    }
  }

 private:
  std::string file_;
};

}  // namespace

std::string to_json(const KernelProfile& profile) {
  std::string text = fmt::format(
      "{{\n  \"schema\": \"{}\",\n  \"gpu\": {},\n  \"library\": {},\n  \"date\": {},\n  \"sources\": {},\n"
      "  \"fits\": [\n",
      kSchema, json_text(profile.gpu), json_text(profile.library), json_text(profile.date),
      list(profile.sources, source_json));
  for (std::size_t i = 0; i < profile.fits.size(); ++i) {
    text += fit_json(profile.fits[i]) + (i + 1 < profile.fits.size() ? ",\n" : "\n");
  }
  return text + "  ]\n}\n";
}

bool is_kernel_profile(const std::string& path) {
  constexpr std::size_t kFirstBytes = 200;
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) {
    return false;
  }
  std::string first(kFirstBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  return first.find("\"inferometer-profile/") != std::string::npos;
}

KernelProfile read_kernel_profile(const std::string& path) {
  return parse_kernel_profile(read_regular_file(path, kMostBytes), path);
}

KernelProfile parse_kernel_profile(std::string_view text, const std::string& file) {
  const ProfileReader reader(file);
  if (text.size() > kMostBytes) {
    reader.refuse(fmt::format("it is larger than {} MiB", kMostBytes >> 20));
  }
  simdjson::dom::parser parser;
  element root;
  if (const simdjson::error_code error = parser.parse(text.data(), text.size()).get(root)) {
    reader.refuse(simdjson::error_message(error));
  }
  const std::string schema = reader.text(root, "schema");
  if (schema != kSchema) {
    reader.refuse(fmt::format("its schema is \"{}\"; this program reads \"{}\"", schema, kSchema));
  }
  KernelProfile profile;
  profile.gpu = reader.text(root, "gpu");
  profile.library = reader.text(root, "library");
  profile.date = reader.text(root, "date");
  for (const element& source : reader.items(root, "sources")) {
    profile.sources.push_back(
        {reader.text(source, "library"), reader.text(source, "source"), reader.text(source, "notice")});
  }
  for (const element& fit : reader.items(root, "fits")) {
    profile.fits.push_back(reader.fit(fit));
    if (find_fit(profile, profile.fits.back().family, profile.fits.back().variant) != &profile.fits.back()) {
      reader.refuse(fmt::format("{} {} occurs twice", to_string(profile.fits.back().family),
                                profile.fits.back().variant));
    }
  }
  return profile;
}

}  // namespace inferometer
