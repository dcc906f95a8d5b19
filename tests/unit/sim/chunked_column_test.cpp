#include "sim/metrics/chunked_column.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("a column gives back what was added, over many chunks") {
  ChunkedColumn<std::int64_t> column;
  CHECK(column.empty());
  CHECK(column.size() == 0);
  CHECK(column.begin() == column.end());
  constexpr std::size_t kSize = 2 * ChunkedColumn<std::int64_t>::kChunk + 1;
  for (std::size_t i = 0; i < kSize; ++i) {
    column.push_back(static_cast<std::int64_t>(3 * i));
  }
  REQUIRE(column.size() == kSize);
  CHECK(column.chunks() == 3);
  std::int64_t expected = 0;
  bool is_same = true;
  for (const std::int64_t value : column) {
    is_same = is_same && value == expected;
    expected += 3;
  }
  CHECK(is_same);
  CHECK(expected == 3 * static_cast<std::int64_t>(kSize));
  CHECK(column[kSize - 2] == 3 * static_cast<std::int64_t>(kSize - 2));
  CHECK(column.front() == 0);
  CHECK(column.back() == 3 * static_cast<std::int64_t>(kSize - 1));
}

TEST_CASE("elements of a column stay where they are, and a chunk is taken whole") {
  ChunkedColumn<std::int64_t> column;
  std::vector<const std::int64_t*> places;
  for (std::size_t i = 0; i < 3 * ChunkedColumn<std::int64_t>::kChunk; ++i) {
    column.push_back(0);
    places.push_back(&column.back());
  }
  bool is_still_there = true;
  for (std::size_t i = 0; i < places.size(); ++i) {
    is_still_there = is_still_there && places[i] == &column[i];
  }
  CHECK(is_still_there);
  CHECK(column.chunks() == 3);
  CHECK(column.chunk(2).size() == ChunkedColumn<std::int64_t>::kChunk);
  const ChunkedColumn<std::int64_t> moved = std::move(column);
  CHECK(moved.size() == places.size());
  CHECK(&moved.front() == places.front());
}

TEST_CASE("a column that was moved away is empty and can be filled again") {
  ChunkedColumn<std::int64_t> column;
  column.push_back(1);
  const ChunkedColumn<std::int64_t> moved = std::move(column);
  column = ChunkedColumn<std::int64_t>();
  column.push_back(2);
  CHECK(column.size() == 1);
  CHECK(column.back() == 2);
  CHECK(moved.back() == 1);
}

}  // namespace
}  // namespace inferometer
