#include "kernels/common/random_element.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kernels/common/element_type.hpp"
#include "kernels/common/fill.hpp"
#include "kernels/common/permutation.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

// The first outputs of SplitMix64 seeded with 1234567, as its author's C program prints them
// (prng.di.unimi.it/splitmix64.c): random_bits(seed, i) is output i.
TEST_CASE("random bits are those of SplitMix64", "[random_element]") {
  CHECK(random_bits(1234567, 0) == 6457827717110365317ULL);
  CHECK(random_bits(1234567, 1) == 3203168211198807973ULL);
  CHECK(random_bits(1234567, 2) == 9817491932198370423ULL);
  CHECK(random_bits(1234567, 3) == 4593380528125082431ULL);
  CHECK(random_bits(1234567, 4) == 16408922859458223821ULL);
}

TEST_CASE("random elements are exact in their formats and centred", "[random_element]") {
  double sum = 0;
  double small_sum = 0;
  constexpr int kCount = 100'000;
  std::vector<int> seen(255);
  for (std::uint64_t index = 0; index < kCount; ++index) {
    const double element = random_element(7, index);
    const double small = random_small_element(7, index);
    ++seen[static_cast<std::size_t>(element * 128 + 127)];
    sum += element;
    small_sum += small;
    for (const ElementType type : {ElementType::bf16, ElementType::fp16}) {
      REQUIRE(value_of(bits_of(element, type), type) == element);
    }
    REQUIRE(value_of(bits_of(small, ElementType::fp8_e4m3), ElementType::fp8_e4m3) == small);
    REQUIRE(std::fabs(element) <= 127.0 / 128);
    REQUIRE(std::fabs(small) <= 15.0 / 16);
  }
  // Uniform on symmetric steps: variance a third of the square of the largest and a little more, 0.336 and
  // 0.313; five standard deviations of the mean.
  CHECK(std::fabs(sum / kCount) < 5 * std::sqrt(0.336 / kCount));
  CHECK(std::fabs(small_sum / kCount) < 5 * std::sqrt(0.313 / kCount));
  for (const int times : seen) {
    // 392 expected, with a standard deviation of 20.
    CHECK(std::abs(times - kCount / 255) < 5 * 20);
  }
}

TEST_CASE("the host sees a filled buffer's elements scaled and rounded", "[random_element]") {
  const RandomFill exact{.type = ElementType::bf16, .seed = 3, .factor = 0.25f};
  const RandomFill rounded{.type = ElementType::fp8_e4m3, .seed = 3, .factor = 1};
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const double element = random_element(3, index);
    CHECK(filled_element(exact, index) == element / 4);
    CHECK(std::fabs(filled_element(rounded, index) - element) <= std::fabs(element) / 16 + 1.0 / 1024);
  }
}

TEST_CASE("a permutation takes every place once", "[permutation]") {
  for (const std::int64_t count : {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4096, 4097, 65536, 100'003}) {
    std::vector<int> hits(static_cast<std::size_t>(count));
    for (std::int64_t index = 0; index < count; ++index) {
      const std::int64_t place = permuted(11, index, count);
      REQUIRE(place >= 0);
      REQUIRE(place < count);
      ++hits[static_cast<std::size_t>(place)];
    }
    CHECK(std::all_of(hits.begin(), hits.end(), [](int times) { return times == 1; }));
  }
}

TEST_CASE("a permutation follows its seed and leaves few neighbours together", "[permutation]") {
  constexpr std::int64_t kCount = 10'000;
  int neighbours = 0;
  int same = 0;
  for (std::int64_t index = 0; index + 1 < kCount; ++index) {
    neighbours += permuted(1, index + 1, kCount) == permuted(1, index, kCount) + 1 ? 1 : 0;
    same += permuted(1, index, kCount) == permuted(2, index, kCount) ? 1 : 0;
  }
  // Of random permutations one neighbour and one place in common are expected, Poisson distributed.
  CHECK(neighbours <= 10);
  CHECK(same <= 10);
}

}  // namespace
}  // namespace inferometer::kernels
