// The softmax recurrence against a softmax in one piece, in float64.

#include "kernels/attention/online_softmax.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/random_element.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

/// Of one value a score: the softmax-weighted mean.
double mean_in_one_piece(const std::vector<double>& scores, const std::vector<double>& values) {
  const double max = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  double weighted = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double weight = std::exp2(scores[i] - max);
    sum += weight;
    weighted += weight * values[i];
  }
  return weighted / sum;
}

template <class Real>
struct Partial {
  SoftmaxState<Real> state;
  Real accumulator = 0;
};

template <class Real>
Partial<Real> joined(const Partial<Real>& a, const Partial<Real>& b) {
  const SoftmaxState<Real> state = merged(a.state, b.state);
  return {state, a.accumulator * rescale_factor(a.state.max, state.max) +
                     b.accumulator * rescale_factor(b.state.max, state.max)};
}

/// Piece by piece, as a kernel does; a piece may be empty.
template <class Real>
Partial<Real> over(const std::vector<double>& scores, const std::vector<double>& values, std::size_t first,
                   std::size_t last) {
  Partial<Real> total;
  for (std::size_t i = first; i < last; ++i) {
    const auto score = static_cast<Real>(scores[i]);
    const Real max = std::max(total.state.max, score);
    const Real factor = rescale_factor(total.state.max, max);
    const Real weight = rescale_factor(score, max);
    total.accumulator = total.accumulator * factor + weight * static_cast<Real>(values[i]);
    total.state = {max, total.state.sum * factor + weight};
  }
  return total;
}

struct Input {
  std::vector<double> scores;
  std::vector<double> values;
};

Input random_input(std::uint64_t seed, std::size_t count, double spread) {
  Input input;
  for (std::size_t i = 0; i < count; ++i) {
    input.scores.push_back(spread * random_element(seed, 2 * i));
    input.values.push_back(random_element(seed, 2 * i + 1));
  }
  return input;
}

/// Cut into so many pieces at random places, some of them the same.
template <class Real>
double mean_in_pieces(const Input& input, std::size_t pieces, std::uint64_t seed) {
  std::vector<std::size_t> cuts{0, input.scores.size()};
  for (std::size_t cut = 1; cut < pieces; ++cut) {
    cuts.push_back(random_bits(seed, cut) % (input.scores.size() + 1));
  }
  std::sort(cuts.begin(), cuts.end());
  Partial<Real> total;
  for (std::size_t piece = 0; piece + 1 < cuts.size(); ++piece) {
    total = joined(total, over<Real>(input.scores, input.values, cuts[piece], cuts[piece + 1]));
  }
  return static_cast<double>(total.accumulator * normaliser(total.state));
}

TEST_CASE("pieces of a softmax give the whole however they are cut", "[kernels]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::size_t count = 1 + random_bits(seed, 1000) % 70;
    const std::size_t pieces = 1 + random_bits(seed, 1001) % 20;
    // Up to +-30000: far beyond what 2^x of a float holds.
    const double spread = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 40 : 30000;
    const Input input = random_input(seed, count, spread);
    const double expected = mean_in_one_piece(input.scores, input.values);
    INFO("seed " << seed << " count " << count << " pieces " << pieces << " spread " << spread);
    CHECK(mean_in_pieces<double>(input, pieces, seed) == Approx(expected).margin(1e-12));
    CHECK(mean_in_pieces<float>(input, pieces, seed) == Approx(expected).margin(2e-5));
  }
}

TEST_CASE("an empty piece merges as nothing from either side", "[kernels]") {
  const SoftmaxState<float> empty;
  const SoftmaxState<float> some{-12345.0f, 3.5f};
  for (const auto& both : {merged(empty, some), merged(some, empty)}) {
    CHECK(both.max == some.max);
    CHECK(both.sum == some.sum);
  }
  const SoftmaxState<float> none = merged(empty, empty);
  CHECK(none.max == no_score<float>());
  CHECK(none.sum == 0);
  CHECK(normaliser(none) == 0);
  CHECK(rescale_factor(no_score<float>(), no_score<float>()) == 0);
}

TEST_CASE("a score of minus infinity weighs nothing", "[kernels]") {
  const std::vector<double> scores{-INFINITY, 2, -INFINITY, 3};
  const std::vector<double> values{100, 1, 100, 4};
  const Partial<double> total = over<double>(scores, values, 0, 4);
  // Weights 2^2 and 2^3: (4 * 1 + 8 * 4) / 12.
  CHECK(total.accumulator * normaliser(total.state) == Approx(3.0));
}

TEST_CASE("one token is its own softmax", "[kernels]") {
  for (const double score : {-1e30, -700.0, 0.0, 700.0, 1e30}) {
    const Partial<float> total = over<float>({score}, {0.25}, 0, 1);
    CHECK(total.state.sum == 1);
    CHECK(total.accumulator * normaliser(total.state) == 0.25f);
  }
}

}  // namespace
}  // namespace inferometer::kernels
