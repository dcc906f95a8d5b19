// Tiles of keys and masks, against a look at every (query, key) pair.

#include "kernels/attention/causal_tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/attention/prefill_arguments.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace inferometer::kernels {
namespace {

/// What the header promises of a tile of queries, key by key.
void check_tiles(int first_query, int end_query, int past, int window, int keys_of_tile) {
  CAPTURE(first_query, end_query, past, window, keys_of_tile);
  const auto sees = [&](int query, int key) {
    const int position = past + query;
    return key <= position && (window == 0 || key > position - window);
  };
  const CausalTiles tiles = causal_tiles(first_query, end_query, past, window, keys_of_tile);
  const int all_tiles = (past + end_query + keys_of_tile - 1) / keys_of_tile;
  bool first_is_visited = false;
  bool last_is_visited = false;
  for (int tile = 0; tile < all_tiles + 2; ++tile) {
    bool any = false;
    bool all = true;
    for (int query = first_query; query < end_query; ++query) {
      for (int key = tile * keys_of_tile; key < (tile + 1) * keys_of_tile; ++key) {
        any = any || sees(query, key);
        all = all && sees(query, key);
      }
    }
    const bool is_visited = tiles.begin <= tile && tile < tiles.end;
    REQUIRE(is_visited == any);
    if (is_visited) {
      REQUIRE(tiles.needs_mask(tile) == !all);
    }
    first_is_visited = first_is_visited || tile == tiles.begin;
    last_is_visited = last_is_visited || tile == tiles.end - 1;
  }
  REQUIRE(first_is_visited);
  REQUIRE(last_is_visited);
}

}  // namespace

TEST_CASE("visible keys are those up to the query and at most a window of them") {
  for (const int window : {0, 1, 2, 7, 100}) {
    for (int position = 0; position < 20; ++position) {
      int count = 0;
      for (int key = 0; key < 30; ++key) {
        count += is_visible(visible_keys(position, window), key) ? 1 : 0;
      }
      CHECK(count == (window == 0 ? position + 1 : std::min(position + 1, window)));
      CHECK(is_visible(visible_keys(position, window), position));
    }
  }
}

TEST_CASE("tiles worked by hand: 128 queries over 100 cached tokens in tiles of 64 keys") {
  // Queries are at positions 100..227: keys 0..227 lie in tiles 0..3. Query 0 sees keys 0..100: tile 0 whole.
  const CausalTiles tiles = causal_tiles(0, 128, 100, 0, 64);
  CHECK(tiles.begin == 0);
  CHECK(tiles.end == 4);
  CHECK_FALSE(tiles.needs_mask(0));
  CHECK(tiles.needs_mask(1));
  // With a window of 70, query 0 sees keys 31..100 and query 127 keys 158..227: no tile is seen whole.
  const CausalTiles windowed = causal_tiles(0, 128, 100, 70, 64);
  CHECK(windowed.begin == 0);
  CHECK(windowed.end == 4);
  for (int tile = 0; tile < 4; ++tile) {
    CHECK(windowed.needs_mask(tile));
  }
}

TEST_CASE("every visible key is in a tile that is visited and every tile seen in part is masked") {
  testing::Dice dice(1, "causal tiles");
  for (int round = 0; round < 1500; ++round) {
    const auto first = static_cast<int>(dice.one_of({0, 16, 128}));
    const auto count = static_cast<int>(dice.chance(30) ? dice.one_of({1, 128}) : dice.between(1, 40));
    const auto past = static_cast<int>(dice.chance(30) ? 0 : dice.between(0, 150));
    const auto window = static_cast<int>(dice.chance(40) ? 0 : dice.between(1, 120));
    check_tiles(first, first + count, past, window, static_cast<int>(dice.one_of({16, 40, 64})));
  }
}

TEST_CASE("tiles at the edges of windows") {
  for (int window = 1; window < 70; ++window) {
    check_tiles(0, 16, 48, window, 16);
    check_tiles(16, 17, 31, window, 16);
  }
}

TEST_CASE("blocks of a launch take every tile of queries of every head once and last tiles first") {
  const std::vector<std::int32_t> query_offsets = {0, 300, 300, 301, 429};  // 300, 0, 1 and 128 new tokens
  const std::vector<std::int32_t> key_offsets = {0, 350, 360, 361, 489};
  PrefillAttentionShape shape{.batch = 4, .max_tokens = 300, .heads = 6, .kv_heads = 2, .head_dim = 64};
  PrefillAttentionBuffers buffers;
  buffers.query_offsets = query_offsets.data();
  buffers.key_offsets = key_offsets.data();
  const PrefillArguments arguments = prefill_arguments(shape, buffers);
  REQUIRE(prefill_blocks(shape) == 3 * 4 * 6);
  std::vector<int> taken(429 * 6, 0);
  int sequence_before = -1;
  int tile_before = 0;
  for (int block = 0; block < prefill_blocks(shape); ++block) {
    const PrefillTile tile = prefill_tile(arguments, block);
    CHECK(tile.kv_head == tile.head / 3);
    const int sequence = block / (3 * 6);
    CHECK((sequence > sequence_before || tile.first_query <= tile_before));
    sequence_before = sequence;
    tile_before = tile.first_query;
    CHECK(tile.first_token == query_offsets[static_cast<std::size_t>(sequence)]);
    for (int query = tile.first_query; !tile.is_empty() && query < tile.end_query(); ++query) {
      ++taken[static_cast<std::size_t>((tile.first_token + query) * 6 + tile.head)];
    }
    CHECK(tile.past() == (sequence == 0 ? 50 : sequence == 1 ? 10 : 0));
  }
  CHECK(std::all_of(taken.begin(), taken.end(), [](int times) { return times == 1; }));
}

}  // namespace inferometer::kernels
