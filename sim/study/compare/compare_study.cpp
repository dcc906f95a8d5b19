#include "sim/study/compare/compare_study.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "sim/study/compare/variant_reader.hpp"
#include "sim/study/outcome.hpp"
#include "sim/study/seed_use.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

/// Few enough that Holm's correction leaves differences to be shown, enough to see what a variant costs. With
/// limits on requests their share that kept them joins.
const std::vector<std::string> kDefaultMetrics = {
    "request_throughput",
    "output_throughput",
    "median_ttft_ms",
    "p99_ttft_ms",
    "median_tpot_ms",
    "p99_tpot_ms",
    "p99_itl_ms",
    "p99_e2el_ms",
    "joules_per_output_token",
    "output_dollars_per_million_tokens",
};

/// What the answer is about where the study does not say.
constexpr const char* kUsualLeader = "p99_ttft_ms";

/// What stands in a file that is something else.
void refuse_other_files(const ConfigNode& root, const std::string& file) {
  if (root.kind != ConfigNode::Kind::map || root.find("variants") != nullptr) {
    return;
  }
  if (root.find("candidates") != nullptr) {
    throw ConfigError({file},
                      "asks for a capacity, which \"inferometer plan\" answers; a comparison has variants");
  }
  if (root.find("model") != nullptr || root.find("extends") != nullptr) {
    throw ConfigError({file},
                      "is a scenario, which \"inferometer run\" runs; a comparison lays variants over one: "
                      "\"base: " +
                          std::filesystem::path(file).filename().string() +
                          "\" and \"variants: {as it is: {}, larger chunks: {engine.max_num_batched_tokens: "
                          "8192}}\"");
  }
}

/// One load of the list, as a layer over the variants.
struct Load {
  std::string name;
  ConfigNode value;
};

/// The loads that a list of the study names; one without a name when there is no list.
std::vector<Load> read_loads(const Values& values, const ConfigNode& root, const std::string& file,
                             Diagnostics& diagnostics) {
  if (values.given("rates") && values.given("traces")) {
    diagnostics.add(values.where("traces"), "expected rates or traces, found both");
    return {};
  }
  const char* key = values.given("rates") ? "rates" : "traces";
  if (!values.given(key)) {
    return {Load{}};
  }
  const ConfigNode& list = *root.find(key);
  std::vector<Load> loads;
  for (const Value& value : values.all()) {
    for (std::size_t i = 0; value.key == key && i < value.scalars.size(); ++i) {
      const ConfigNode& item = list.kind == ConfigNode::Kind::sequence ? list.items[i] : list;
      const std::string name = to_text(value.scalars[i]);
      if (std::any_of(loads.begin(), loads.end(), [&](const Load& each) { return each.name == name; })) {
        diagnostics.add(item.where, fmt::format("{}: {} stands there twice", key, name));
      }
      const std::filesystem::path path = std::filesystem::path(file).parent_path() / name;
      if (!values.given("rates") && !std::filesystem::exists(path)) {
        diagnostics.add(item.where, "traces: there is no file " + path.lexically_normal().string());
      }
      loads.push_back({name, item});
    }
  }
  if (loads.empty()) {
    diagnostics.add(list.where,
                    fmt::format("{}: the list is empty; leave the key out for the base's traffic", key));
  }
  return loads;
}

std::vector<std::string> read_metrics(const Values& values, const ConfigNode& root,
                                      Diagnostics& diagnostics) {
  if (!values.given("metrics")) {
    return kDefaultMetrics;
  }
  const ConfigNode& list = *root.find("metrics");
  const std::vector<std::string> metrics = values.texts("metrics");
  const std::vector<std::string> known = study_metric_names();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const Position& where = list.kind == ConfigNode::Kind::sequence ? list.items[i].where : list.where;
    if (std::find(known.begin(), known.end(), metrics[i]) == known.end()) {
      diagnostics.add(where, fmt::format("metrics: \"{}\" is not known{} (known: {})", metrics[i],
                                         did_you_mean(metrics[i], known), join_alternatives(known, "and")));
    } else if (std::find(metrics.begin(), metrics.begin() + static_cast<std::ptrdiff_t>(i), metrics[i]) !=
               metrics.begin() + static_cast<std::ptrdiff_t>(i)) {
      diagnostics.add(where, fmt::format("metrics: {} stands there twice", metrics[i]));
    }
  }
  if (metrics.empty()) {
    diagnostics.add(list.where, "metrics: the list is empty; leave the key out for the usual ones");
  }
  return metrics;
}

/// Puts the baseline first.
void choose_baseline(const Values& values, std::vector<Variant>& variants, Diagnostics& diagnostics) {
  if (!values.given("baseline")) {
    return;
  }
  const std::string& name = values.text("baseline");
  const auto found =
      std::find_if(variants.begin(), variants.end(), [&](const Variant& each) { return each.name == name; });
  if (found != variants.end()) {
    std::rotate(variants.begin(), found, found + 1);
    return;
  }
  // Those of which something is wrong have a name as well.
  std::vector<std::string> known;
  for (const ConfigNode::Entry& entry : values.tree("variants").entries) {
    known.push_back(entry.key);
  }
  if (known.empty() || std::find(known.begin(), known.end(), name) != known.end()) {
    return;
  }
  diagnostics.add(values.where("baseline"),
                  fmt::format("baseline: there is no variant \"{}\"{} (known: {})", name,
                              did_you_mean(name, known), join_alternatives(known, "and")));
}

ConfigNode load_tree(const Load& load, const std::string& key) {
  ConfigNode workload;
  workload.kind = ConfigNode::Kind::map;
  workload.where = load.value.where;
  workload.entries.push_back({key, load.value.where, load.value});
  ConfigNode tree;
  tree.kind = ConfigNode::Kind::map;
  tree.where = load.value.where;
  tree.entries.push_back({"workload", load.value.where, std::move(workload)});
  return tree;
}

/// The changes of the command line, then a variant.
std::vector<ScenarioLayer> layers_of(const std::vector<ScenarioLayer>& assigned, const Variant& variant) {
  std::vector<ScenarioLayer> layers = assigned;
  layers.push_back({"variant " + variant.name, variant.tree});
  return layers;
}

/// Why a rate means nothing to the traffic; empty when it does, or when nobody can tell yet.
std::string rate_fault(const Scenario& scenario) {
  const Values& workload = scenario.workload();
  if (workload.given("generator")) {
    const std::string& generator = workload.text("generator");
    if (generator == "closed_loop") {
      return "clients of a closed loop send as fast as they are answered; compare workload.clients as "
             "variants";
    }
    return generator == "all_at_once" ? "all requests of all_at_once arrive at the start" : "";
  }
  if (!workload.given("trace") || workload.given("rate")) {
    return "";
  }
  try {
    make_workload(workload, scenario.seed(), scenario.trace_directory());
    return "the trace has its own arrival times; compare {workload.rate_scale: 2} and the like as variants";
  } catch (const InputError&) {
    return "";  // a trace without times, or one that cannot be read, which is told when the rate is laid over
                // it
  }
}

/// Whether rates can be laid over all variants.
void check_rates(const StudyBase& base, const std::vector<ScenarioLayer>& assigned,
                 const std::vector<Variant>& variants, const Position& where, Diagnostics& diagnostics) {
  for (const Variant& variant : variants) {
    std::string fault;
    try {
      ScenarioOverrides overrides;
      overrides.layers = layers_of(assigned, variant);
      fault = rate_fault(load_scenario_tree(base.tree, base.file, overrides));
    } catch (const ConfigError&) {
      continue;  // it may lack a rate; other mistakes come again with one
    }
    if (!fault.empty()) {
      diagnostics.add(where, "rates: " + fault);
      return;
    }
  }
}

/// Each mistake once, though every load of a variant has it.
void throw_mistakes(const std::vector<Diagnostic>& mistakes) {
  std::set<std::pair<std::string, std::string>> told;
  Diagnostics diagnostics;
  for (const Diagnostic& mistake : mistakes) {
    if (told.emplace(to_string(mistake.where), mistake.message).second) {
      diagnostics.add(mistake.where, mistake.message);
    }
  }
  diagnostics.throw_if_any();
}

/// Whether seeds matter under each load. Throws what is wrong with any case.
void look_at_cases(CompareStudy& study) {
  std::vector<Diagnostic> mistakes;
  for (std::size_t load = 0; load < study.loads.size(); ++load) {
    bool is_seeded = false;
    for (std::size_t variant = 0; variant < study.variants.size(); ++variant) {
      try {
        is_seeded = depends_on_seed(study.scenario(load, variant)) || is_seeded;
      } catch (const InputError& error) {
        mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
      }
    }
    study.loads[load].is_seeded = is_seeded;
  }
  throw_mistakes(mistakes);
}

void add_notes(CompareStudy& study) {
  const auto add = [&](const std::string& note) {
    if (std::find(study.notes.begin(), study.notes.end(), note) == study.notes.end()) {
      study.notes.push_back(note);
    }
  };
  for (std::size_t each = 0; each < study.loads.size() * study.variants.size(); ++each) {
    const Scenario& scenario = study.book.scenario(static_cast<std::int64_t>(each));
    for (const std::string& note : scenario.notes) {
      add(note);
    }
    if (scenario.uncertainty_runs() > 0) {
      add("uncertainty.runs is for single runs: intervals here are over seeds, and kernels are priced as "
          "measured");
    }
    const Values& sensitivity = scenario.values.section("sensitivity");
    if (sensitivity.has("step_time") && sensitivity.number("step_time") > 0) {
      add("sensitivity.step_time is for single runs: no run of a study is repeated with other steps");
    }
  }
}

std::int64_t first_seed(const CompareStudy& study) {
  return study.scenario(0, 0).values.count("seed");
}

bool any_request_limits(const CompareStudy& study) {
  for (std::size_t variant = 0; variant < study.variants.size(); ++variant) {
    if (study.scenario(0, variant).slo.request.any()) {
      return true;
    }
  }
  return false;
}

/// What there is to say once every case is known to be a scenario.
void complete(CompareStudy& study, const Values& values) {
  look_at_cases(study);
  add_notes(study);
  const Values& baseline = study.scenario(0, 0).values;
  study.description = values.given("description")   ? values.text("description")
                      : baseline.has("description") ? baseline.text("description")
                                                    : "";
  for (std::int64_t i = 0; i < values.count("seeds"); ++i) {
    study.seeds.push_back(first_seed(study) + i);
  }
  if (!values.given("metrics") && any_request_limits(study)) {
    study.metrics.emplace_back("goodput_share");
  }
}

/// What else sets a key that the study sets would mean nothing.
void refuse_set_keys(const Values& values, const std::vector<ScenarioLayer>& assigned,
                     const std::vector<Variant>& variants, Diagnostics& diagnostics) {
  std::vector<SetKey> set_keys;
  if (values.given("rates")) {
    set_keys.push_back({{"workload", "rate"}, "the rates of the study set it"});
  }
  if (values.given("traces")) {
    set_keys.push_back({{"workload", "trace"}, "the traces of the study set it"});
  }
  for (const ScenarioLayer& layer : assigned) {
    refuse_keys(layer.tree, set_keys, diagnostics);
  }
  // The base's own seed may be changed, and all variants' with it.
  set_keys.push_back({{"seed"}, "all variants have the same seeds, which follow the base's"});
  for (const Variant& variant : variants) {
    refuse_keys(variant.tree, set_keys, diagnostics);
  }
}

}  // namespace

std::string_view to_string(Correction correction) {
  return correction == Correction::holm ? "holm" : "none";
}

Table compare_table() {
  Table table("", "A comparison: one scenario in several variants, under the same traffic");
  table.add("description", ValueType::text, "What the comparison is about").optional("that of its base");
  table
      .add("base", ValueType::tree,
           "The scenario that variants change: a file, named from the study's folder, or a scenario written "
           "out")
      .required();
  table
      .add_list("rates", ValueType::rate,
                "Request rates at which variants are compared; each is laid over workload.rate")
      .optional("the base's traffic as it is, or traces")
      .above("0 req/s");
  table
      .add_list("traces", ValueType::text,
                "Traces under which variants are compared, from the study's folder; each is laid over "
                "workload.trace")
      .optional("the base's traffic as it is, or rates");
  table
      .add("seeds", ValueType::count,
           "Runs of each variant under each load: with the base's seed and those that follow. All variants "
           "get the same requests for the same seed, so that their differences are paired")
      .by_default("5")
      .range("1", "1000");
  table.add("baseline", ValueType::text, "The variant that the others are compared with")
      .optional("the first of variants");
  table
      .add_list("metrics", ValueType::text,
                "What is compared, by the names of results.json; the first is what the answer is about. All "
                "names: inferometer describe compare")
      .optional("throughput, latencies, energy and cost, ten or eleven; the answer is about p99_ttft_ms");
  table
      .add_choice(
          "correction", {"holm", "none"},
          "What keeps verdicts honest, as one in twenty intervals of 95 % misses by chance. holm: all "
          "metrics of one variant under one load together show a false difference in 5 % of cases "
          "at most (Holm-Bonferroni); none: each metric for itself does")
      .by_default("holm");
  table
      .add("variants", ValueType::tree,
           "At least two, by name: what each changes in the base, as a map that may be nested "
           "(engine: {policy: orca}) or dotted (engine.policy: orca); {} is the base as it is")
      .required();
  return table;
}

std::vector<std::int64_t> CompareStudy::seeds_of(std::size_t load) const {
  return loads[load].is_seeded ? seeds : std::vector<std::int64_t>{seeds.front()};
}

std::int64_t CompareStudy::runs() const {
  std::size_t count = 0;
  for (std::size_t load = 0; load < loads.size(); ++load) {
    count += seeds_of(load).size() * variants.size();
  }
  return static_cast<std::int64_t>(count);
}

CompareStudy read_compare_study(const std::string& file, const std::vector<std::string>& assignments) {
  const ConfigNode root = read_yaml_file(file);
  refuse_other_files(root, file);
  Diagnostics diagnostics;
  const Values values = parse(compare_table(), root, diagnostics);
  diagnostics.throw_if_any();
  std::vector<Variant> variants = read_variants(values.tree("variants"), diagnostics);
  const std::vector<Load> loads = read_loads(values, root, file, diagnostics);
  std::vector<std::string> metrics = read_metrics(values, root, diagnostics);
  choose_baseline(values, variants, diagnostics);
  diagnostics.throw_if_any();
  StudyBase base = read_study_base(values, file);
  std::vector<ScenarioLayer> assigned;
  for (const std::string& assignment : assignments) {
    assigned.push_back({"--set " + assignment, override_node(base.tree, assignment)});
  }
  refuse_set_keys(values, assigned, variants, diagnostics);
  if (values.given("rates")) {
    check_rates(base, assigned, variants, values.where("rates"), diagnostics);
  }
  diagnostics.throw_if_any();
  std::vector<StudyCase> cases;
  std::vector<CompareLoad> named;
  for (const Load& load : loads) {
    const char* preposition = load.name.empty() ? "" : values.given("rates") ? "at " : "under ";
    named.push_back({load.name, preposition + load.name, true});
    for (const Variant& variant : variants) {
      StudyCase& added = cases.emplace_back();
      added.name = load.name.empty() ? variant.name : variant.name + " at " + load.name;
      added.layers = layers_of(assigned, variant);
      if (!load.name.empty()) {
        added.layers.push_back({load.name, load_tree(load, values.given("rates") ? "rate" : "trace")});
      }
    }
  }
  std::vector<std::string> names;
  for (const Variant& variant : variants) {
    names.push_back(variant.name);
  }
  const std::string base_file = base.file;
  const std::string leading = values.given("metrics") ? metrics.front() : kUsualLeader;
  CompareStudy study{file,
                     "",
                     base_file,
                     std::move(named),
                     std::move(names),
                     {},
                     std::move(metrics),
                     leading,
                     values.text("correction") == "holm" ? Correction::holm : Correction::none,
                     {},
                     StudyBook(std::move(base), std::move(cases))};
  complete(study, values);
  return study;
}

std::vector<Evaluation> wanted_runs(const CompareStudy& study, const KnownOutcomes& known) {
  std::vector<Evaluation> wanted;
  for (std::size_t place = 0; place < study.seeds.size(); ++place) {
    for (std::size_t load = 0; load < study.loads.size(); ++load) {
      if (place >= study.seeds_of(load).size()) {
        continue;
      }
      for (std::size_t variant = 0; variant < study.variants.size(); ++variant) {
        Evaluation evaluation = study.evaluation(load, variant, study.seeds[place]);
        if (known.find(evaluation) == nullptr) {
          wanted.push_back(std::move(evaluation));
        }
      }
    }
  }
  return wanted;
}

}  // namespace inferometer
