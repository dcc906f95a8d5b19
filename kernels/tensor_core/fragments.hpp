#pragma once

// Who holds which element of a 16-bit matrix product on tensor cores: the register layouts of the PTX ISA,
// and which rows of shared memory a warp names to ldmatrix to fill them. Who uses it: kernels, and the tests
// that emulate them. Rows and columns count from the corner of the warp's own tile.

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

struct MatrixPlace {
  int row;
  int column;
};

/// Accumulators of mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type"):
/// element 0..3 of a lane in the 16 x 8 tile. wgmma.m64nNk16 has the same in each warp's 16 rows, 8 columns a
/// block ("Matrix Fragments for wgmma.mma_async.m64nNk16").
INFEROMETER_HOST_DEVICE constexpr MatrixPlace accumulator_place(int lane, int element) {
  return {lane / 4 + 8 * (element / 2), 2 * (lane % 4) + element % 2};
}

/// The accumulators of two neighbouring blocks of columns are, as 16-bit pairs, the left factor of a 16 x 16
/// step of the next product, in the order: left block's elements 0-1, 2-3, right block's 0-1, 2-3 ("Matrix
/// Fragments for mma.m16n8k16", A). Nothing moves between lanes.

/// A row of 8 elements (16 bytes) that a lane names to ldmatrix: `row` of the tile in shared memory, and the
/// how manieth 16 bytes of it. With .x4, lanes 8i..8i+7 name the 8 rows of the matrix that lands in register
/// i; lane j receives elements 2 (j % 4) and the next of row j / 4 or, transposed, element j / 4 of rows
/// 2 (j % 4) and the next (PTX ISA, ldmatrix).
struct MatrixRow {
  int row;
  int chunk;
};

/// 16 x 16 of a left factor that lies in shared memory row by row.
INFEROMETER_HOST_DEVICE constexpr MatrixRow left_factor_row(int lane) {
  return {lane % 16, lane / 16};
}

/// Right factors of two neighbouring blocks of n, 16 n x 16 k, of a matrix that lies in shared memory as n
/// rows of k (keys of a score product). Registers 0, 1 are those of the first block, 2, 3 of the second.
INFEROMETER_HOST_DEVICE constexpr MatrixRow right_factor_row_of_n(int lane) {
  return {lane % 8 + 8 * (lane / 16), lane / 8 % 2};
}

/// The same, of a matrix that lies as k rows of n (values); read transposed.
INFEROMETER_HOST_DEVICE constexpr MatrixRow right_factor_row_of_k(int lane) {
  return {lane % 16, lane / 16};
}

}  // namespace inferometer::kernels
