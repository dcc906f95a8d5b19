#pragma once

// Where a token's keys and values lie in a paged KV cache (Kwon et al., SOSP 2023). Keys and values are two
// arrays of the same layout:
//
//   cache        (blocks, kv_heads, 16 tokens, head_dim), contiguous
//   block table  (sequences, max_blocks) int32: the block of each 16 tokens of a sequence, in order
//
// A page is the part of a block that belongs to one KV head: 16 * head_dim contiguous elements, which one
// warp reads in whole memory sectors. A slot numbers a token's place in the cache regardless of its sequence:
// block * 16 + offset.

#include <cstdint>

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

/// Tokens of a block.
inline constexpr int kPageTokens = 16;

/// A place in the cache: which block, and which of its tokens.
struct PagedToken {
  std::int64_t block = 0;
  int offset = 0;
};

INFEROMETER_HOST_DEVICE constexpr std::int64_t slot_of(PagedToken token) {
  return token.block * kPageTokens + token.offset;
}

/// Precondition: slot >= 0.
INFEROMETER_HOST_DEVICE constexpr PagedToken token_of(std::int64_t slot) {
  return {slot / kPageTokens, static_cast<int>(slot % kPageTokens)};
}

/// Where position `position` of a sequence lies, by the sequence's row of the block table. Precondition:
/// position >= 0.
INFEROMETER_HOST_DEVICE constexpr PagedToken token_at(const std::int32_t* blocks, std::int64_t position) {
  return {blocks[position / kPageTokens], static_cast<int>(position % kPageTokens)};
}

/// Heads and width of one GPU's cache.
struct PagedKvLayout {
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
};

/// Index of the first element of a page.
INFEROMETER_HOST_DEVICE constexpr std::int64_t page_element(const PagedKvLayout& layout, std::int64_t block,
                                                            std::int64_t kv_head) {
  return (block * layout.kv_heads + kv_head) * kPageTokens * layout.head_dim;
}

/// Index of one element of a token's key or value.
INFEROMETER_HOST_DEVICE constexpr std::int64_t kv_element(const PagedKvLayout& layout, PagedToken token,
                                                          std::int64_t kv_head, std::int64_t column) {
  return page_element(layout, token.block, kv_head) + token.offset * layout.head_dim + column;
}

}  // namespace inferometer::kernels
