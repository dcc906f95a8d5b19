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
#include "costmodel/calibrated_decode.hpp"
#include "costmodel/calibrated_gemm.hpp"
#include "costmodel/calibrated_kernels.hpp"
#include "costmodel/calibrated_prefill.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/tabled_pricer.hpp"

namespace inferometer {
namespace {

constexpr ChunkShape kAnyChunk{1, 0};

/// The kernels of a GPU that takes so many times as long for everything.
KernelProfile slowed(KernelProfile profile, double straggler) {
  for (KernelFit& fit : profile.fits) {
    fit.roofline.start_up_s *= straggler;
    fit.roofline.per_unit_s *= straggler;
    fit.roofline.compute_efficiency /= straggler;
    fit.roofline.bandwidth_efficiency /= straggler;
  }
  return profile;
}

/// A model and the profiles it is priced by: kept together, at one place, because prices point into it.
struct CalibratedModel {
  CalibratedModel(const ModelSpec& priced, const GpuSpec& on, const KernelProfile& profile,
                  const Profile& fallback, const Parallelism& parallelism, const CostOptions& options)
      : model(priced),
        gpu(on),
        tensor_parallel(parallelism.tensor),
        kernel_profile(slowed(profile, parallelism.straggler)),
        roofline(gpu, fallback, CostLevel::roofline, parallelism),
        kernels(kernel_profile, gpu, roofline, options.resample) {}

  ModelSpec model;
  GpuSpec gpu;
  std::int64_t tensor_parallel;
  KernelProfile kernel_profile;
  Roofline roofline;
  CalibratedKernels kernels;
};

class CalibratedPrices {
 public:
  CalibratedPrices(std::unique_ptr<const CalibratedModel> calibrated, const PricerLimits& limits)
      : calibrated_(std::move(calibrated)) {
    const ModelSpec& model = calibrated_->model;
    const std::int64_t degree = calibrated_->tensor_parallel;
    add_gemms(token_operators(model, degree, 1));
    add_gemms(row_operators(model, degree, 1));
    const Operator decode = decode_attention(model, degree, 1, 1, false);
    if (kernels().choose(*decode.call).fit != nullptr) {
      decode_.emplace(kernels(), decode, limits.max_rows);
    }
    roofline_decode_.emplace(model, degree, calibrated_->roofline);
    const Operator prefill = prefill_attention(model, degree, {&kAnyChunk, 1});
    if (kernels().choose(*prefill.call).fit != nullptr) {
      prefill_.emplace(kernels(), prefill, limits.max_tokens);
    } else {
      roofline_prefill_.emplace(model, degree, calibrated_->roofline);
    }
  }

  [[nodiscard]] OperatorCosts token_costs(std::int64_t tokens) const {
    return costs_of(token_operators(calibrated_->model, calibrated_->tensor_parallel, tokens), tokens);
  }
  [[nodiscard]] OperatorCosts row_costs(std::int64_t rows) const {
    return costs_of(row_operators(calibrated_->model, calibrated_->tensor_parallel, rows), rows);
  }
  void add_decodes(const StepShape& shape, StepCost& cost) const {
    if (!decode_) {
      roofline_decode_->add(shape, cost);
    } else if (shape.queries == 1) {
      decode_->add(shape.decodes, shape.decode_context, !shape.chunks.empty(), cost);
    } else {
      add_verification(shape, cost);
    }
  }
  void add_decode_growth(std::int64_t decodes, std::int64_t context, std::int64_t growth,
                         StepLine& line) const {
    decode_ ? decode_->add_growth(decodes, context, growth, line)
            : roofline_decode_->add_growth(decodes, context, growth, line);
  }
  std::int64_t add_chunks(std::span<const ChunkShape> chunks, StepCost& cost, StepLine* line) const {
    if (prefill_) {
      return prefill_->add(chunks, cost, line);
    }
    if (line != nullptr) {
      roofline_prefill_->add_growth(chunks, *line);
    }
    return roofline_prefill_->add(chunks, cost);
  }

 private:
  [[nodiscard]] const CalibratedKernels& kernels() const { return calibrated_->kernels; }

  /// Measured is one position a sequence. More of them read the same KV and compute more: as long as that
  /// stays below what was measured, it hides behind the reading.
  void add_verification(const StepShape& shape, StepCost& cost) const {
    StepCost measured;
    decode_->add(shape.decodes, shape.decode_keys(), !shape.chunks.empty(), measured);
    const Duration arithmetic = roofline_decode_->compute(shape);
    if (arithmetic > measured.compute + measured.bandwidth) {
      measured.compute = arithmetic;
      measured.bandwidth = {};
    }
    cost = cost + measured;
  }

  void add_gemms(const std::vector<Operator>& operators) {
    for (const Operator& part : operators) {
      if (part.family == OperatorFamily::gemm && kernels().choose(*part.call).fit != nullptr) {
        gemms_.emplace_back(part.name, CalibratedGemm(kernels(), part));
      }
    }
  }

  [[nodiscard]] OperatorCosts costs_of(const std::vector<Operator>& operators, std::int64_t rows) const {
    OperatorCosts costs;
    for (const Operator& part : operators) {
      const auto gemm = std::find_if(gemms_.begin(), gemms_.end(),
                                     [&part](const auto& named) { return named.first == part.name; });
      costs.add(part.name, gemm != gemms_.end() ? rounded(gemm->second.parts(rows)) : kernels().time(part),
                part.repeats, kernels().is_extrapolated(part));
    }
    return costs;
  }

  std::unique_ptr<const CalibratedModel> calibrated_;
  std::vector<std::pair<std::string_view, CalibratedGemm>> gemms_;
  std::optional<CalibratedDecode> decode_;
  std::optional<DecodeAttentionPrice> roofline_decode_;  // where decode_ has nothing to say
  std::optional<CalibratedPrefill> prefill_;
  std::optional<PrefillAttentionPrice> roofline_prefill_;
};

/// The operators of the largest steps that the engine's limits allow.
std::vector<Operator> extreme_operators(const ModelSpec& model, std::int64_t tensor_parallel,
                                        const PricerLimits& limits) {
  std::vector<Operator> list =
      token_operators(model, tensor_parallel, std::max<std::int64_t>(limits.max_tokens, 1));
  const std::vector<Operator> rows =
      row_operators(model, tensor_parallel, std::max<std::int64_t>(limits.max_decode_tokens(), 1));
  list.insert(list.end(), rows.begin(), rows.end());
  const std::int64_t batch = std::max<std::int64_t>(limits.max_rows, 1);
  const std::int64_t longest = std::max<std::int64_t>(limits.max_context, 2);
  const std::int64_t attended = std::min(longest, model.sliding_window.value_or(longest));
  list.push_back(decode_attention(model, tensor_parallel, batch, attended * batch, false));
  const std::int64_t last = std::clamp<std::int64_t>(limits.max_tokens, 1, longest);
  const ChunkShape last_chunk{last, longest - last};
  list.push_back(prefill_attention(model, tensor_parallel, {&last_chunk, 1}));
  return list;
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
  const std::vector<Operator> operators =
      extreme_operators(calibrated.model, calibrated.tensor_parallel, limits);
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
  return std::make_unique<TabledPricer<CalibratedPrices>>(CalibratedPrices(std::move(calibrated), limits),
                                                          std::move(basis), with_host_of(model, options),
                                                          limits);
}

}  // namespace inferometer
