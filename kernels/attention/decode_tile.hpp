#pragma once

// Who holds what in the decode attention kernel: sizes, shared memory, and which element of which matrix each
// lane of a warp has. Plain arithmetic, so that a test can run the kernel's index work on the host.
//
// A warp multiplies 16 query rows (heads of a group, the rest zero) with the 16 tokens of one page, by
// mma.m16n8k16, whose fragments are those of kernels/tensor_core/fragments.hpp. Keys and values come from
// shared memory by ldmatrix, which hands out 8 x 8 matrices of 16-bit units. Of a cache of 8-bit elements a
// unit is two neighbours, so a register holds four elements: its even and its odd bytes become one register
// each. That permutes the columns; queries and outputs are permuted alike.

#include <cstdint>

#include "kernels/attention/paged_kv.hpp"
#include "kernels/common/host_device.hpp"
#include "kernels/tensor_core/fragments.hpp"
#include "kernels/tensor_core/swizzle.hpp"

namespace inferometer::kernels {

/// Query heads of one thread block: the rows of an mma.
inline constexpr int kDecodeRows = 16;

/// Warps of a thread block. Each runs through pages of its own, without waiting for the others until the end.
inline constexpr int kDecodeWarps = 4;

/// Of one KV head: keys, or values.
constexpr int page_bytes(int head_dim, int kv_bytes) {
  return kPageTokens * head_dim * kv_bytes;
}

/// Pages of keys and of values that each warp has on their way or at work. Two where one of all warps is 32
/// KB (more would leave an A100 with one block a multiprocessor), else three.
constexpr int decode_stages(int head_dim, int kv_bytes) {
  return kDecodeWarps * 2 * page_bytes(head_dim, kv_bytes) >= 32 * 1024 ? 2 : 3;
}

/// Shared memory of one warp for pages. Later it holds the warp's accumulator.
constexpr int decode_ring_bytes(int head_dim, int kv_bytes) {
  return decode_stages(head_dim, kv_bytes) * 2 * page_bytes(head_dim, kv_bytes);
}

/// Of a thread block: the rings of pages, the query as 16-bit elements, and for each row maximum, sum and
/// weight in each warp, and maximum and sum in all.
constexpr int decode_shared_bytes(int head_dim, int kv_bytes) {
  const int of_states = kDecodeRows * (3 * kDecodeWarps + 2) * 4;
  return kDecodeWarps * decode_ring_bytes(head_dim, kv_bytes) + kDecodeRows * head_dim * 2 + of_states;
}

/// Thread blocks of a multiprocessor that registers allow: the accumulator takes head_dim / 2 of each
/// thread's.
constexpr int decode_blocks_by_registers(int head_dim) {
  return head_dim <= 64 ? 4 : head_dim <= 128 ? 3 : 2;
}

/// Thread blocks of a multiprocessor; 0 where its shared memory is too small for one. Bytes in flight while
/// all warps compute are (stages - 1) / stages of the blocks' rings: 64 KB or more on an A100 (164 KB), 64 to
/// 128 KB on an H100 (228 KB), where 32 KB cover the latency of memory at full speed.
constexpr int decode_blocks_per_sm(int head_dim, int kv_bytes, int shared_bytes_per_sm) {
  constexpr int kOfSystem = 1024;  // taken of shared memory by each block
  const int by_shared = shared_bytes_per_sm / (decode_shared_bytes(head_dim, kv_bytes) + kOfSystem);
  const int by_registers = decode_blocks_by_registers(head_dim);
  return by_shared < by_registers ? by_shared : by_registers;
}

// ---- shared memory ----

/// Byte of a page in shared memory where 16 bytes of a token's row lie. Of `chunks` (4 or more, a power of 2)
/// of a row the order is changed from row to row, so that 8 rows of one matrix lie in all 32 banks; rows of 4
/// chunks go two by two.
INFEROMETER_HOST_DEVICE constexpr int chunk_offset(int token, int chunk, int chunks) {
  return chunks >= 8 ? swizzled_offset(token, chunk, chunks)
                     : (token * chunks + (chunk ^ (token / 2 % chunks))) * kChunkBytes;
}

/// Element of a warp's accumulator, 16 rows of head_dim floats, once it lies in shared memory; runs of 8
/// columns stay together.
INFEROMETER_HOST_DEVICE constexpr int accumulator_element(int row, int column, int head_dim) {
  return row * head_dim + (column ^ (row % 8 * 8));
}

// ---- fragments ----

/// Row of the tile that registers of half h = 0 or 1 of a lane hold.
INFEROMETER_HOST_DEVICE constexpr int fragment_row(int lane, int h) {
  return accumulator_place(lane, 2 * h).row;
}

/// Token of the page whose score element e = 0 or 1 (of each row) of tile 0 or 1 is.
INFEROMETER_HOST_DEVICE constexpr int score_token(int lane, int tile, int e) {
  return 8 * tile + accumulator_place(lane, e).column;
}

/// Keys: what a lane names to the ldmatrix that takes chunks 2 * step and 2 * step + 1 of all 16 tokens. Its
/// matrices are tokens 0-7 of the one and the other, then tokens 8-15.
INFEROMETER_HOST_DEVICE constexpr int key_row_offset(int lane, int step, int chunks) {
  const MatrixRow row = right_factor_row_of_n(lane);
  return chunk_offset(row.row, 2 * step + row.chunk, chunks);
}

/// Values: the same chunks, transposed; matrices are tokens 0-7 and 8-15 of the one, then of the other.
INFEROMETER_HOST_DEVICE constexpr int value_row_offset(int lane, int step, int chunks) {
  const MatrixRow row = right_factor_row_of_k(lane);
  return chunk_offset(row.row, 2 * step + row.chunk, chunks);
}

/// Column of the query that element e of the left factor's register h + 2 * half holds in product number
/// k_step.
INFEROMETER_HOST_DEVICE constexpr int query_column(int kv_bytes, int lane, int k_step, int half, int e) {
  return 16 * k_step + (kv_bytes == 2 ? 8 * half + lane % 4 * 2 + e : lane % 4 * 4 + 2 * e + half);
}

/// Column of the output that element e of the accumulator's tile number `tile` holds.
INFEROMETER_HOST_DEVICE constexpr int output_column(int kv_bytes, int lane, int tile, int e) {
  return kv_bytes == 2 ? 8 * tile + lane % 4 * 2 + e : tile / 2 * 16 + lane % 4 * 4 + 2 * e + tile % 2;
}

}  // namespace inferometer::kernels
