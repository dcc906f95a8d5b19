// Addresses in the paged KV cache.

#include "kernels/attention/paged_kv.hpp"

#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

TEST_CASE("every element of a cache has one address", "[kernels]") {
  constexpr std::int64_t kBlocks = 5;
  const PagedKvLayout layout{3, 8};
  std::vector<int> seen(static_cast<std::size_t>(kBlocks * layout.kv_heads * kPageTokens * layout.head_dim));
  for (std::int64_t slot = 0; slot < kBlocks * kPageTokens; ++slot) {
    CHECK(slot_of(token_of(slot)) == slot);
    for (std::int64_t head = 0; head < layout.kv_heads; ++head) {
      for (std::int64_t column = 0; column < layout.head_dim; ++column) {
        ++seen.at(static_cast<std::size_t>(kv_element(layout, token_of(slot), head, column)));
      }
    }
  }
  CHECK(seen == std::vector<int>(seen.size(), 1));
}

TEST_CASE("a page is contiguous with its tokens in order", "[kernels]") {
  const PagedKvLayout layout{4, 128};
  // Worked by hand: block 7 of 4 heads, head 2: page 30 of 16 * 128 elements.
  CHECK(page_element(layout, 7, 2) == 30 * 16 * 128);
  CHECK(kv_element(layout, {7, 3}, 2, 5) == 30 * 16 * 128 + 3 * 128 + 5);
  // Beyond 2^31 elements.
  CHECK(page_element(layout, 4'000'000, 0) == 32'768'000'000);
}

TEST_CASE("positions go through the block table", "[kernels]") {
  const std::int32_t blocks[] = {9, 2, 5};
  CHECK(slot_of(token_at(blocks, 0)) == 9 * 16);
  CHECK(slot_of(token_at(blocks, 15)) == 9 * 16 + 15);
  CHECK(slot_of(token_at(blocks, 16)) == 2 * 16);
  CHECK(slot_of(token_at(blocks, 47)) == 5 * 16 + 15);
}

}  // namespace
}  // namespace inferometer::kernels
