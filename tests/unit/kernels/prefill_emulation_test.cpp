// The kernels' own code, thread by thread on emulated instructions, against the reference in double. What
// asynchronous instructions may do early or late is done both ways, so that a wait that is missing or on the
// wrong barrier shows.

#include "kernels/attention/prefill_tile_sm80.cuh"
#include "kernels/attention/prefill_tile_sm90.cuh"
#include "tests/support/catch.hpp"
#include "tests/support/emulated_gpu/block.hpp"
#include "tests/unit/kernels/prefill_input.hpp"

namespace inferometer::kernels {
namespace {

using testing::Block;
using testing::CopyTiming;
using testing::GpuTiming;
using testing::PrefillBatch;
using testing::PrefillInput;

/// Blocks may run in any order. From the last one on, what a block writes beyond its sequence spoils rows
/// that the next sequence's block has written.
int last_block(const PrefillAttentionShape& shape) {
  return static_cast<int>(prefill_blocks(shape)) - 1;
}

template <ElementType kType, int kHeadDim>
double run_sm80(const PrefillBatch& batch, GpuTiming timing) {
  using Plan = Sm80Prefill<kHeadDim>;
  PrefillInput input(batch, kType, kHeadDim);
  const PrefillArguments arguments = prefill_arguments(input.shape, input.buffers());
  for (int index = last_block(input.shape); index >= 0; --index) {
    const PrefillTile tile = prefill_tile(arguments, index);
    if (!tile.is_empty()) {
      Block block(Plan::kThreads, Plan::kSharedBytes, timing);
      block.run([&] { attend_sm80<kType, kHeadDim>(arguments, tile, block.shared_begin()); });
    }
  }
  return input.worst_error();
}

template <ElementType kType, int kHeadDim>
double run_sm90(const PrefillBatch& batch, GpuTiming timing) {
  using Plan = Sm90Prefill<kHeadDim>;
  PrefillInput input(batch, kType, kHeadDim);
  const PrefillAttentionShape& shape = input.shape;
  const PrefillArguments arguments = prefill_arguments(shape, input.buffers());
  const Sm90Maps maps = {{input.query.data(), shape.total_tokens, shape.heads, kHeadDim, kQueriesOfBlock},
                         {input.keys.data(), shape.total_keys, shape.kv_heads, kHeadDim, Plan::kKeys},
                         {input.values.data(), shape.total_keys, shape.kv_heads, kHeadDim, Plan::kKeys}};
  for (int index = last_block(shape); index >= 0; --index) {
    const PrefillTile tile = prefill_tile(arguments, index);
    if (!tile.is_empty()) {
      emulated_barriers.clear();
      emulated_products.clear();
      Block block(Plan::kThreads, Plan::kSharedBytes, timing);
      block.run(
          [&] { attend_sm90<kType, kHeadDim>(arguments, tile, maps, shared_address(block.shared_begin())); });
    }
  }
  return input.worst_error();
}

constexpr GpuTiming kLate{.copies = CopyTiming::late, .late_products = true};
constexpr GpuTiming kEarly{.copies = CopyTiming::at_once, .late_products = false};

// Four tiles of queries in all: a sequence of one token, one with a cached past that ends within a tile of
// keys, one that fills its tile of queries, and one of nothing; neighbours' keys follow each other without
// gaps.
const PrefillBatch kRagged = {{{1, 0}, {30, 300}, {0, 7}, {128, 5}}, 2, 1, 0};
// A window that begins within tiles and is shorter than the tile of queries.
const PrefillBatch kWindow = {{{140, 200}}, 1, 1, 100};
// More tiles of keys than two rounds of the pipeline's stages, for each head dimension.
const PrefillBatch kLongPast = {{{20, 700}}, 1, 1, 0};

}  // namespace

TEST_CASE("sm_80: a ragged batch with grouped heads and a cached past") {
  CHECK(run_sm80<ElementType::bf16, 64>(kRagged, kLate) < kPrefillAttentionTolerance);
  CHECK(run_sm80<ElementType::bf16, 128>(kRagged, kEarly) < kPrefillAttentionTolerance);
}

TEST_CASE("sm_80: head dimension 256 and fp16") {
  CHECK(run_sm80<ElementType::fp16, 256>(kWindow, kLate) < kPrefillAttentionTolerance);
}

TEST_CASE("sm_80: a window") {
  CHECK(run_sm80<ElementType::bf16, 128>(kWindow, kLate) < kPrefillAttentionTolerance);
}

TEST_CASE("sm_90: a ragged batch with grouped heads and a cached past") {
  CHECK(run_sm90<ElementType::bf16, 64>(kRagged, kLate) < kPrefillAttentionTolerance);
  CHECK(run_sm90<ElementType::bf16, 128>(kRagged, kEarly) < kPrefillAttentionTolerance);
}

TEST_CASE("sm_90: head dimension 256 and fp16") {
  CHECK(run_sm90<ElementType::fp16, 256>(kWindow, kLate) < kPrefillAttentionTolerance);
}

TEST_CASE("sm_90: a window") {
  CHECK(run_sm90<ElementType::bf16, 128>(kWindow, kLate) < kPrefillAttentionTolerance);
}

TEST_CASE("sm_90: many tiles of keys and all that runs by itself early or late") {
  for (const CopyTiming copies : {CopyTiming::at_once, CopyTiming::late, CopyTiming::late_last_first}) {
    for (const bool late_products : {false, true}) {
      CAPTURE(static_cast<int>(copies), late_products);
      CHECK(run_sm90<ElementType::bf16, 64>(kLongPast, {copies, late_products}) < kPrefillAttentionTolerance);
    }
  }
  CHECK(run_sm90<ElementType::bf16, 256>(kLongPast, kLate) < kPrefillAttentionTolerance);
}

}  // namespace inferometer::kernels
