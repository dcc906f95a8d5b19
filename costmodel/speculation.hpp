#pragma once

// Speculative decoding: who drafts, what that costs and holds, what verification can give. Drafting k tokens
// takes k passes of the drafter, one after the other; verifying them takes one step of the target with k + 1
// positions a sequence, of which the first rejected one ends what is emitted (Leviathan, Kalman, Matias, ICML
// 2023). Who uses it: scenarios with engine.speculation, and `inferometer roofline --speculate`.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "costmodel/model_spec.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {

enum class DraftMethod {
  ngram,        ///< what followed the same words before, looked up on the host: no pass, nothing held
  draft_model,  ///< a small model of its own
  eagle,  ///< an EAGLE head: embedding and last hidden state joined, one layer like the target's, its head
  mtp,    ///< the multi-token-prediction module of the target: likewise, with a layer of the target
};

/// Words of the methods, in the order of the enum.
std::span<const std::string_view> draft_method_names();
/// Precondition: one of those words.
DraftMethod draft_method(std::string_view word);

struct Drafter {
  DraftMethod method = DraftMethod::ngram;
  /// What a pass computes; nothing where there are no passes. Embedding and lm_head of EAGLE and MTP are the
  /// target's, but each pass reads them.
  std::optional<ModelSpec> pass;
  /// What it holds beside the target: weights and a KV cache of its own.
  std::optional<ModelSpec> held;

  /// KV slots that the engine keeps ahead of those of the step for k drafted tokens: as many where the
  /// drafter writes KV of them, too (vLLM, v1/core/sched/scheduler.py, num_lookahead_tokens).
  [[nodiscard]] std::int64_t lookahead(std::int64_t drafts) const {
    return method == DraftMethod::ngram ? 0 : drafts;
  }
};

/// The drafter of a target; `draft`: the model of method draft_model, which must have the target's
/// vocabulary. Precondition: with draft_model there is one, else none.
Drafter make_drafter(DraftMethod method, const ModelSpec& target, const std::optional<ModelSpec>& draft);

/// Tokens that a verified step emits on average, the one after the last accepted draft included: the sum over
/// i = 0..k of the product of the first i acceptances. All alike: (1 - a^(k+1)) / (1 - a), and k + 1 for 1.
double expected_tokens(std::span<const double> acceptance_by_position);
double expected_tokens(double acceptance, std::int64_t drafts);

/// Prices steps of an engine that speculates: those of the target, and with each the passes that drafted what
/// it verifies. In its first pass the drafter runs all that the step runs, prompt chunks included, since it
/// catches up with what was emitted since; in each of the k - 1 others one token of each sequence. Without
/// passes it is the target's pricer.
std::shared_ptr<const StepPricer> make_speculative_pricer(std::shared_ptr<const StepPricer> target,
                                                          const Drafter& drafter, const GpuSpec& gpu,
                                                          const Parallelism& parallelism,
                                                          const CostOptions& options,
                                                          const PricerLimits& limits);

}  // namespace inferometer
