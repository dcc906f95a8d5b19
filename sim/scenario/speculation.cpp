#include "sim/scenario/speculation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/scenario/load_named.hpp"

namespace inferometer {
namespace {

/// One for each drafted token.
std::vector<double> acceptance_of(const Values& section, std::int64_t tokens, Diagnostics& diagnostics) {
  std::vector<double> acceptance = section.numbers("acceptance");
  if (acceptance.size() == 1) {
    acceptance.resize(static_cast<std::size_t>(tokens), acceptance.front());
  }
  if (acceptance.size() != static_cast<std::size_t>(tokens)) {
    diagnostics.add(section.where("acceptance"),
                    fmt::format("engine.speculation.acceptance has {} positions, but num_speculative_tokens "
                                "is {}; it must have one for each drafted token, or one for all",
                                acceptance.size(), tokens));
  }
  const double spread = section.number("acceptance_spread");
  for (const double one : acceptance) {
    if (one - spread < 0 || one + spread > 1) {
      diagnostics.add(
          section.where("acceptance_spread"),
          fmt::format("engine.speculation.acceptance_spread {} takes an acceptance of {} out of 0 "
                      "to 1; it must be at most {:.6g}",
                      spread, one, std::min(one, 1 - one)));
      break;
    }
  }
  return acceptance;
}

}  // namespace

std::optional<SpeculationSpec> read_speculation(const Values& engine, const ModelSpec& target,
                                                const GpuSpec& gpu, std::uint64_t seed,
                                                Diagnostics& diagnostics) {
  if (!engine.has("speculation") || engine.section("speculation").text("method") == "none") {
    return std::nullopt;
  }
  const Values& section = engine.section("speculation");
  SpeculationSpec spec;
  spec.at = section.where("method");
  const DraftMethod method = draft_method(section.text("method"));
  spec.rule.tokens = section.count("num_speculative_tokens");
  spec.rule.acceptance = acceptance_of(section, spec.rule.tokens, diagnostics);
  spec.rule.adaptive = section.flag("adaptive");
  spec.rule.spread = section.number("acceptance_spread");
  spec.rule.seed = seed;
  if (section.has("disable_by_batch_size")) {
    spec.rule.most_sequences = section.count("disable_by_batch_size");
  }
  if (method == DraftMethod::mtp && target.layers > 0 && target.prediction_layers == 0) {
    diagnostics.add(spec.at,
                    "engine.speculation.method mtp needs a model that was published with a module for "
                    "it (num_nextn_predict_layers in its config.json), which " +
                        target.name + " was not; eagle drafts with a head of its own");
    return std::nullopt;
  }
  std::optional<ModelSpec> draft;
  if (method == DraftMethod::draft_model) {
    draft = load_named(section, "model", diagnostics, load_model);
    if (!draft || target.layers == 0) {  // one of them is not known, which is told already
      return std::nullopt;
    }
    draft = quantized(std::move(*draft), gpu, "none", engine.text("kv_cache_dtype"));
  }
  try {
    spec.drafter = make_drafter(method, target, draft);
  } catch (const ConfigError& error) {
    diagnostics.add(section.where("model"), error.diagnostics().front().message);
    return std::nullopt;
  }
  spec.rule.lookahead = spec.drafter.lookahead(spec.rule.tokens);
  spec.rule.recomputes_last_hit = method == DraftMethod::eagle || method == DraftMethod::mtp;
  return spec;
}

}  // namespace inferometer
