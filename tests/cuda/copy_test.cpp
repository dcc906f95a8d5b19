#include <numeric>
#include <vector>

#include "kernels/common/permutation.hpp"
#include "kernels/copy/device_copy.hpp"
#include "kernels/copy/kv_block_copy.hpp"
#include "tests/cuda/dense_data.hpp"
#include "tests/cuda/pinned_array.hpp"

namespace inferometer::kernels {
namespace {

using namespace inferometer::test;

TEST_CASE("KV blocks go where they should and nowhere else", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  constexpr std::int64_t kPool = 40;
  constexpr std::int64_t kMoved = 12;
  for (const std::int64_t block_bytes : {16, 4'096, 16'400, 65'536}) {
    const std::int64_t words = block_bytes / 4;
    std::vector<std::int32_t> contents(static_cast<std::size_t>(kPool * words));
    std::iota(contents.begin(), contents.end(), 0);
    std::vector<std::int32_t> from(kMoved);
    std::vector<std::int32_t> to(kMoved);
    for (std::int64_t index = 0; index < kMoved; ++index) {
      from[static_cast<std::size_t>(index)] = static_cast<std::int32_t>(permuted(1, index, kPool));
      to[static_cast<std::size_t>(index)] = static_cast<std::int32_t>(permuted(1, index + kMoved, kPool));
    }
    const GpuArray pool = on_gpu(contents);
    const GpuArray staging(static_cast<std::size_t>(kMoved * block_bytes));
    const GpuArray from_array = on_gpu(from);
    const GpuArray to_array = on_gpu(to);
    const auto* from_list = static_cast<const std::int32_t*>(from_array.data());
    const auto* to_list = static_cast<const std::int32_t*>(to_array.data());
    const KvBlockCopyShape shape{.count = kMoved, .block_bytes = block_bytes};
    const auto is_block = [&](const std::vector<std::int32_t>& words_found, std::int64_t place,
                              std::int64_t block) {
      for (std::int64_t word = 0; word < words; ++word) {
        if (words_found[static_cast<std::size_t>(place * words + word)] != block * words + word) {
          return false;
        }
      }
      return true;
    };

    require_run(kv_block_copy(shape, {pool.data(), staging.data(), from_list, nullptr}, nullptr));
    const std::vector<std::int32_t> gathered = integers_of<std::int32_t>(staging);
    require_run(kv_block_copy(shape, {pool.data(), pool.data(), from_list, to_list}, nullptr));
    const std::vector<std::int32_t> moved = integers_of<std::int32_t>(pool);
    std::vector<std::int64_t> expected(kPool);
    std::iota(expected.begin(), expected.end(), 0);
    for (std::size_t index = 0; index < kMoved; ++index) {
      REQUIRE(is_block(gathered, static_cast<std::int64_t>(index), from[index]));
      expected[static_cast<std::size_t>(to[index])] = from[index];
    }
    for (std::size_t block = 0; block < expected.size(); ++block) {
      REQUIRE(is_block(moved, static_cast<std::int64_t>(block), expected[block]));
    }

    // Scattered back to a poisoned pool: the blocks of the list, and nothing else.
    const GpuArray other(pool.bytes());
    require_run(kv_block_copy(shape, {staging.data(), other.data(), nullptr, from_list}, nullptr));
    const std::vector<std::int32_t> scattered = integers_of<std::int32_t>(other);
    std::int64_t untouched = 0;
    for (const std::int32_t word : scattered) {
      untouched += word == -1 ? 1 : 0;
    }
    CHECK(untouched == (kPool - kMoved) * words);
    for (const std::int32_t block : from) {
      REQUIRE(is_block(scattered, block, block));
    }
  }
}

TEST_CASE("memory of the host that is not page-locked is refused", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  std::vector<char> pageable(64);
  const GpuArray array(64);
  CHECK(copy_to_host(pageable.data(), array.data(), 64, nullptr).status == KernelStatus::unsupported);
  CHECK(copy_to_device(array.data(), pageable.data(), 64, nullptr).status == KernelStatus::unsupported);
}

TEST_CASE("blocks go to page-locked memory and back", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  constexpr std::int64_t kBytes = 100'000;
  std::vector<std::int32_t> contents(kBytes / 4);
  std::iota(contents.begin(), contents.end(), 3);
  const GpuArray source = on_gpu(contents);
  const GpuArray target(kBytes);
  const PinnedArray host(kBytes);
  require_run(copy_to_host(host.data(), source.data(), kBytes, nullptr));
  require_run(copy_to_device(target.data(), host.data(), kBytes, nullptr));
  CHECK(integers_of<std::int32_t>(target) == contents);
}

TEST_CASE("streams copy and write every byte", "[cuda]") {
  if (is_skipped()) {
    return;
  }
  for (const std::int64_t bytes : {16, 32'752, 32'768, 32'784, 10'000'000}) {
    std::vector<std::int32_t> contents(static_cast<std::size_t>(bytes / 4));
    std::iota(contents.begin(), contents.end(), 1);
    const GpuArray source = on_gpu(contents);
    const GpuArray target(static_cast<std::size_t>(bytes + 16));
    require_run(device_copy(target.data(), source.data(), bytes, nullptr));
    std::vector<std::int32_t> expected = contents;
    expected.insert(expected.end(), 4, -1);
    REQUIRE(integers_of<std::int32_t>(target) == expected);
    require_run(device_write(target.data(), bytes, 7, nullptr));
    expected.assign(expected.size(), 7);
    std::fill(expected.end() - 4, expected.end(), -1);
    REQUIRE(integers_of<std::int32_t>(target) == expected);
    const GpuArray sink(4);
    require_run(device_read(source.data(), bytes, static_cast<std::uint32_t*>(sink.data()), nullptr));
  }
  std::int64_t flush_bytes = 0;
  require_run(l2_flush_bytes(flush_bytes));
  CHECK(flush_bytes >= 1 << 20);
  CHECK(flush_bytes % 16 == 0);
}

}  // namespace
}  // namespace inferometer::kernels
