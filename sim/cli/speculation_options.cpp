#include "sim/cli/speculation_options.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "sim/batch/speculation.hpp"
#include "sim/cli/known_word.hpp"
#include "sim/cli/speculation_report.hpp"

namespace inferometer {
namespace {

std::vector<std::string> methods() {
  return {draft_method_names().begin(), draft_method_names().end()};
}

[[noreturn]] void refuse_speculation(const std::string& message) {
  throw ConfigError(Position{}, message);
}

/// The word given, or the one that goes with what else is given.
DraftMethod method_of(const SpeculationOptions& options) {
  if (options.method.empty()) {
    return options.draft.empty() ? DraftMethod::ngram : DraftMethod::draft_model;
  }
  require_known("--method", options.method, methods());
  const DraftMethod method = draft_method(options.method);
  if (!options.draft.empty() && method != DraftMethod::draft_model) {
    refuse_speculation("--draft names the model of --method draft_model; --method " + options.method +
                       " has none");
  }
  if (options.draft.empty() && method == DraftMethod::draft_model) {
    refuse_speculation("--method draft_model needs --draft MODEL");
  }
  return method;
}

std::vector<std::int64_t> batches_of(const StepArgument& step, const std::string& sweep) {
  if (!sweep.empty()) {
    Sweep asked = parse_sweep(sweep, step);
    if (asked.name != "batch") {
      refuse_speculation("--speculate is shown by batch: sweep batch, not " + asked.name);
    }
    return asked.values;
  }
  constexpr std::int64_t kMostShown = 512;
  std::vector<std::int64_t> batches = {step.decode->batch};
  for (std::int64_t batch = 1; batch <= kMostShown; batch *= 2) {
    batches.push_back(batch);
  }
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

}  // namespace

void SpeculationOptions::add_options(CLI::App& command) {
  drafts_option = command.add_option(
      "--speculate", drafts,
      fmt::format("K drafted tokens (1 to {}) for each decode: speed-up and break-even by batch",
                  kMostDrafts));
  acceptance_option = command.add_option("--acceptance", acceptance,
                                         "Probability, 0 to 1, that a drafted token is accepted when those "
                                         "before it are");
  command.add_option("--method", method,
                     "Who drafts: " + join_alternatives(methods()) + " (ngram, or draft_model with --draft)");
  command.add_option("--draft", draft, "The draft model: built-in name, config.json, or its directory")
      ->type_name("MODEL");
  acceptance_option->needs(drafts_option);
  command.get_option("--method")->needs(drafts_option);
  command.get_option("--draft")->needs(drafts_option);
}

bool SpeculationOptions::is_asked_for() const {
  return drafts_option->count() > 0;
}

std::string SpeculationOptions::report(const RooflineSetting& setting, const CostOptions& prices,
                                       const StepArgument& step, const std::string& sweep, bool csv) const {
  if (drafts < 1 || drafts > kMostDrafts) {
    refuse_speculation(fmt::format("--speculate {} is not a whole number from 1 to {}", drafts, kMostDrafts));
  }
  if (acceptance_option->count() == 0) {
    refuse_speculation("--speculate needs --acceptance, the probability that a drafted token is accepted");
  }
  if (!(acceptance >= 0 && acceptance <= 1)) {
    refuse_speculation(
        fmt::format("--acceptance {} is not a probability; it must be from 0 to 1", acceptance));
  }
  if (!step.decode || step.chunk) {
    refuse_speculation("--speculate needs --decode BATCH@CONTEXT alone: drafts are verified by decodes");
  }
  const DraftMethod chosen = method_of(*this);
  std::optional<ModelSpec> draft_model;
  if (!draft.empty()) {
    draft_model = load_model(draft);
    draft_model->kv_bytes = setting.model.kv_bytes;
  }
  const SpeculationTable table({.where = setting,
                                .prices = prices,
                                .context = step.decode->context,
                                .drafts = drafts,
                                .acceptance = acceptance,
                                .drafter = make_drafter(chosen, setting.model, draft_model)});
  const std::vector<std::int64_t> batches = batches_of(step, sweep);
  return csv ? table.csv(batches) : table.text(batches);
}

}  // namespace inferometer
