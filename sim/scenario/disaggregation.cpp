#include "sim/scenario/disaggregation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/suggest.hpp"

namespace inferometer {
namespace {

/// A parameter of some ways to keep a prefill where it is decoded, with its usual value in one of them.
struct LocalParameter {
  std::string_view mode, key, usual;
};

// Usual values: NVIDIA Dynamo's, of its conditional disaggregation (1000 tokens, 2 prefills in the queue) and
// of its later IslBounding (2048 tokens, 0.7). One step's worth of tokens for prefill_load is ours.
constexpr LocalParameter kLocalParameters[] = {
    {"short_prompt", "max_local_prefill_tokens", "1000"},
    {"short_or_busy", "max_local_prefill_tokens", "1000"},
    {"short_or_busy", "prefill_queue_limit", "2"},
    {"isl_bounding", "max_local_prefill_tokens", "2048"},
    {"isl_bounding", "local_share", "0.7"},
    {"prefill_load", "prefill_load_threshold", "1"},
    {"isl_or_load", "max_local_prefill_tokens", "2048"},
    {"isl_or_load", "local_share", "0.7"},
    {"isl_or_load", "prefill_load_threshold", "1"},
};

const std::vector<std::string>& local_modes() {
  static const std::vector<std::string> modes{"never",        "short_prompt", "short_or_busy",
                                              "isl_bounding", "prefill_load", "isl_or_load"};
  return modes;
}

using Local = DisaggregationSetup::LocalPrefill;

Local local_prefill(const std::string& word) {
  const auto place = std::find(local_modes().begin(), local_modes().end(), word) - local_modes().begin();
  return static_cast<Local>(place);
}

void add_transfer_keys(Table& table) {
  const std::string system = "as the system does";
  table
      .add_choice(
          "first_token_from", {"prefill", "decode"},
          "Where a request's first token comes from: out of the step that ends its prefill, or of the "
          "decode replica, which computes the last prompt token again")
      .optional(system);
  table
      .add_choice(
          "kv_transfer", {"pull", "push"},
          "pull: the decode replica is chosen once the prompt is done, takes blocks and fetches all of "
          "its KV; push: it is chosen on arrival, and KV goes there layer by layer while the prompt is "
          "computed")
      .optional(system);
  table
      .add("decode_first", ValueType::flag,
           "With kv_transfer push: the prefill begins once the decode replica holds blocks for the prompt")
      .optional("as the system does, else false");
  table.add("hop", ValueType::duration, "From the end of a prefill to the decode replica's queue")
      .optional(system)
      .range("0 s", "1 min");
  table.add("abort_after", ValueType::duration, "How long blocks of a finished prompt wait to be read")
      .optional("as the system does, else for as long as it takes")
      .range("", "1000 h");
  table
      .add_choice("on_abort", {"recompute", "lose"},
                  "A request whose blocks were given up is computed again on the decode replica, or lost")
      .optional(system);
}

void add_local_keys(Table& table) {
  table
      .add_choice(
          "local_prefill", local_modes(),
          "Which prompts are computed where they are decoded. short_prompt: up to "
          "max_local_prefill_tokens; short_or_busy: those, and all while prefill_queue_limit prompts "
          "wait; isl_bounding: shorter than max_local_prefill_tokens with less than local_share of them "
          "not cached; prefill_load: while the prefill replica has more than prefill_load_threshold "
          "steps of tokens to compute; isl_or_load: either")
      .optional("as the system does");
  table
      .add("max_local_prefill_tokens", ValueType::count,
           "Prompt tokens of local_prefill short_prompt, short_or_busy, isl_bounding and isl_or_load")
      .optional("1000 for short_prompt and short_or_busy, 2048 for the others")
      .range("0", "16777216");
  table
      .add("local_share", ValueType::number,
           "Share of a prompt that is not cached, of local_prefill isl_bounding and isl_or_load")
      .optional("0.7")
      .range("0", "1");
  table
      .add("prefill_queue_limit", ValueType::count,
           "Prompts waiting at the prefill replica, of local_prefill short_or_busy")
      .optional("2")
      .range("1", "1000000");
  table
      .add("prefill_load_threshold", ValueType::number,
           "Tokens to compute at the prefill replica, in times the token budget of its steps, of "
           "local_prefill "
           "prefill_load and isl_or_load")
      .optional("1")
      .range("", "1000000")
      .above("0");
  table
      .add("overflow_tokens", ValueType::count,
           "Prompt tokens waiting at every prefill replica above which a prompt goes to the mixed pool or, "
           "when "
           "that is as full, borrows a decode replica")
      .optional("as the system does, else prompts wait")
      .range("1", "1000000000");
}

void write_below(ConfigNode& engine, const std::string& key, std::string_view value, const Position& where) {
  if (engine.find(key) != nullptr) {
    return;
  }
  ConfigNode scalar;
  scalar.kind = ConfigNode::Kind::scalar;
  scalar.where = where;
  scalar.scalar = value;
  engine.entries.push_back({key, where, std::move(scalar)});
}

std::string word_of(const ConfigNode& engine, std::string_view key, const std::string& otherwise) {
  const ConfigNode* const node = engine.find(key);
  return node == nullptr ? otherwise : node->scalar;
}

bool goes_with(std::string_view key, std::string_view mode) {
  return std::any_of(std::begin(kLocalParameters), std::end(kLocalParameters),
                     [&](const LocalParameter& each) { return each.key == key && each.mode == mode; });
}

void check_local_parameters(const Values& engine, Diagnostics& diagnostics) {
  const std::string& mode = engine.text("local_prefill");
  for (const char* key :
       {"max_local_prefill_tokens", "local_share", "prefill_queue_limit", "prefill_load_threshold"}) {
    if (!engine.has(key) || goes_with(key, mode)) {
      continue;
    }
    std::vector<std::string> modes;
    std::copy_if(local_modes().begin(), local_modes().end(), std::back_inserter(modes),
                 [&](const std::string& each) { return goes_with(key, each); });
    diagnostics.add(engine.where(key), "\"engine." + std::string(key) + "\" goes with local_prefill " +
                                           join_alternatives(modes) + ", not with " + mode);
  }
}

}  // namespace

std::string_view disaggregation_summary() {
  return "prompts on one pool of replicas, decodes on another: vLLM with NIXL, DistServe, Splitwise, Dynamo, "
         "Mooncake, TensorRT-LLM";
}

EngineSplit disaggregation_split(const PolicyRegistry& policies) {
  Table table("engine", "");
  std::vector<std::string> names;
  for (const DisaggregatedSystem& system : disaggregated_systems()) {
    names.push_back(system.name);
  }
  table
      .add_choice(
          "system", names,
          "System whose way of handing requests over fills those of the keys below that are not given "
          "(inferometer describe policies says what each does)")
      .by_default("vllm-nixl");
  table
      .add_choice(std::string(kBatchPolicy), policies.names(),
                  "Batch policy of the pools' engines, whose keys stand beside these")
      .by_default("chunked_prefill");
  add_transfer_keys(table);
  add_local_keys(table);
  return {std::string(kDisaggregated), table.keys(), std::string(kBatchPolicy)};
}

bool is_disaggregated(const ConfigNode* engine) {
  const ConfigNode* const policy = engine == nullptr ? nullptr : engine->find("policy");
  return policy != nullptr && policy->scalar == kDisaggregated;
}

void lay_system_below(ConfigNode& engine) {
  const std::vector<DisaggregatedSystem>& systems = disaggregated_systems();
  const std::string name = word_of(engine, "system", systems.front().name);
  const auto system =
      std::find_if(systems.begin(), systems.end(), [&](const auto& each) { return each.name == name; });
  const ConfigNode* const named = engine.find("system");
  const Position where = named == nullptr ? engine.where : named->where;
  if (system == systems.end()) {
    return;
  }
  const bool keeps_local = engine.find("local_prefill") == nullptr;
  const bool keeps_push = word_of(engine, "kv_transfer", "push") == "push";
  for (const DisaggregatedSystem::Setting& setting : system->settings) {
    const bool is_local = std::any_of(std::begin(kLocalParameters), std::end(kLocalParameters),
                                      [&](const LocalParameter& each) { return each.key == setting.key; });
    if ((keeps_local || !is_local) && (keeps_push || setting.key != "decode_first")) {
      write_below(engine, setting.key, setting.value, where);
    }
  }
  const std::string mode = word_of(engine, "local_prefill", "never");
  for (const LocalParameter& parameter : kLocalParameters) {
    if (parameter.mode == mode) {
      write_below(engine, std::string(parameter.key), parameter.usual, where);
    }
  }
}

DisaggregationSetup read_disaggregation(const Values& engine, std::int64_t step_tokens,
                                        Diagnostics& diagnostics) {
  check_local_parameters(engine, diagnostics);
  DisaggregationSetup setup;
  const bool is_push = engine.text("kv_transfer") == "push";
  setup.transfer = is_push ? DisaggregationSetup::Transfer::push : DisaggregationSetup::Transfer::pull;
  setup.first_token_from_decode = engine.text("first_token_from") == "decode";
  setup.decode_first = engine.has("decode_first") && engine.flag("decode_first");
  if (setup.decode_first && !is_push) {
    diagnostics.add(
        engine.where("decode_first"),
        "\"engine.decode_first\" goes with kv_transfer push: with pull the decode replica is chosen "
        "only when the prompt is done");
  }
  setup.hop = engine.duration("hop");
  if (engine.has("abort_after")) {
    setup.abort_after = engine.duration("abort_after");
  }
  setup.on_abort = engine.text("on_abort") == "lose" ? DisaggregationSetup::OnAbort::lose
                                                     : DisaggregationSetup::OnAbort::recompute;
  setup.local_prefill = local_prefill(engine.text("local_prefill"));
  if (engine.has("max_local_prefill_tokens")) {
    setup.max_local_prefill_tokens = engine.count("max_local_prefill_tokens");
  }
  if (engine.has("local_share")) {
    setup.local_share = engine.number("local_share");
  }
  if (engine.has("prefill_queue_limit")) {
    setup.prefill_queue_limit = engine.count("prefill_queue_limit");
  }
  if (engine.has("prefill_load_threshold")) {
    setup.prefill_load_tokens = static_cast<std::int64_t>(
        std::llround(engine.number("prefill_load_threshold") * static_cast<double>(step_tokens)));
  }
  if (engine.has("overflow_tokens")) {
    setup.overflow_tokens = engine.count("overflow_tokens");
  }
  return setup;
}

}  // namespace inferometer
