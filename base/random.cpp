#include "base/random.hpp"

#include <bit>

#include "base/check.hpp"
#include "base/portable_math.hpp"

namespace inferometer {
namespace {

__extension__ using uint128 = unsigned __int128;

Xoshiro256 seeded(std::uint64_t seed, std::string_view path) {
  // The seed is mixed before it meets the path, so that neighbouring seeds do not give neighbouring states.
  std::uint64_t state = fnv1a64(path) ^ splitmix64(seed);
  std::array<std::uint64_t, 4> words{};
  for (std::uint64_t& word : words) {
    word = splitmix64(state);
  }
  return Xoshiro256(words);
}

}  // namespace

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15u;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

std::uint64_t fnv1a64(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  }
  return hash;
}

std::uint64_t Xoshiro256::next() {
  auto& [a, b, c, d] = state_;
  const std::uint64_t result = std::rotl(b * 5, 7) * 9;
  const std::uint64_t shifted = b << 17;
  c ^= a;
  d ^= b;
  b ^= c;
  a ^= d;
  c ^= shifted;
  d = std::rotl(d, 45);
  return result;
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view path) : generator_(seeded(seed, path)) {
}

double RandomStream::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  INFEROMETER_CHECK(bound > 0, "a random number below zero was asked for");
  // The high half of a 64x64-bit product is the answer; the few products that make some answers more likely
  // than others have a low half under 2^64 mod bound, and are drawn again.
  uint128 product = static_cast<uint128>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t rejected = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < rejected) {
      product = static_cast<uint128>(next()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double RandomStream::exponential() {
  return -portable_log(1 - uniform());
}

double RandomStream::normal() {
  for (;;) {
    const double x = 2 * uniform() - 1;
    const double y = 2 * uniform() - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) {
      return x * portable_sqrt(-2 * portable_log(square) / square);
    }
  }
}

double RandomStream::gamma(double shape) {
  INFEROMETER_CHECK(shape > 0, "a gamma distribution needs a shape above zero");
  if (shape < 1) {
    const double larger = gamma(shape + 1);
    return larger * portable_pow(1 - uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / portable_sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double root = 1 + c * x;
    if (root <= 0) {
      continue;
    }
    const double v = root * root * root;
    if (portable_log(1 - uniform()) < 0.5 * x * x + d - d * v + d * portable_log(v)) {
      return d * v;
    }
  }
}

}  // namespace inferometer
