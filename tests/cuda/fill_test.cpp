#include "kernels/common/fill.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/permutation.hpp"
#include "tests/cuda/dense_data.hpp"

namespace inferometer::kernels {
namespace {

using namespace inferometer::test;

TEST_CASE("filled buffers hold what the host computes", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  for (const ElementType type :
       {ElementType::bf16, ElementType::fp16, ElementType::fp8_e4m3, ElementType::fp32}) {
    for (const std::int64_t count : {1, 15, 16, 17, 255, 100'003}) {
      for (const bool is_small : {false, true}) {
        const RandomFill contents{.type = type, .seed = 5, .factor = 0.5f, .small = is_small};
        // 16 elements more than are filled: they stay NaN.
        const GpuArray array(bytes_for(count + 16, type));
        require_run(fill_random(array.data(), count, contents, nullptr));
        const std::vector<double> elements = elements_of(array, type);
        for (std::int64_t index = 0; index < count; ++index) {
          REQUIRE(elements[static_cast<std::size_t>(index)] ==
                  filled_element(contents, static_cast<std::uint64_t>(index)));
        }
        for (std::size_t index = static_cast<std::size_t>(count); index < elements.size(); ++index) {
          REQUIRE(std::isnan(elements[index]));
        }
      }
    }
  }
}

TEST_CASE("integers and permutations are filled as told", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  for (const std::int64_t count : {1, 255, 256, 257, 3'000'000}) {
    const GpuArray array(static_cast<std::size_t>(count) * 4);
    auto* integers = static_cast<std::int32_t*>(array.data());
    require_run(fill_int32(integers, count, 7, 3, nullptr));
    const std::vector<std::int32_t> steps = integers_of<std::int32_t>(array);
    require_run(fill_permutation(integers, count, 9, nullptr));
    const std::vector<std::int32_t> permutation = integers_of<std::int32_t>(array);
    for (std::int64_t index = 0; index < count; ++index) {
      const auto place = static_cast<std::size_t>(index);
      REQUIRE(steps[place] == 7 + 3 * index);
      REQUIRE(permutation[place] == permuted(9, index, count));
    }
  }
}

TEST_CASE("NaN and infinities are counted", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> numbers(10'000, 1.0f);
  numbers[0] = nan;
  numbers[4'000] = -infinity;
  numbers[7'777] = infinity;
  numbers[9'999] = nan;
  numbers[9'998] = nan;
  const GpuArray array = on_gpu(numbers);
  const GpuArray counts = on_gpu(std::vector<unsigned long long>{0, 100});
  require_run(count_nonfinite(array.data(), 10'000, ElementType::fp32,
                              static_cast<NonfiniteCounts*>(counts.data()), nullptr));
  CHECK(integers_of<unsigned long long>(counts) == std::vector<unsigned long long>{3, 102});
  for (const ElementType type : {ElementType::bf16, ElementType::fp16, ElementType::fp8_e4m3}) {
    const GpuArray poisoned(bytes_for(1'000, type));
    const GpuArray none = on_gpu(std::vector<unsigned long long>{0, 0});
    require_run(fill_poison(poisoned.data(), static_cast<std::int64_t>(poisoned.bytes()), nullptr));
    require_run(
        count_nonfinite(poisoned.data(), 1'000, type, static_cast<NonfiniteCounts*>(none.data()), nullptr));
    CHECK(integers_of<unsigned long long>(none) == std::vector<unsigned long long>{1'000, 0});
  }
}

}  // namespace
}  // namespace inferometer::kernels
