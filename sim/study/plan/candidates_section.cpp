#include "sim/study/plan/candidates_section.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/suggest.hpp"
#include "sim/study/variant_name.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kMostUnits = 4096;
constexpr std::int64_t kMostReplicasOfSplit = 64;

struct ShortName {
  const char* name;
  const char* path;
};
constexpr ShortName kShortNames[] = {
    {"gpu", "hardware.gpu"},
    {"tensor_parallel", "hardware.tensor_parallel"},
    {"pipeline_parallel", "hardware.pipeline_parallel"},
    {"expert_parallel", "hardware.expert_parallel"},
    {"attention_data_parallel", "hardware.attention_data_parallel"},
    {"policy", "engine.policy"},
    {"max_num_seqs", "engine.max_num_seqs"},
    {"max_num_batched_tokens", "engine.max_num_batched_tokens"},
    {"quantization", "engine.quantization"},
    {"kv_cache_dtype", "engine.kv_cache_dtype"},
};
constexpr const char* kSections[] = {"hardware.", "engine.", "cluster.", "cost_model."};
constexpr const char* kPools[] = {"prefill.", "decode."};
constexpr const char* kReplicas = "replicas";
constexpr const char* kSplit = "split";
constexpr const char* kVariants = "variants";
constexpr const char* kOfTheQuestion[] = {"workload", "slo", "seed"};

std::vector<std::string> known_names() {
  std::vector<std::string> names = {kReplicas, kSplit, kVariants};
  for (const ShortName& each : kShortNames) {
    names.emplace_back(each.name);
  }
  return names;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

class Reader {
 public:
  Reader(PlanSpec& spec, Diagnostics& diagnostics) : spec_(spec), diagnostics_(diagnostics) {}

  void read(const ConfigNode& candidates) {
    if (candidates.kind != ConfigNode::Kind::map || candidates.entries.empty()) {
      fault(candidates.where,
            "expected a map of what may be bought; write e.g. \"candidates: {gpu: [a100-80gb-sxm, "
            "h100-sxm], replicas: 1..16}\"");
      return;
    }
    for (const ConfigNode::Entry& entry : candidates.entries) {
      const std::vector<ConfigNode> values = values_of(entry);
      if (values.empty()) {
        continue;
      }
      if (entry.key == kReplicas) {
        read_units(entry, values);
      } else if (entry.key == kSplit) {
        read_splits(values);
      } else {
        add_dimension(entry, values);
      }
    }
    if (spec_.units.empty()) {
      spec_.units = {1};
    }
    if (spec_.splits.empty()) {
      spec_.splits = {{1, 1}};
    }
  }

 private:
  void fault(const Position& where, const std::string& message) {
    diagnostics_.add(where, "candidates: " + message);
  }

  /// One value, a list, or a range, as a list. Empty after a mistake.
  std::vector<ConfigNode> values_of(const ConfigNode::Entry& entry) {
    const ConfigNode& value = entry.value;
    if (entry.key == kVariants) {
      return variants_of(value);
    }
    if (value.kind == ConfigNode::Kind::null ||
        (value.kind == ConfigNode::Kind::sequence && value.items.empty())) {
      fault(value.where, entry.key + " has no value; write one, a list, or whole numbers such as 1..64");
      return {};
    }
    std::vector<ConfigNode> all;
    const std::vector<ConfigNode> written =
        value.kind == ConfigNode::Kind::sequence ? value.items : std::vector<ConfigNode>{value};
    for (const ConfigNode& each : written) {
      add_value(entry.key, each, all);
    }
    return all;
  }

  void add_value(const std::string& key, const ConfigNode& value, std::vector<ConfigNode>& all) {
    const std::size_t dots = value.scalar.find("..");
    if (value.kind != ConfigNode::Kind::scalar || value.quoted || dots == std::string::npos) {
      const bool is_new = std::none_of(all.begin(), all.end(), [&](const ConfigNode& other) {
        return value.kind == ConfigNode::Kind::scalar && other.kind == value.kind &&
               other.scalar == value.scalar;
      });
      if (!is_new) {
        fault(value.where, key + " has the value " + value.scalar + " twice");
      } else if (value.kind == ConfigNode::Kind::scalar) {
        all.push_back(value);
      } else {
        fault(value.where, key + ": a value must be a word or a number; give maps as variants: {name: {…}}");
      }
      return;
    }
    const std::optional<std::int64_t> first = whole_number(std::string_view(value.scalar).substr(0, dots));
    const std::optional<std::int64_t> last = whole_number(std::string_view(value.scalar).substr(dots + 2));
    if (!first || !last || *first < 1 || *last < *first || *last - *first >= kMostUnits) {
      fault(value.where, key + ": expected whole numbers such as 1..64, at most " +
                             std::to_string(kMostUnits) + " of them, found \"" + value.scalar + "\"");
      return;
    }
    for (std::int64_t number = *first; number <= *last; ++number) {
      ConfigNode& node = all.emplace_back(value);
      node.scalar = std::to_string(number);
    }
  }

  /// Each a map of one entry: its name and what it changes.
  std::vector<ConfigNode> variants_of(const ConfigNode& value) {
    if (value.kind != ConfigNode::Kind::map || value.entries.empty()) {
      fault(value.where,
            "variants: expected names with what each changes; write e.g. \"variants: {orca: {engine.policy: "
            "orca}}\"");
      return {};
    }
    std::vector<ConfigNode> all;
    for (const ConfigNode::Entry& entry : value.entries) {
      if (const std::string wrong = variant_name_fault(entry.key); !wrong.empty()) {
        fault(entry.where, "variants: " + wrong);
      }
      try {
        ConfigNode& node = all.emplace_back();
        node.kind = ConfigNode::Kind::map;
        node.where = entry.where;
        node.entries.push_back({entry.key, entry.where, opened_paths(entry.value)});
        refuse_other_questions(node.entries.front());
      } catch (const ConfigError& error) {
        fault(error.diagnostics().front().where, "variants: " + error.diagnostics().front().message);
      }
    }
    return all;
  }

  /// What differs between candidates is what is bought.
  void refuse_other_questions(const ConfigNode::Entry& variant) {
    for (const char* const section : kOfTheQuestion) {
      if (const ConfigNode* const found = variant.value.find(section)) {
        fault(found->where,
              "variants: " + variant.key + " changes " + section +
                  ", which is the same for all candidates; change it in the base, or by traffic "
                  "and slo of the study");
      }
    }
  }

  void read_units(const ConfigNode::Entry& entry, const std::vector<ConfigNode>& values) {
    for (const ConfigNode& value : values) {
      const std::optional<std::int64_t> units = whole_number(value.scalar);
      if (!units || *units < 1 || *units > kMostUnits) {
        fault(value.where, entry.key + ": expected whole numbers of 1 to " + std::to_string(kMostUnits) +
                               ", or several such as 1..16, found \"" + value.scalar + "\"");
        continue;
      }
      spec_.units.push_back(*units);
    }
    std::sort(spec_.units.begin(), spec_.units.end());
  }

  void read_splits(const std::vector<ConfigNode>& values) {
    for (const ConfigNode& value : values) {
      const std::size_t colon = value.scalar.find(':');
      const std::optional<std::int64_t> prefill =
          whole_number(std::string_view(value.scalar).substr(0, std::min(colon, value.scalar.size())));
      const std::optional<std::int64_t> decode =
          colon == std::string::npos ? std::nullopt
                                     : whole_number(std::string_view(value.scalar).substr(colon + 1));
      if (!prefill || !decode || std::min(*prefill, *decode) < 1 ||
          std::max(*prefill, *decode) > kMostReplicasOfSplit) {
        fault(value.where, "split: expected prefill and decode replicas of a unit, of 1 to " +
                               std::to_string(kMostReplicasOfSplit) + " each, such as 1:2, found \"" +
                               value.scalar + "\"");
        continue;
      }
      spec_.splits.push_back({*prefill, *decode});
    }
  }

  void add_dimension(const ConfigNode::Entry& entry, const std::vector<ConfigNode>& values) {
    Dimension dimension;
    dimension.name = entry.key;
    dimension.values = values;
    const auto* const found = std::find_if(std::begin(kShortNames), std::end(kShortNames),
                                           [&](const ShortName& each) { return each.name == entry.key; });
    const auto starts = [&](const char* beginning) { return entry.key.starts_with(beginning); };
    if (found != std::end(kShortNames)) {
      dimension.path = found->path;
    } else if (std::any_of(std::begin(kPools), std::end(kPools), starts)) {
      dimension.path = "cluster.pools." + entry.key;
      dimension.is_of_disaggregated = true;
    } else if (std::any_of(std::begin(kSections), std::end(kSections), starts)) {
      dimension.path = entry.key;
    } else if (entry.key != kVariants) {
      fault(entry.where, "unknown key \"" + entry.key + "\"" + did_you_mean(entry.key, known_names()) +
                             "; allowed are " + join_alternatives(known_names()) +
                             ", prefill.KEY and decode.KEY of a pool, or a key of a scenario such as "
                             "engine.max_num_seqs");
      return;
    }
    const bool is_new = std::none_of(
        spec_.dimensions.begin(), spec_.dimensions.end(),
        [&](const Dimension& other) { return !other.path.empty() && other.path == dimension.path; });
    if (!is_new) {
      fault(entry.where, entry.key + " is there twice, under its short and its long name");
      return;
    }
    spec_.dimensions.push_back(std::move(dimension));
  }

  PlanSpec& spec_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::string candidates_help() {
  std::string text =
      "\ncandidates: what may be bought. Each key has one value, a list of them, or whole numbers 1..64; "
      "every\n"
      "combination is a candidate.\n"
      "  replicas                units of it: replicas, or prefill and decode replicas that go together\n"
      "  split                   of policy disaggregated: prefill and decode replicas of a unit, 1:2; "
      "default 1:1\n"
      "  variants                names, each with a map of what it changes: {orca: {engine.policy: orca}}\n"
      "  prefill.KEY, decode.KEY keys of a pool (cluster.pools.prefill), for policy disaggregated: "
      "decode.gpu\n";
  for (const ShortName& each : kShortNames) {
    text += "  " + std::string(each.name) + std::string(24 - std::string(each.name).size(), ' ') + each.path +
            "\n";
  }
  return text +
         "  other keys              of hardware, engine, cluster and cost_model of a scenario: "
         "cost_model.level\n";
}

void read_candidates(PlanSpec& spec, Diagnostics& diagnostics) {
  if (spec.values.has("candidates")) {
    Reader(spec, diagnostics).read(spec.values.tree("candidates"));
  }
}

}  // namespace inferometer
