#pragma once

// Random numbers that are the same on every machine and with every standard library. One stream per purpose:
// RandomStream(seed, "workload/arrivals"); adding a consumer never shifts the numbers of another.

#include <array>
#include <cstdint>
#include <string_view>

namespace inferometer {

/// Next output of splitmix64 (Steele, Lea and Flood 2014) and its state stepped on.
std::uint64_t splitmix64(std::uint64_t& state);

/// 64-bit FNV-1a (Fowler, Noll and Vo) of the bytes.
std::uint64_t fnv1a64(std::string_view bytes);

/// xoshiro256** 1.0 (Blackman and Vigna 2018). Precondition: not all four words are zero.
class Xoshiro256 {
 public:
  explicit Xoshiro256(std::array<std::uint64_t, 4> state) : state_(state) {}
  std::uint64_t next();

 private:
  std::array<std::uint64_t, 4> state_;
};

/// xoshiro256**, seeded through splitmix64 from hash(seed, path).
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view path);

  std::uint64_t next() { return generator_.next(); }
  /// In [0, 1), 53 random bits.
  double uniform();
  /// In [0, bound), without bias (Lemire 2019). Precondition: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Mean 1.
  double exponential();
  /// Mean 0, variance 1 (polar method; draws in pairs, keeps no spare).
  double normal();
  /// Shape > 0, scale 1 (Marsaglia and Tsang 2000).
  double gamma(double shape);

 private:
  Xoshiro256 generator_;
};

}  // namespace inferometer
