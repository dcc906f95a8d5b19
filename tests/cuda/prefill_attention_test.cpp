// Prefill attention on a GPU against its reference.

#include "kernels/attention/prefill_attention.hpp"

#include <vector>

#include "tests/cuda/gpu_array.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/kernels/prefill_input.hpp"

namespace inferometer::kernels {
namespace {

using inferometer::test::GpuArray;
using testing::PrefillBatch;
using testing::PrefillInput;

bool skipped() {
  const std::string reason = inferometer::test::gpu_missing();
  if (!reason.empty()) {
    WARN("skipped: " << reason);
  }
  return !reason.empty();
}

template <class Element>
GpuArray on_gpu(const std::vector<Element>& elements) {
  return {elements.data(), elements.size() * sizeof(Element)};
}

void check(const PrefillBatch& batch, ElementType element, std::int64_t head_dim, std::int64_t row_step) {
  PrefillInput input(batch, element, head_dim);
  const GpuArray query = on_gpu(input.query);
  const GpuArray keys = on_gpu(input.keys);
  const GpuArray values = on_gpu(input.values);
  const GpuArray query_offsets = on_gpu(input.query_offsets);
  const GpuArray key_offsets = on_gpu(input.key_offsets);
  const GpuArray output(input.output.size() * sizeof(std::uint16_t));
  const LaunchResult result =
      prefill_attention(input.shape,
                        {.query = query.data(),
                         .keys = keys.data(),
                         .values = values.data(),
                         .output = output.data(),
                         .query_offsets = static_cast<const std::int32_t*>(query_offsets.data()),
                         .key_offsets = static_cast<const std::int32_t*>(key_offsets.data())},
                        nullptr);
  INFO(result.reason);
  REQUIRE(result.ok());
  inferometer::test::wait_for_gpu();
  output.copy_to(input.output.data());
  INFO("heads " << batch.heads << " kv_heads " << batch.kv_heads << " head_dim " << head_dim << " window "
                << batch.window << " element " << static_cast<int>(element));
  CHECK(input.worst_error(row_step) < kPrefillAttentionTolerance);
}

constexpr ElementType kElements[] = {ElementType::bf16, ElementType::fp16};
constexpr std::int64_t kHeadDims[] = {64, 128, 256};

// One token, ends within tiles and at their edges, nothing, more keys than the stages of a pipeline hold.
const std::vector<PrefillSequence> kRagged = {{1, 0},   {127, 0}, {128, 0}, {129, 0},   {0, 9},
                                              {40, 25}, {1, 700}, {200, 1}, {130, 1100}};

}  // namespace

TEST_CASE("prefill attention of ragged batches is the reference's", "[cuda]") {
  if (skipped()) {
    return;
  }
  for (const ElementType element : kElements) {
    for (const std::int64_t head_dim : kHeadDims) {
      for (const std::int64_t group : {1, 3, 8}) {
        check({kRagged, 2 * group, 2, 0}, element, head_dim, 7 * group);
      }
    }
  }
}

TEST_CASE("prefill attention over a window is the reference's", "[cuda]") {
  if (skipped()) {
    return;
  }
  for (const std::int64_t head_dim : kHeadDims) {
    for (const std::int64_t window : {1, 64, 80, 127, 300}) {
      check({kRagged, 4, 1, window}, ElementType::bf16, head_dim, 7);
    }
  }
}

TEST_CASE("prefill attention of a long prompt is the reference's", "[cuda]") {
  if (skipped()) {
    return;
  }
  for (const std::int64_t head_dim : kHeadDims) {
    check({{{3000, 0}, {700, 5000}}, 8, 2, 0}, ElementType::bf16, head_dim, 401);
  }
}

TEST_CASE("prefill attention refuses what it cannot do", "[cuda]") {
  const PrefillAttentionShape possible{.batch = 1,
                                       .max_tokens = 8,
                                       .total_tokens = 8,
                                       .total_keys = 8,
                                       .heads = 4,
                                       .kv_heads = 2,
                                       .head_dim = 128};
  const auto is_refused = [](const PrefillAttentionShape& shape) {
    return prefill_attention(shape, {}, nullptr).status == KernelStatus::unsupported;
  };
  auto shape = possible;
  shape.head_dim = 96;
  CHECK(is_refused(shape));
  shape = possible;
  shape.heads = 3;
  CHECK(is_refused(shape));
  shape = possible;
  shape.element = ElementType::fp8_e4m3;
  CHECK(is_refused(shape));
  shape = possible;
  shape.total_keys = 7;
  CHECK(is_refused(shape));
  shape = possible;
  shape.max_tokens = 0;
  CHECK(is_refused(shape));
  shape = possible;
  shape.window = -1;
  CHECK(is_refused(shape));
}

}  // namespace inferometer::kernels
