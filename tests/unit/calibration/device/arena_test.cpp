#include "calibration/device/arena.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace inferometer {
namespace {

struct Piece {
  std::byte* begin;
  std::int64_t bytes;
};

/// An arena that is never touched, at an aligned address.
std::byte* address() {
  return reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);
}

TEST_CASE("buffers of an arena are aligned and apart and inside", "[arena]") {
  testing::Dice dice(11, "arena");
  for (int round = 0; round < 200; ++round) {
    const std::int64_t bytes = dice.between(0, 5000);
    Arena arena(address(), bytes);
    std::vector<Piece> pieces;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t wish = dice.between(0, 900);
      const std::int64_t left = bytes / Arena::kAlignment * Arena::kAlignment - arena.used();
      auto* const begin = static_cast<std::byte*>(arena.take(wish));
      REQUIRE((begin != nullptr) == (wish <= left));
      if (begin == nullptr) {
        continue;
      }
      CHECK((begin - address()) % Arena::kAlignment == 0);
      CHECK(begin + wish <= address() + bytes);
      for (const Piece& other : pieces) {
        CHECK((begin >= other.begin + other.bytes || begin + wish <= other.begin));
      }
      pieces.push_back({begin, wish});
    }
  }
}

TEST_CASE("an arena gives its last byte and not one more", "[arena]") {
  Arena arena(address(), 1024);
  CHECK(arena.take(1025) == nullptr);
  CHECK(arena.take(-1) == nullptr);
  CHECK(arena.take(INT64_MAX) == nullptr);
  CHECK(arena.take(1024) == address());
  CHECK(arena.take(1) == nullptr);
  arena.reset();
  CHECK(arena.take(1) == address());
  CHECK(arena.take(769) == nullptr);
  CHECK(arena.take(768) == address() + 256);
  CHECK(arena.take(1) == nullptr);
}

TEST_CASE("an arena has whole alignments only", "[arena]") {
  CHECK(Arena(address(), 1023).bytes() == 768);
  CHECK(Arena(address(), 1024).bytes() == 1024);
  CHECK(Arena().take(1) == nullptr);
}

}  // namespace
}  // namespace inferometer
