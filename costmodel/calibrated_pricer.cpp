#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "costmodel/attention_prices.hpp"
#include "costmodel/attention_rank.hpp"
#include "costmodel/attention_terms.hpp"
#include "costmodel/calibrated_decode.hpp"
#include "costmodel/calibrated_gemm.hpp"
#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/calibrated_prefill.hpp"
#include "costmodel/correction_by_rows.hpp"
#include "costmodel/latent_attention.hpp"
#include "costmodel/latent_prices.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/tabled_pricer.hpp"

namespace inferometer {
namespace {

constexpr ChunkShape kAnyChunk{1, 0};

/// The kernels of a GPU that takes so many times as long for everything.
KernelProfile slowed(KernelProfile profile, double factor) {
  for (KernelFit& fit : profile.fits) {
    fit.roofline.start_up_s *= factor;
    fit.roofline.per_unit_s *= factor;
    fit.roofline.compute_efficiency /= factor;
    fit.roofline.bandwidth_efficiency /= factor;
  }
  return profile;
}

/// A model and the profiles it is priced by: kept together, at one place, because prices point into it.
struct CalibratedModel {
  CalibratedModel(const ModelSpec& priced, const GpuSpec& on, const KernelProfile& profile,
                  const Profile& fallback, const Parallelism& parallelism, const CostOptions& options)
      : model(priced),
        gpu(on),
        split(parallelism.split()),
        kernel_profile(slowed(profile, parallelism.slowness())),
        roofline(gpu, fallback, CostLevel::roofline, parallelism),
        kernels(kernel_profile, gpu, roofline, options.resample) {}

  ModelSpec model;
  GpuSpec gpu;
  ModelSplit split;
  KernelProfile kernel_profile;
  Roofline roofline;
  CalibratedKernels kernels;
};

/// Decode attention as it was measured, with one position a sequence, and with more. They read the same KV
/// and compute more: as long as that stays below what was measured, it hides behind the reading.
class MeasuredDecode {
 public:
  MeasuredDecode(CalibratedDecode measured, DecodeAttentionPrice by_roofline)
      : measured_(std::move(measured)), by_roofline_(std::move(by_roofline)) {}

  void add(const DecodeShape& decodes, bool beside_prefill, StepCost& cost) const {
    if (decodes.queries == 1) {
      measured_.add(decodes.sequences, decodes.context, beside_prefill, cost);
      return;
    }
    StepCost verification;
    measured_.add(decodes.sequences, decodes.keys(), beside_prefill, verification);
    const Duration arithmetic = by_roofline_.compute(decodes);
    if (arithmetic > verification.compute + verification.bandwidth) {
      verification.compute = arithmetic;
      verification.bandwidth = {};
    }
    cost = cost + verification;
  }
  void add_growth(std::int64_t decodes, std::int64_t context, std::int64_t growth, StepLine& line) const {
    measured_.add_growth(decodes, context, growth, line);
  }

 private:
  CalibratedDecode measured_;
  DecodeAttentionPrice by_roofline_;
};

class CalibratedPrices {
 public:
  CalibratedPrices(std::unique_ptr<const CalibratedModel> calibrated, const PricerLimits& limits)
      : calibrated_(std::move(calibrated)) {
    const ModelSpec& model = calibrated_->model;
    const std::int64_t degree = calibrated_->split.tensor;
    prepare(token_operators(model, calibrated_->split, 1));
    prepare(row_operators(model, calibrated_->split, 1));
    if (model.latent) {
      attention_.push_back(up_projection_term());
      attention_.push_back(
          std::make_unique<AbsorptionTerm>(model, degree, calibrated_->roofline, limits.max_decode_tokens()));
    }
    for (const AttentionPart& part : attention_parts(model)) {
      attention_.push_back(prefill_term(part, limits));
      attention_.push_back(decode_term(part, limits));
    }
  }

  [[nodiscard]] OperatorCosts token_costs(std::int64_t tokens) const {
    return costs_of(token_operators(calibrated_->model, calibrated_->split, tokens));
  }
  [[nodiscard]] OperatorCosts row_costs(std::int64_t rows) const {
    return costs_of(row_operators(calibrated_->model, calibrated_->split, rows));
  }
  [[nodiscard]] const AttentionTerms& attention() const { return attention_; }

 private:
  [[nodiscard]] const CalibratedKernels& kernels() const { return calibrated_->kernels; }

  [[nodiscard]] bool has_fit(const Operator& part) const {
    return part.call && kernels().choose(*part.call).fit != nullptr;
  }

  [[nodiscard]] std::unique_ptr<const AttentionTerm> up_projection_term() const {
    const ModelSpec& model = calibrated_->model;
    const std::int64_t degree = calibrated_->split.tensor;
    const Operator any = up_projection(model, degree, 1);
    if (has_fit(any)) {
      return std::make_unique<UpProjectionTerm<CalibratedUpProjection>>(
          kUpProjection, CalibratedUpProjection(kernels(), any));
    }
    return std::make_unique<UpProjectionTerm<UpProjectionPrice>>(
        kUpProjection, UpProjectionPrice(model, degree, calibrated_->roofline));
  }

  [[nodiscard]] std::unique_ptr<const AttentionTerm> prefill_term(const AttentionPart& part,
                                                                  const PricerLimits& limits) const {
    const std::int64_t degree = calibrated_->split.tensor;
    const Operator any = prefill_attention(part, degree, {&kAnyChunk, 1});
    if (has_fit(any)) {
      return std::make_unique<PrefillTerm<CalibratedPrefill>>(
          part, CalibratedPrefill(kernels(), any, limits.max_tokens));
    }
    return std::make_unique<PrefillTerm<PrefillAttentionPrice>>(
        part, PrefillAttentionPrice(part.layers, degree, calibrated_->roofline));
  }

  [[nodiscard]] std::unique_ptr<const AttentionTerm> decode_term(const AttentionPart& part,
                                                                 const PricerLimits& limits) const {
    const std::int64_t degree = calibrated_->split.tensor;
    const Operator any = decode_attention(
        part, degree, StepShape{.decodes = 1, .decode_context = 1, .decode_window_context = 1});
    DecodeAttentionPrice by_roofline(part.layers, degree, calibrated_->roofline);
    if (has_fit(any)) {
      return std::make_unique<DecodeTerm<MeasuredDecode>>(
          part, MeasuredDecode(CalibratedDecode(kernels(), any, limits.max_rows), std::move(by_roofline)));
    }
    return std::make_unique<DecodeTerm<DecodeAttentionPrice>>(part, std::move(by_roofline));
  }

  /// What is looked up at the measured numbers of tokens once, for all others to come.
  void prepare(const std::vector<Operator>& operators) {
    for (const Operator& part : operators) {
      if (part.family == OperatorFamily::gemm && has_fit(part)) {
        gemms_.emplace_back(part.name, CalibratedGemm(kernels(), part));
      } else if (part.family == OperatorFamily::experts && has_fit(part)) {
        experts_.emplace_back(part.name, CorrectionByRows(kernels(), part));
      }
    }
  }

  template <class Prepared>
  static const Prepared* find(const std::vector<std::pair<std::string_view, Prepared>>& list,
                              const Operator& part) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&part](const auto& named) { return named.first == part.name; });
    return found != list.end() ? &found->second : nullptr;
  }

  [[nodiscard]] RoofTimes time_of(const Operator& part) const {
    if (const CalibratedGemm* const gemm = find(gemms_, part)) {
      return rounded(gemm->parts(static_cast<std::int64_t>(part.call->axes[0])));
    }
    if (const CorrectionByRows* const experts = find(experts_, part)) {
      return rounded(kernels().own_parts(part, experts->chosen(), experts->at(part.call->axes[0])));
    }
    return kernels().time(part);
  }

  [[nodiscard]] OperatorCosts costs_of(const std::vector<Operator>& operators) const {
    OperatorCosts costs;
    for (const Operator& part : operators) {
      costs.add(part.name, time_of(part), part.repeats, kernels().is_extrapolated(part));
    }
    return costs;
  }

  std::unique_ptr<const CalibratedModel> calibrated_;
  std::vector<std::pair<std::string_view, CalibratedGemm>> gemms_;
  std::vector<std::pair<std::string_view, CorrectionByRows>> experts_;
  AttentionTerms attention_;
};

/// The operators of the largest steps that the engine's limits allow.
std::vector<Operator> extreme_operators(const ModelSpec& model, const ModelSplit& split,
                                        const PricerLimits& limits) {
  std::vector<Operator> list = token_operators(model, split, std::max<std::int64_t>(limits.max_tokens, 1));
  const std::vector<Operator> rows =
      row_operators(model, split, std::max<std::int64_t>(limits.max_decode_tokens(), 1));
  list.insert(list.end(), rows.begin(), rows.end());
  const std::int64_t batch = std::max<std::int64_t>(limits.max_rows, 1);
  const std::int64_t longest = std::max<std::int64_t>(limits.max_context, 2);
  const std::int64_t last = std::clamp<std::int64_t>(limits.max_tokens, 1, longest);
  const ChunkShape last_chunk{last, longest - last};
  StepShape decodes{.decodes = batch};
  decodes.add_context(ContextTokens{longest, std::min(longest, model.sliding_window.value_or(longest))} *
                      batch);
  for (const StepShape& shape : {decodes, StepShape{.chunks = {&last_chunk, 1}}}) {
    const AttentionRank rank(shape, split.attention_data);
    const std::vector<Operator> attention = attention_operators(model, split.tensor, rank.shape());
    list.insert(list.end(), attention.begin(), attention.end());
  }
  return list;
}

/// What of the measurements used is not what the profile's library does in a server.
void add_measurement_notes(const CalibratedModel& calibrated, const std::vector<Operator>& operators,
                           CostBasis& basis) {
  // A launch within a CUDA graph takes a few us; what takes longer was launched from Python.
  constexpr double kLongStartUp = 30e-6;
  std::map<std::string, std::vector<std::string>> borrowed;  // by library
  std::map<std::string, double> slow_starts;                 // by format, seconds
  for (const Operator& part : operators) {
    const ChosenFit chosen = part.call ? calibrated.kernels.choose(*part.call) : ChosenFit{};
    if (chosen.fit == nullptr) {
      continue;
    }
    // Collectives are NCCL's in every engine.
    if (!chosen.fit->library.empty() && part.family != OperatorFamily::collective) {
      borrowed[chosen.fit->library].emplace_back(part.name);
    }
    if (part.family == OperatorFamily::gemm && chosen.fit->roofline.start_up_s > kLongStartUp) {
      slow_starts[chosen.fit->variant] = chosen.fit->roofline.start_up_s;
    }
  }
  for (const auto& [library, names] : borrowed) {
    basis.notes.push_back(fmt::format("not measured with {} but with {}: {}",
                                      calibrated.kernel_profile.library, library,
                                      join_alternatives(names, "and")));
  }
  for (const auto& [format, start_up_s] : slow_starts) {
    basis.notes.push_back(
        fmt::format("every matrix product in {} starts up for {:.0f} us, as measured with launches "
                    "from the host; within CUDA graphs it may be far less",
                    format, start_up_s * 1e6));
  }
}

CostBasis basis_of(const CalibratedModel& calibrated, const PricerLimits& limits) {
  const KernelProfile& profile = calibrated.kernel_profile;
  CostBasis basis{
      .level = CostLevel::calibrated,
      .profile = fmt::format("{} kernels on {}, fitted {}", profile.library, profile.gpu, profile.date),
      .notes = {},
      .extrapolations = {}};
  std::vector<std::string> by_roofline;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>>
      scaled;  // by format and measured one
  const std::vector<Operator> operators = extreme_operators(calibrated.model, calibrated.split, limits);
  for (const Operator& part : operators) {
    if (!part.call) {
      continue;  // what nobody measures is always the roofline's
    }
    const ChosenFit chosen = calibrated.kernels.choose(*part.call);
    if (chosen.fit == nullptr) {
      if (calibrated.roofline.is_extrapolated(part)) {
        continue;  // its note is that of the links
      }
      if (part.family != OperatorFamily::elementwise) {  // of which nobody publishes tables
        by_roofline.emplace_back(part.name);
      }
      continue;
    }
    if (chosen.is_scaled) {
      scaled[{part.call->variant, chosen.measured_variant}].emplace_back(part.name);
    }
    const std::vector<Extrapolation> beyond = calibrated.kernels.extrapolations(part);
    basis.extrapolations.insert(basis.extrapolations.end(), beyond.begin(), beyond.end());
  }
  for (const auto& [formats, names] : scaled) {
    basis.notes.push_back(fmt::format("not measured in {} but scaled from {} by the roofline: {}",
                                      formats.first, formats.second, join_alternatives(names, "and")));
  }
  if (!by_roofline.empty()) {
    basis.notes.push_back("not in the profile but priced by the roofline: " +
                          join_alternatives(by_roofline, "and"));
  }
  add_measurement_notes(calibrated, operators, basis);
  add_link_note(calibrated.roofline, operators, basis);
  return basis;
}

}  // namespace

std::unique_ptr<StepPricer> make_calibrated_pricer(const ModelSpec& model, const GpuSpec& gpu,
                                                   const KernelProfile& kernels, const Profile& fallback,
                                                   const Parallelism& parallelism, const CostOptions& options,
                                                   const PricerLimits& limits) {
  check_links(model, parallelism);  // before anything is built on it
  auto calibrated =
      std::make_unique<const CalibratedModel>(model, gpu, kernels, fallback, parallelism, options);
  CostBasis basis = basis_of(*calibrated, limits);
  return std::make_unique<TabledPricer<CalibratedPrices>>(
      CalibratedPrices(std::move(calibrated), limits), std::move(basis),
      with_host_of(model, options, parallelism.step_time), limits, parallelism.attention_data);
}

}  // namespace inferometer
