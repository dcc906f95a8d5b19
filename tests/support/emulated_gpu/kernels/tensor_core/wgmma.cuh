#pragma once

// Stands in for kernels/tensor_core/wgmma.cuh: the same functions, as the PTX ISA describes the instructions
// behind them, for the threads of a testing::Block. Accumulators are NaN from the start of a product until it
// has been waited for.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "kernels/tensor_core/hopper.cuh"
#include "kernels/tensor_core/mma_sm80.cuh"

namespace inferometer::kernels {

constexpr int kWarpgroupThreads = 128;

/// A 64 x n matrix of a warpgroup's accumulators.
struct EmulatedAccumulators {
  std::vector<float*> registers;  ///< of each thread, [n / 8][4]
  std::vector<float> matrix;
  int columns = 0;
  int running = 0;  ///< products that have not been done

  template <class Act>
  void each(Act act) {
    for (int thread = 0; thread < kWarpgroupThreads; ++thread) {
      for (int element = 0; element < columns / 2; ++element) {
        // "D register fragment": columns 8 j + ... of element 4 j + i, rows of the thread's warp.
        const IsaPlace place = isa_c(thread % kWarpThreads, element % 4);
        const int row = 16 * (thread / kWarpThreads) + place.row;
        const int column = 8 * (element / 4) + place.column;
        act(registers[static_cast<std::size_t>(thread)][element],
            matrix[static_cast<std::size_t>(row * columns + column)]);
      }
    }
  }
};

struct EmulatedProduct {
  EmulatedAccumulators* accumulators;
  std::function<void(std::vector<float>& matrix)> compute;
  int group;
};

/// Products of one warpgroup that run.
struct EmulatedProducts {
  std::map<float*, EmulatedAccumulators> accumulators;  ///< by those of the first thread
  std::vector<EmulatedProduct> running;
  int groups = 0;  ///< committed so far

  void complete(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      EmulatedAccumulators& into = *running[i].accumulators;
      running[i].compute(into.matrix);
      if (--into.running == 0) {
        into.each([](float& reg, float element) { reg = element; });
      }
    }
    running.erase(running.begin(), running.begin() + static_cast<std::ptrdiff_t>(count));
  }
};

/// By warpgroup; emptied by whoever starts a block.
inline std::map<int, EmulatedProducts> emulated_products;

inline int this_warpgroup() {
  return Block::current().thread() / kWarpgroupThreads;
}

template <class Brings, class Act>
void meet_warpgroup(Brings& brings, Act act) {
  Block::current().meet(kFirstWarpgroupMeeting + this_warpgroup(), kWarpgroupThreads,
                        Block::current().thread() % kWarpgroupThreads, &brings,
                        [&](const std::vector<void*>& all) {
                          act([&](int thread) -> Brings& {
                            return *static_cast<Brings*>(all[static_cast<std::size_t>(thread)]);
                          });
                        });
}

inline void start_products() {
}

inline void commit_products() {
  int nothing = 0;
  meet_warpgroup(nothing, [](auto) { ++emulated_products[this_warpgroup()].groups; });
}

template <int kRunning>
void wait_products() {
  if (Block::current().timing().late_products) {
    Block::current().linger();
  }
  int nothing = 0;
  meet_warpgroup(nothing, [](auto) {
    EmulatedProducts& products = emulated_products[this_warpgroup()];
    const auto waits = [&](const EmulatedProduct& product) {
      return product.group < products.groups - kRunning;
    };
    products.complete(
        static_cast<std::size_t>(std::count_if(products.running.begin(), products.running.end(), waits)));
  });
}

template <int kBlocks>
void settle(float (&/*accumulators*/)[kBlocks][4]) {
}

/// A swizzled factor in shared memory as its descriptor says, element by element: "Matrix Descriptor Format"
/// and "Canonical Layouts", 128-byte swizzle, in units of 16-bit elements.
class EmulatedFactor {
 public:
  EmulatedFactor(std::uint64_t descriptor, bool is_transposed) : is_transposed_(is_transposed) {
    const auto field = [&](int bit) { return static_cast<std::uint32_t>(descriptor >> bit & 0x3FFFu) << 4; };
    address_ = field(0);
    leading_ = field(16);
    stride_ = field(32);
    if (descriptor >> 62 != 1 || (descriptor >> 46 & 0xFFFFu) != 0) {
      throw std::logic_error("a descriptor without the 128-byte swizzle, or with a base offset");
    }
  }

  /// K-major: ((8,m),(T,2k)):((8T,SBO),(1,T)); MN-major: ((T,8,m),(8,k)):((1,T,LBO),(8T,SBO)).
  template <ElementType kType>
  [[nodiscard]] float at(int mn, int k) const {
    const auto row = static_cast<std::uint32_t>(mn);
    const auto step = static_cast<std::uint32_t>(k);
    const std::uint32_t offset =
        is_transposed_ ? 2 * (row % 64) + leading_ * (row / 64) + 128 * (step % 8) + stride_ * (step / 8)
                       : 128 * (row % 8) + stride_ * (row / 8) + 2 * step;
    std::uint16_t bits = 0;
    std::memcpy(&bits, Block::current().shared(isa_swizzle(address_ + offset), 2), 2);
    return value_of_bits<kType>(bits);
  }

 private:
  std::uint32_t address_ = 0;
  std::uint32_t leading_ = 0;
  std::uint32_t stride_ = 0;
  bool is_transposed_;
};

/// Starts or, at once, does a product of a warpgroup.
template <ElementType kType>
void run_product(const std::vector<float*>& registers, int columns, bool adds, std::vector<float> left,
                 std::function<float(int, int)> left_at, EmulatedFactor right) {
  EmulatedProducts& products = emulated_products[this_warpgroup()];
  EmulatedAccumulators& into = products.accumulators[registers[0]];
  if (into.running == 0) {
    into.registers = registers;
    into.columns = columns;
    into.matrix.assign(static_cast<std::size_t>(64 * columns), 0.0f);
    into.each([](float& reg, float& element) {
      element = reg;
      reg = std::numeric_limits<float>::quiet_NaN();
    });
  }
  ++into.running;
  const auto compute = [columns, adds, left, left_at, right](std::vector<float>& matrix) {
    std::vector<float> a = left;
    for (int i = 0; a.size() < 64 * 16; ++i) {
      a.push_back(left_at(i / 16, i % 16));
    }
    std::vector<float> b;
    for (int i = 0; i < 16 * columns; ++i) {
      b.push_back(right.template at<kType>(i / 16, i % 16));
    }
    for (int i = 0; i < 64 * columns; ++i) {
      const float* of_row = &a[static_cast<std::size_t>(i / columns * 16)];
      const float* of_column = &b[static_cast<std::size_t>(i % columns * 16)];
      float sum = adds ? matrix[static_cast<std::size_t>(i)] : 0.0f;
      for (int k = 0; k < 16; ++k) {
        sum += of_row[k] * of_column[k];
      }
      matrix[static_cast<std::size_t>(i)] = sum;
    }
  };
  if (Block::current().timing().late_products) {
    products.running.push_back({&into, compute, products.groups});
  } else {
    std::vector<float> done = into.matrix;
    compute(done);
    products.running.push_back(
        {&into, [done](std::vector<float>& matrix) { matrix = done; }, products.groups});
    into.matrix = done;
  }
}

template <ElementType kType, bool kAdds, int kBlocks>
void multiply_shared(float (&accumulators)[kBlocks][4], std::uint64_t of_left, std::uint64_t of_right) {
  float* own = &accumulators[0][0];
  meet_warpgroup(own, [&](auto of_thread) {
    std::vector<float*> registers;
    for (int thread = 0; thread < kWarpgroupThreads; ++thread) {
      registers.push_back(of_thread(thread));
    }
    const EmulatedFactor left(of_left, false);
    run_product<kType>(
        registers, 8 * kBlocks, kAdds, {}, [left](int row, int k) { return left.at<kType>(row, k); },
        EmulatedFactor(of_right, false));
  });
}

template <ElementType kType, int kBlocks>
void multiply_registers(float (&accumulators)[kBlocks][4], const std::uint32_t (&left)[4],
                        std::uint64_t of_right) {
  struct Share {
    float* accumulators;
    const std::uint32_t* left;
  } share{&accumulators[0][0], left};
  meet_warpgroup(share, [&](auto of_thread) {
    std::vector<float*> registers;
    std::vector<float> factor(64 * 16);
    for (int thread = 0; thread < kWarpgroupThreads; ++thread) {
      registers.push_back(of_thread(thread).accumulators);
      for (int i = 0; i < 8; ++i) {
        // "WGMMA .m64nNk16 register fragment layout for matrix A": mma.m16n8k16's, 16 rows a warp.
        const IsaPlace place = isa_a(thread % kWarpThreads, i);
        const int row = 16 * (thread / kWarpThreads) + place.row;
        factor[static_cast<std::size_t>(row * 16 + place.column)] =
            value_of_bits<kType>(of_thread(thread).left[i / 2] >> (16 * (i % 2)));
      }
    }
    run_product<kType>(registers, 8 * kBlocks, true, factor, nullptr, EmulatedFactor(of_right, true));
  });
}

}  // namespace inferometer::kernels
