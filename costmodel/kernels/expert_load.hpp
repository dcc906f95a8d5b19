#pragma once

// How tokens spread over the experts of one GPU where mixtures of experts are benchmarked, and with that what
// the kernel reads and computes. Who uses it: the roofline and the features of KernelFamily::moe.
//
// Even (skew 0): dealt out in turn, so that min(experts, tokens x top_k) are reached: more than independent
// choices reach. Skewed: the popularity of an expert is drawn with density x^-skew, between 1 and 0.8 tokens
// (0.01 and 2 where there are fewer choices than experts), scaled to the number of choices and rounded; no
// expert gets more rows than there are tokens; what is then missing goes to those with the fewest rows. Of
// expert-parallel GPUs the fullest is timed. So do the collectors of ai-dynamo/aiconfigurator@095f58a5.
// Instead of drawing, this takes the most popular expert to be that of its expected rank, on the fullest GPU,
// and the others spread evenly over the distribution.

#include <array>
#include <cstddef>

#include "costmodel/kernels/kernel_call.hpp"

namespace inferometer {

/// So many experts get so many rows each; both may be broken numbers, on the average of draws.
struct ExpertClass {
  double experts = 0, rows = 0;
};

/// The experts of one GPU that get any rows, the fullest first.
class ExpertLoad {
 public:
  /// Strata of the distribution, beside the fullest expert.
  static constexpr std::size_t kStrata = 24;

  void add(ExpertClass part) { parts_[count_++] = part; }

  /// Sum over the experts of a function of an expert's rows.
  template <class Function>
  [[nodiscard]] double sum(Function of_rows) const {
    double total = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      total += parts_[i].experts * of_rows(parts_[i].rows);
    }
    return total;
  }
  [[nodiscard]] double rows() const {
    return sum([](double rows) { return rows; });
  }
  [[nodiscard]] double reached() const {
    return sum([](double) { return 1.0; });
  }
  [[nodiscard]] double fullest() const { return parts_[0].rows; }

 private:
  std::array<ExpertClass, kStrata + 1> parts_{};
  std::size_t count_ = 0;
};

/// Precondition: a call of KernelFamily::moe. O(kStrata).
ExpertLoad expert_load(const KernelCall& call);

}  // namespace inferometer
