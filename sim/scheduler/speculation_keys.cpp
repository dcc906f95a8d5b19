#include "sim/scheduler/speculation_keys.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "costmodel/speculation.hpp"
#include "sim/batch/speculation.hpp"

namespace inferometer {
namespace {

const Values* speculation_of(const Values& engine) {
  const bool is_on = engine.has("speculation") && engine.section("speculation").text("method") != "none";
  return is_on ? &engine.section("speculation") : nullptr;
}

std::vector<Key> keys_of_all_methods() {
  Table table("speculation", "");
  table
      .add(
          "num_speculative_tokens", ValueType::count,
          "Tokens drafted for each decoding sequence in each step (k), of which a step verifies all at once; "
          "with adaptive the most")
      .required()
      .range("1", std::to_string(kMostDrafts));
  table
      .add(
          "adaptive", ValueType::flag,
          "Draft in each step as many tokens as bring most for its time, or none: goodput, by the batch, the "
          "prompts beside it and how often drafts were right lately (SmartSpec)")
      .by_default("false");
  table
      .add_list("acceptance", ValueType::number,
                "Probability that a drafted token is accepted when those before it are; one for all "
                "positions, or a list with one for each")
      .required()
      .range("0", "1");
  table
      .add("acceptance_spread", ValueType::number,
           "How much requests differ: each has its own acceptance, uniform between this much below and this "
           "much above")
      .by_default("0")
      .range("0", "0.5");
  table
      .add("disable_by_batch_size", ValueType::count,
           "Nothing is drafted while more sequences than this decode")
      .optional("tokens are drafted for any batch")
      .range("1", "65536");
  return table.keys();
}

std::vector<Key> keys_of_draft_model() {
  Table table("speculation", "");
  table
      .add("model", ValueType::text,
           "The model that drafts: built in, or a path to a Hugging Face config.json")
      .required();
  return table.keys();
}

}  // namespace

Table speculation_table() {
  Table table("speculation", "Tokens that are drafted cheaply and verified several at a time");
  std::vector<std::string> methods(draft_method_names().begin(), draft_method_names().end());
  methods.insert(methods.begin(), "none");
  table
      .add_choice(
          "method", methods,
          "Who drafts: ngram looks up what followed the same words before, at no cost; draft_model is "
          "a small model of its own; eagle is an EAGLE head, one layer like the model's with its "
          "lm_head; mtp is the model's own multi-token-prediction layer, with its lm_head")
      .required();
  for (const std::string_view method : draft_method_names()) {
    table.add_variant("method", std::string(method), keys_of_all_methods());
  }
  table.add_variant("method", "draft_model", keys_of_draft_model());
  return table;
}

std::int64_t drafted_tokens(const Values& engine) {
  const Values* const speculation = speculation_of(engine);
  return speculation == nullptr ? 0 : speculation->count("num_speculative_tokens");
}

std::int64_t most_decode_tokens(const Values& engine) {
  const std::int64_t sequences = engine.count("max_num_seqs");
  const Values* const speculation = speculation_of(engine);
  if (speculation == nullptr) {
    return sequences;
  }
  const std::int64_t drafting = speculation->has("disable_by_batch_size")
                                    ? std::min(sequences, speculation->count("disable_by_batch_size"))
                                    : sequences;
  return std::max(sequences, drafting * (1 + drafted_tokens(engine)));
}

}  // namespace inferometer
