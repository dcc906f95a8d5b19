#include "sim/study/plan/plan_spec.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sim/metrics/slo.hpp"
#include "sim/study/plan/candidates_section.hpp"

namespace inferometer {
namespace {

template <class Enum>
struct Word {
  const char* word;
  Enum value;
};

template <class Enum, std::size_t n>
std::vector<std::string> words_of(const Word<Enum> (&words)[n]) {
  std::vector<std::string> texts;
  for (const Word<Enum>& each : words) {
    texts.emplace_back(each.word);
  }
  return texts;
}

template <class Enum, std::size_t n>
Enum value_of(const Word<Enum> (&words)[n], const std::string& text) {
  return std::find_if(std::begin(words), std::end(words),
                      [&](const Word<Enum>& each) { return each.word == text; })
      ->value;
}

constexpr Word<Objective> kObjectives[] = {{"dollars_per_hour", Objective::dollars_per_hour},
                                           {"gpus", Objective::gpus},
                                           {"watts", Objective::watts}};
constexpr Word<SearchGoal> kGoals[] = {{"cheapest", SearchGoal::cheapest}, {"front", SearchGoal::front}};
constexpr Word<SustainedOf> kSustained[] = {{"none", SustainedOf::none},
                                            {"answer", SustainedOf::answer},
                                            {"front", SustainedOf::front},
                                            {"all", SustainedOf::all}};

Table limits_table() {
  Table table("limits", "What may be bought at most");
  table.add("gpus", ValueType::count, "GPUs in all").optional("any number").range("1", "1000000");
  table.add("power", ValueType::power, "Power limits of all GPUs together").optional("any power");
  table.add("price", ValueType::price_rate, "Price of all GPUs together").optional("any price");
  return table;
}

Table sustained_table() {
  Table table("sustained_rate", "The highest rate that a deployment sustains within the SLO");
  table
      .add_choice(
          "of", words_of(kSustained),
          "Whose is looked for: of the answer, of the deployments that no other beats in cost, latency "
          "and power, or of one size of every shape")
      .by_default("answer");
  table
      .add("tolerance", ValueType::number,
           "A rate that meets the SLO and one that does not are at most this share apart")
      .by_default("0.02")
      .range("0.001", "0.5");
  return table;
}

ScenarioLayer section_layer(const std::string& cause, const std::string& section, ConfigNode content) {
  ScenarioLayer layer{cause, {}, {}};
  layer.tree.kind = ConfigNode::Kind::map;
  layer.tree.where = content.where;
  layer.tree.entries.push_back({section, content.where, std::move(content)});
  return layer;
}

/// `traffic` without what is the plan's own.
ConfigNode workload_of(const ConfigNode& traffic) {
  ConfigNode workload = traffic;
  std::erase_if(workload.entries, [](const ConfigNode::Entry& entry) { return entry.key == "growth"; });
  return workload;
}

double read_growth(const ConfigNode& traffic, Diagnostics& diagnostics) {
  const ConfigNode* const growth = traffic.find("growth");
  if (growth == nullptr) {
    return 1;
  }
  Table table("traffic", "");
  table.add("growth", ValueType::number, "Times the traffic").by_default("1").above("0").range("", "1000");
  ConfigNode only = traffic;
  std::erase_if(only.entries, [](const ConfigNode::Entry& entry) { return entry.key != "growth"; });
  Diagnostics found;
  const Values values = parse(table, only, found);
  for (const Diagnostic& mistake : found.found()) {
    diagnostics.add(mistake.where, mistake.message);
  }
  return found.empty() ? values.number("growth") : 1;
}

void read_traffic(PlanSpec& spec, Diagnostics& diagnostics) {
  if (!spec.values.has("traffic")) {
    return;
  }
  const ConfigNode& traffic = spec.values.tree("traffic");
  if (traffic.kind != ConfigNode::Kind::map) {
    diagnostics.add(traffic.where,
                    "traffic: expected a map of the keys of workload, and growth; write e.g. "
                    "\"traffic: {growth: 1.5}\"");
    return;
  }
  spec.growth = read_growth(traffic, diagnostics);
  spec.common.push_back(section_layer("traffic", "workload", workload_of(traffic)));
}

/// A study that says an SLO says all of it.
void add_slo(PlanSpec& spec, const ConfigNode& root) {
  const ConfigNode* const slo = root.find("slo");
  if (slo == nullptr) {
    return;
  }
  spec.common.push_back(section_layer("slo", "slo", *slo));
  spec.common.back().replaced = {"slo"};
}

void read_prices(PlanSpec& spec, Diagnostics& diagnostics) {
  if (!spec.values.has("prices")) {
    return;
  }
  const ConfigNode& prices = spec.values.tree("prices");
  if (prices.kind != ConfigNode::Kind::map) {
    diagnostics.add(prices.where,
                    "prices: expected a map of GPUs and prices; write e.g. \"prices: {h100-sxm: 2.5 $/h}\"");
    return;
  }
  Table table("prices", "Prices of one GPU");
  for (const ConfigNode::Entry& entry : prices.entries) {
    table.add(entry.key, ValueType::price_rate, "Price of one").required().range("0 $/h", "1000 $/h");
  }
  const Values values = parse(table, prices, diagnostics);
  for (const Value& value : values.all()) {
    if (!value.scalars.empty()) {
      spec.prices[value.key] = values.price_rate(value.key).count();
    }
  }
}

void read_choices(PlanSpec& spec) {
  const Values& values = spec.values;
  spec.seeds = values.count("seeds");
  spec.failed_max = values.number("failed_max");
  spec.objective = value_of(kObjectives, values.text("minimize"));
  spec.goal = value_of(kGoals, values.text("search"));
  const Values& sustained = values.section("sustained_rate");
  spec.sustained = value_of(kSustained, sustained.text("of"));
  spec.tolerance = sustained.number("tolerance");
  spec.prune = values.flag("prune");
  spec.sensitivity = values.flag("sensitivity");
  const Values& limits = values.section("limits");
  if (limits.has("gpus")) {
    spec.limits.gpus = limits.count("gpus");
  }
  if (limits.has("power")) {
    spec.limits.watts = limits.power("power").count();
  }
  if (limits.has("price")) {
    spec.limits.dollars_per_hour = limits.price_rate("price").count();
  }
}

/// A file for another command gets one answer instead of many about its keys.
void refuse_other_kinds(const ConfigNode& root) {
  if (root.find("variants") != nullptr && root.find("candidates") == nullptr) {
    throw ConfigError({root.where.file, 0, 0},
                      "compares variants, which \"inferometer compare\" does; a plan has candidates");
  }
  if (root.find("model") != nullptr && root.find("base") == nullptr) {
    throw ConfigError({root.where.file, 0, 0},
                      "is a scenario, which \"inferometer run\" replays; a plan has a base and candidates");
  }
}

}  // namespace

std::string_view to_string(Objective objective) {
  return kObjectives[static_cast<std::size_t>(objective)].word;
}

Table plan_table() {
  Table table("", "One question: what to buy for this traffic and these limits on latency");
  table.add("base", ValueType::tree, "A scenario file, from the study's folder, or a scenario written out")
      .required();
  table.add("description", ValueType::text, "What the study is about").optional("none");
  table
      .add("traffic", ValueType::tree,
           "Keys of a scenario's workload that differ from the base, and growth: times that traffic")
      .optional("the base's");
  table.add_section("slo", slo_table(), "Latencies that must be met")
      .optional("the base's")
      .described_as("slo of a scenario");
  table
      .add("candidates", ValueType::tree,
           "What may be bought: for each key one value, a list, or whole numbers such as 1..64; every "
           "combination is a candidate")
      .required();
  table.add("prices", ValueType::tree, "Price of one GPU, by its name: {h100-sxm: 2.5 $/h}")
      .optional("those of the scenario and of the GPUs' descriptions");
  table.add_section("limits", limits_table(), "What may be bought at most");
  table
      .add_choice("minimize", words_of(kObjectives), "What the answer has least of, of all that meet the SLO")
      .by_default("dollars_per_hour");
  table
      .add("seeds", ValueType::count,
           "Runs of each deployment, with other arrivals and lengths; the mean over them must meet the SLO")
      .by_default("3")
      .range("1", "100");
  table
      .add("failed_max", ValueType::number,
           "Largest share of requests that may be rejected or lost in a deployment that meets the SLO")
      .by_default("0.01")
      .range("0", "1");
  table
      .add_choice("search", words_of(kGoals),
                  "cheapest: leaves out what cannot be cheaper than a deployment that meets the SLO; front: "
                  "finds the smallest size of every shape")
      .by_default("cheapest");
  table.add_section("sustained_rate", sustained_table(),
                    "The highest rate that a deployment sustains within the SLO");
  table
      .add("prune", ValueType::flag,
           "Leave out unseen what cannot meet the SLO even if no GPU ever idles; what the answer costs stays "
           "the "
           "same")
      .by_default("true");
  table
      .add("sensitivity", ValueType::flag,
           "Also run the answer's neighbours, in which one key has another of its values")
      .by_default("true");
  return table;
}

PlanSpec read_plan(const std::string& path, const std::vector<std::string>& assignments) {
  return read_plan_tree(read_yaml_file(path), path, assignments);
}

PlanSpec read_plan_tree(const ConfigNode& root, const std::string& file,
                        const std::vector<std::string>& assignments) {
  refuse_other_kinds(root);
  Diagnostics diagnostics;
  PlanSpec spec;
  spec.file = file;
  spec.values = parse(plan_table(), root, diagnostics);
  read_prices(spec, diagnostics);
  read_traffic(spec, diagnostics);
  read_candidates(spec, diagnostics);
  diagnostics.throw_if_any();
  read_choices(spec);
  add_slo(spec, root);
  spec.base = read_study_base(spec.values, file);
  for (const std::string& assignment : assignments) {
    apply_override(spec.base.tree, assignment);
  }
  return spec;
}

}  // namespace inferometer
