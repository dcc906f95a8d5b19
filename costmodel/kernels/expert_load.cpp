#include "costmodel/kernels/expert_load.hpp"

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kStrata = ExpertLoad::kStrata;
using Strata = std::array<double, kStrata>;

/// The popularity below which a share of the experts lies.
class Popularity {
 public:
  Popularity(double skew, double low, double high)
      // At 1 the primitive of x^-skew is a logarithm; beside it, it is as good as that.
      : power_(std::abs(1 - skew) < kLeastPower ? kLeastPower : 1 - skew),
        low_(portable_pow(low, power_)),
        high_(portable_pow(high, power_)) {}

  [[nodiscard]] double at(double share) const {
    return portable_pow(low_ + (high_ - low_) * share, 1 / power_);
  }

 private:
  static constexpr double kLeastPower = 1e-3;
  double power_, low_, high_;
};

double mean(const Strata& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(kStrata);
}

/// Raises the lowest of ascending values, level with each other, until the sum has grown by so much.
void fill_from_below(Strata& rows, double missing) {
  for (std::size_t filled = 1; filled <= kStrata && missing > 0; ++filled) {
    const double level = rows[filled - 1];
    const auto width = static_cast<double>(filled);
    const double room = filled < kStrata ? (rows[filled] - level) * width : missing;
    const double raised = level + std::min(missing, room) / width;
    std::fill_n(rows.begin(), filled, raised);
    missing -= std::min(missing, room);
  }
}

ExpertLoad even_load(double choices, double experts, double expert_parallel) {
  // Whatever few the choices are, the first of them is of the GPU that is timed.
  const double rows = std::max(choices / expert_parallel, 1.0);
  const double reached = std::min(experts / expert_parallel, std::ceil(rows));
  ExpertLoad load;
  load.add({reached, rows / reached});
  return load;
}

}  // namespace

ExpertLoad expert_load(const KernelCall& call) {
  const auto [tokens, experts, top_k, expert_parallel, skew] =
      std::array{call.axes[0], call.axes[3], call.axes[4], call.axes[6], call.axes[7]};
  const double choices = tokens * top_k;
  if (skew == 0) {
    return even_load(choices, experts, expert_parallel);
  }
  constexpr double kMostOfTokens = 0.8, kLeastRare = 0.01, kMostRare = 2;
  const bool is_full = choices > experts;
  const Popularity popularity(skew, is_full ? 1 : kLeastRare,
                              is_full ? std::max(kMostOfTokens * tokens, 1.0) : kMostRare);
  Strata rows{};
  for (std::size_t i = 0; i < kStrata; ++i) {
    rows[i] = popularity.at((static_cast<double>(i) + 0.5) / static_cast<double>(kStrata));
  }
  const double most_popular = popularity.at(1 - 0.5 / experts);
  const double scale = choices / (most_popular + (experts - 1) * mean(rows));
  const auto rounded = [&scale, most = tokens](double share) {
    return std::min(std::round(share * scale), most);
  };
  const double fullest = std::max(rounded(most_popular), 1.0);
  std::transform(rows.begin(), rows.end(), rows.begin(), rounded);
  if (experts > 1) {
    const double missing = (choices - fullest) / (experts - 1) - mean(rows);  // of an expert
    fill_from_below(rows, missing * static_cast<double>(kStrata));
  }
  ExpertLoad load;
  load.add({1, fullest});
  const double others = (experts / expert_parallel - 1) / static_cast<double>(kStrata);
  for (std::size_t i = kStrata; i-- > 0;) {
    load.add({others * std::min(rows[i], 1.0), std::max(rows[i], 1.0)});
  }
  return load;
}

}  // namespace inferometer
