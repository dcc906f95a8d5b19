#include "costmodel/speculation.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/error.hpp"
#include "costmodel/attention_operators.hpp"

namespace inferometer {
namespace {

constexpr std::array<std::string_view, 4> kMethods = {"ngram", "draft_model", "eagle", "mtp"};

/// One layer of the target, with full attention, behind the projection of two vectors: the embedding of the
/// last token and the hidden state before it (EAGLE, Li et al. 2024; DeepSeek-V3 report, section 2.2). The
/// module of a mixture of experts has experts; an EAGLE head has a dense layer as wide as those that a token
/// goes through.
ModelSpec drafting_layer(DraftMethod method, const ModelSpec& target) {
  ModelSpec layer = target;
  layer.name = "drafting layer of " + target.name;
  layer.sliding_window.reset();
  layer.full_layers.clear();
  if (layer.moe) {
    layer.moe->dense_layers.clear();
  }
  if (method == DraftMethod::eagle) {
    layer.weight_format = "bf16";  // heads are trained and published on their own
    if (layer.moe) {
      layer.ffn = layer.moe->experts_per_token * layer.moe->ffn + layer.moe->shared_ffn;
      layer.moe.reset();
    }
  }
  layer.layers = 1;
  layer.joined_inputs = 2;
  return layer;
}

ModelSpec without_vocabulary(ModelSpec model) {
  model.has_embedding = false;
  model.has_head = false;
  return model;
}

/// The target's notes, then the drafter's, which say whose they are.
CostBasis joined_basis(CostBasis target, const CostBasis& drafter) {
  for (const std::string& note : drafter.notes) {
    if (std::find(target.notes.begin(), target.notes.end(), note) == target.notes.end()) {
      target.notes.push_back("drafter: " + note);
    }
  }
  for (Extrapolation beyond : drafter.extrapolations) {
    beyond.kernel = "drafter's " + beyond.kernel;
    target.extrapolations.push_back(std::move(beyond));
  }
  return target;
}

class SpeculativePricer final : public StepPricer {
 public:
  SpeculativePricer(std::shared_ptr<const StepPricer> target, std::unique_ptr<StepPricer> drafter)
      : target_(std::move(target)),
        drafter_(std::move(drafter)),
        basis_(joined_basis(target_->basis(), drafter_->basis())) {}

  [[nodiscard]] const CostBasis& basis() const override { return basis_; }

  [[nodiscard]] StepCost price(const StepShape& shape) const override {
    return target_->price(shape) + passes(shape);
  }

  [[nodiscard]] std::vector<OperatorTime> operator_times(const StepShape& shape) const override {
    std::vector<OperatorTime> times = target_->operator_times(shape);
    if (const Duration drafting = passes(shape).total(); drafting > Duration()) {
      times.push_back({"drafting", drafting});
    }
    return times;
  }

 private:
  // What was emitted in steps without drafts the drafter catches up with at no cost: one token more or many,
  // its first pass reads its weights once.
  [[nodiscard]] StepCost passes(const StepShape& shape) const {
    const std::int64_t drafting = shape.queries > 1 ? shape.decodes : 0;
    StepShape first = shape;
    first.sampled_rows = drafting;
    if (drafting == 0) {
      first.decodes = 0;
      first.decode_context = 0;
    }
    StepCost cost = first.tokens() > 0 ? drafter_->price(first) : StepCost{};
    for (std::int64_t pass = 1; drafting > 0 && pass + 1 < shape.queries; ++pass) {
      cost = cost + drafter_->price({.decodes = drafting,
                                     .decode_context = shape.decode_context + drafting * pass,
                                     .sampled_rows = drafting});
    }
    return cost;
  }

  std::shared_ptr<const StepPricer> target_;
  std::unique_ptr<StepPricer> drafter_;
  CostBasis basis_;
};

}  // namespace

std::span<const std::string_view> draft_method_names() {
  return kMethods;
}

DraftMethod draft_method(std::string_view word) {
  const auto* const found = std::find(kMethods.begin(), kMethods.end(), word);
  INFEROMETER_CHECK(found != kMethods.end(), "a known method");
  return static_cast<DraftMethod>(found - kMethods.begin());
}

Drafter make_drafter(DraftMethod method, const ModelSpec& target, const std::optional<ModelSpec>& draft) {
  INFEROMETER_CHECK(draft.has_value() == (method == DraftMethod::draft_model),
                    "a draft model goes with its method");
  Drafter drafter;
  drafter.method = method;
  if (draft && draft->vocab != target.vocab) {
    throw ConfigError(Position{}, "draft model " + draft->name + " has a vocabulary of " +
                                      std::to_string(draft->vocab) + " tokens, " + target.name + " one of " +
                                      std::to_string(target.vocab) +
                                      "; a target can only verify tokens of its own vocabulary");
  }
  if (draft) {
    drafter.pass = unwindowed(*draft);  // contexts of a step are cut to the target's window, not to its own
    drafter.held = draft;
  } else if (method != DraftMethod::ngram) {
    drafter.pass = drafting_layer(method, target);
    drafter.held = without_vocabulary(*drafter.pass);
  }
  return drafter;
}

double expected_tokens(std::span<const double> acceptance_by_position) {
  double sum = 1;
  double all_before = 1;
  for (const double acceptance : acceptance_by_position) {
    all_before *= acceptance;
    sum += all_before;
  }
  return sum;
}

double expected_tokens(double acceptance, std::int64_t drafts) {
  return expected_tokens(std::vector<double>(static_cast<std::size_t>(drafts), acceptance));
}

std::shared_ptr<const StepPricer> make_speculative_pricer(std::shared_ptr<const StepPricer> target,
                                                          const Drafter& drafter, const GpuSpec& gpu,
                                                          const Parallelism& parallelism,
                                                          const CostOptions& options,
                                                          const PricerLimits& limits) {
  if (!drafter.pass) {
    return target;
  }
  CostOptions on_the_gpu = options;  // the host's work for a step is the target's
  on_the_gpu.host_fixed = {};
  on_the_gpu.host_per_sequence = {};
  on_the_gpu.host_per_prefill_token = {};
  return std::make_shared<SpeculativePricer>(
      std::move(target), make_step_pricer(*drafter.pass, gpu, parallelism, on_the_gpu, limits));
}

}  // namespace inferometer
