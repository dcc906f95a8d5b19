// The index maps of the decode kernel: each element has one place, each place one element, and no access of
// shared memory waits for another.

#include "kernels/attention/decode_tile.hpp"

#include <set>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

struct Format {
  int head_dim;
  int kv_bytes;
};

const std::vector<Format> kFormats{{64, 1}, {64, 2}, {128, 1}, {128, 2}, {256, 1}, {256, 2}};

int chunks_of(const Format& format) {
  return format.head_dim * format.kv_bytes / kChunkBytes;
}

TEST_CASE("chunks of a page fill its shared memory once", "[kernels]") {
  for (const Format& format : kFormats) {
    std::set<int> offsets;
    for (int token = 0; token < kPageTokens; ++token) {
      for (int chunk = 0; chunk < chunks_of(format); ++chunk) {
        offsets.insert(chunk_offset(token, chunk, chunks_of(format)));
      }
    }
    CHECK(static_cast<int>(offsets.size()) == kPageTokens * chunks_of(format));
    CHECK(*offsets.begin() == 0);
    CHECK(*offsets.rbegin() + kChunkBytes == page_bytes(format.head_dim, format.kv_bytes));
  }
}

/// 8 accesses of 16 bytes that a GPU serves at a time touch all 32 banks of 4 bytes once.
template <class Offset>
void check_no_conflict(const Offset& offset_of_lane) {
  for (int first = 0; first < 32; first += 8) {
    std::set<int> banks;
    for (int lane = first; lane < first + 8; ++lane) {
      banks.insert(offset_of_lane(lane) / kChunkBytes % 8);
    }
    CHECK(banks.size() == 8);
  }
}

TEST_CASE("pages are written and read without bank conflicts", "[kernels]") {
  for (const Format& format : kFormats) {
    const int chunks = chunks_of(format);
    INFO("head_dim " << format.head_dim << " bytes " << format.kv_bytes);
    for (int first = 0; first < kPageTokens * chunks; first += 32) {
      check_no_conflict(
          [&](int lane) { return chunk_offset((first + lane) / chunks, (first + lane) % chunks, chunks); });
    }
    for (int step = 0; step < chunks / 2; ++step) {
      check_no_conflict([&](int lane) { return key_row_offset(lane, step, chunks); });
      check_no_conflict([&](int lane) { return value_row_offset(lane, step, chunks); });
    }
  }
}

TEST_CASE("lanes of keys and values cover a page once", "[kernels]") {
  for (const Format& format : kFormats) {
    std::set<int> keys;
    std::set<int> values;
    for (int step = 0; step < chunks_of(format) / 2; ++step) {
      for (int lane = 0; lane < 32; ++lane) {
        keys.insert(key_row_offset(lane, step, chunks_of(format)));
        values.insert(value_row_offset(lane, step, chunks_of(format)));
      }
    }
    CHECK(static_cast<int>(keys.size()) == kPageTokens * chunks_of(format));
    CHECK(static_cast<int>(values.size()) == kPageTokens * chunks_of(format));
  }
}

TEST_CASE("query and output have each column once", "[kernels]") {
  for (const Format& format : kFormats) {
    std::set<std::pair<int, int>> query;
    std::set<std::pair<int, int>> output;
    for (int lane = 0; lane < 32; ++lane) {
      for (int h = 0; h < 2; ++h) {
        for (int e = 0; e < 2; ++e) {
          for (int tile = 0; tile < format.head_dim / 8; ++tile) {
            output.insert({fragment_row(lane, h), output_column(format.kv_bytes, lane, tile, e)});
            query.insert({fragment_row(lane, h), query_column(format.kv_bytes, lane, tile / 2, tile % 2, e)});
          }
        }
      }
    }
    for (const auto& elements : {query, output}) {
      CHECK(static_cast<int>(elements.size()) == kDecodeRows * format.head_dim);
      CHECK(*elements.begin() == std::pair{0, 0});
      CHECK(*elements.rbegin() == std::pair{kDecodeRows - 1, format.head_dim - 1});
    }
  }
}

TEST_CASE("accumulators fit where pages were and keep four columns together", "[kernels]") {
  for (const Format& format : kFormats) {
    std::set<int> elements;
    for (int row = 0; row < kDecodeRows; ++row) {
      for (int column = 0; column < format.head_dim; ++column) {
        const int element = accumulator_element(row, column, format.head_dim);
        elements.insert(element);
        CHECK(element == accumulator_element(row, column / 4 * 4, format.head_dim) + column % 4);
      }
    }
    CHECK(static_cast<int>(elements.size()) == kDecodeRows * format.head_dim);
    CHECK(*elements.rbegin() == kDecodeRows * format.head_dim - 1);
    CHECK(decode_ring_bytes(format.head_dim, format.kv_bytes) >= kDecodeRows * format.head_dim * 4);
  }
}

TEST_CASE("enough bytes are on their way on the GPUs that are calibrated", "[kernels]") {
  // Shared memory of a multiprocessor: CUDA C++ Programming Guide, compute capabilities 8.0 and 9.0.
  for (const int shared : {164 * 1024, 228 * 1024}) {
    for (const Format& format : kFormats) {
      const int blocks = decode_blocks_per_sm(format.head_dim, format.kv_bytes, shared);
      const int stages = decode_stages(format.head_dim, format.kv_bytes);
      INFO("head_dim " << format.head_dim << " bytes " << format.kv_bytes << " shared " << shared);
      REQUIRE(blocks >= 1);
      const int ring = kDecodeWarps * decode_ring_bytes(format.head_dim, format.kv_bytes);
      CHECK(blocks * ring / stages * (stages - 1) >= 64 * 1024);
    }
  }
  // An L4 (100 KB) has no room for pages of head_dim 256 of 16-bit elements.
  CHECK(decode_blocks_per_sm(256, 2, 100 * 1024) == 0);
  CHECK(decode_blocks_per_sm(256, 1, 100 * 1024) == 1);
}

}  // namespace
}  // namespace inferometer::kernels
