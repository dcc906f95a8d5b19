// Layouts of tensor cores: fragments, swizzles and descriptors, against the tables of the PTX ISA.

#include <cstdint>
#include <set>
#include <utility>

#include "kernels/tensor_core/fragments.hpp"
#include "kernels/tensor_core/swizzle.hpp"
#include "kernels/tensor_core/wgmma_descriptor.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::kernels {

TEST_CASE("a warp's accumulators hold each element of 16 x 8 once") {
  std::set<std::pair<int, int>> places;
  for (int lane = 0; lane < 32; ++lane) {
    for (int element = 0; element < 4; ++element) {
      const MatrixPlace place = accumulator_place(lane, element);
      CHECK((0 <= place.row && place.row < 16 && 0 <= place.column && place.column < 8));
      places.insert({place.row, place.column});
    }
  }
  CHECK(places.size() == 16 * 8);
  // From the figure of the ISA: lane 5 has row 1, columns 2 and 3, and the same of row 9.
  CHECK(accumulator_place(5, 1).row == 1);
  CHECK(accumulator_place(5, 1).column == 3);
  CHECK(accumulator_place(5, 2).row == 9);
  CHECK(accumulator_place(5, 2).column == 2);
}

TEST_CASE("lanes name each row of a 16 x 16 tile once in the order of its fragments") {
  // Matrix i of ldmatrix.x4 is named by lanes 8i to 8i+7 and lands in register i. Left factor: a0 a1, a2 a3,
  // ... are (upper, left), (lower, left), (upper, right), (lower, right).
  const MatrixRow left_corners[] = {{0, 0}, {8, 0}, {0, 1}, {8, 1}};
  // Right factor of rows of n: (first block, low k), (first, high k), (second, low k), (second, high k).
  const MatrixRow n_corners[] = {{0, 0}, {0, 1}, {8, 0}, {8, 1}};
  // Of rows of k: the same, k being the rows.
  const MatrixRow k_corners[] = {{0, 0}, {8, 0}, {0, 1}, {8, 1}};
  for (int lane = 0; lane < 32; ++lane) {
    const int matrix = lane / 8;
    CHECK(left_factor_row(lane).row == left_corners[matrix].row + lane % 8);
    CHECK(left_factor_row(lane).chunk == left_corners[matrix].chunk);
    CHECK(right_factor_row_of_n(lane).row == n_corners[matrix].row + lane % 8);
    CHECK(right_factor_row_of_n(lane).chunk == n_corners[matrix].chunk);
    CHECK(right_factor_row_of_k(lane).row == k_corners[matrix].row + lane % 8);
    CHECK(right_factor_row_of_k(lane).chunk == k_corners[matrix].chunk);
  }
}

TEST_CASE("swizzled tiles hold each chunk once and 8 chunks of a phase meet 8 groups of banks") {
  for (const int chunks : {8, 16, 32}) {
    CAPTURE(chunks);
    std::set<int> offsets;
    for (int row = 0; row < 64; ++row) {
      for (int chunk = 0; chunk < chunks; ++chunk) {
        offsets.insert(swizzled_offset(row, chunk, chunks));
      }
    }
    CHECK(offsets.size() == static_cast<std::size_t>(64 * chunks));
    CHECK(*offsets.begin() == 0);
    CHECK(*offsets.rbegin() == 16 * (64 * chunks - 1));
    // ldmatrix reads a column of 8 chunks, cp.async writes 8 neighbours of a row: 128 bytes are all banks.
    for (int row = 0; row < 64; row += 8) {
      for (int chunk = 0; chunk < chunks; ++chunk) {
        std::set<int> groups;
        std::set<int> of_row;
        for (int i = 0; i < 8; ++i) {
          groups.insert(swizzled_offset(row + i, chunk, chunks) / 16 % 8);
          of_row.insert(swizzled_offset(row, chunk / 8 * 8 + i, chunks) / 16 % 8);
        }
        CHECK(groups.size() == 8);
        CHECK(of_row.size() == 8);
      }
    }
  }
}

TEST_CASE("a chunk some even number on is found by one exclusive or") {
  for (const int chunks : {8, 16, 32}) {
    for (int row = 0; row < 16; ++row) {
      for (int by = 0; by < chunks; by += 2) {
        for (int chunk = 0; chunk < 2; ++chunk) {
          const auto offset = static_cast<std::uint32_t>(swizzled_offset(row, chunk, chunks));
          CHECK(chunks_on(offset, by) ==
                static_cast<std::uint32_t>(swizzled_offset(row, chunk + by, chunks)));
        }
      }
    }
  }
}

TEST_CASE("descriptors have the fields of the ISA") {
  // A tile at 0x12400 of panels of 128 rows, fifth step of 16 columns: second panel (128 rows x 128 bytes
  // on), first step of it. Start 0x16400 >> 4, leading offset 1 (not used), stride 1024 >> 4 = 64, swizzle 1
  // in bits 62-63.
  const std::uint64_t rows = descriptor_of_rows(0x12400, 128, 4);
  CHECK((rows & 0x3FFF) == 0x1640);
  CHECK((rows >> 14 & 3) == 0);
  CHECK((rows >> 16 & 0x3FFF) == 1);
  CHECK((rows >> 32 & 0x3FFF) == 64);
  CHECK((rows >> 46 & 0xFFFF) == 0);
  CHECK(rows >> 62 == 1);
  // Third step of the first panel: 64 bytes on.
  CHECK((descriptor_of_rows(0x12400, 128, 2) & 0x3FFF) == 0x1244);
  // Read transposed, third step of 16 rows: 32 rows of 128 bytes on; panels of 80 rows are 10240 bytes apart.
  const std::uint64_t columns = descriptor_of_columns(0x12400, 80, 2);
  CHECK((columns & 0x3FFF) == 0x1340);
  CHECK((columns >> 16 & 0x3FFF) == 640);
  CHECK((columns >> 32 & 0x3FFF) == 64);
  CHECK(columns >> 62 == 1);
  // All of the 227 KiB that a block may have is within the 18 bits of an address.
  CHECK((descriptor_of_rows(227 * 1024 - 1024, 64, 0) & 0x3FFF) == (227 * 1024 - 1024) / 16);
}

}  // namespace inferometer::kernels
