#include "kernels/common/element_type.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Values: IEEE 754-2019 for binary16, the upper half of a binary32 for bf16, OCP 8-bit floating point
// specification 1.0, table 2, for e4m3.
TEST_CASE("bit patterns have the values of their specifications", "[element_type]") {
  CHECK(value_of(0x3f80, ElementType::bf16) == 1);
  CHECK(value_of(0xc049, ElementType::bf16) == -3.140625);
  CHECK(value_of(0x7f7f, ElementType::bf16) == std::ldexp(255.0, 120));
  CHECK(value_of(0x0001, ElementType::bf16) == std::ldexp(1.0, -133));
  CHECK(value_of(0xff80, ElementType::bf16) == -kInfinity);
  CHECK(value_of(0x3c00, ElementType::fp16) == 1);
  CHECK(value_of(0x7bff, ElementType::fp16) == 65504);
  CHECK(value_of(0x0001, ElementType::fp16) == std::ldexp(1.0, -24));
  CHECK(value_of(0x7c00, ElementType::fp16) == kInfinity);
  CHECK(value_of(0x38, ElementType::fp8_e4m3) == 1);
  CHECK(value_of(0x7e, ElementType::fp8_e4m3) == 448);
  CHECK(value_of(0x08, ElementType::fp8_e4m3) == std::ldexp(1.0, -6));
  CHECK(value_of(0x01, ElementType::fp8_e4m3) == std::ldexp(1.0, -9));
  CHECK(std::isnan(value_of(0xff, ElementType::fp8_e4m3)));
  CHECK(std::isnan(value_of(0x7f, ElementType::fp8_e4m3)));
  CHECK(value_of(0x3f800001, ElementType::fp32) == 1 + std::ldexp(1.0, -23));
}

TEST_CASE("fp32 patterns are those of the machine", "[element_type]") {
  for (const float value : {1.0f, -0.1f, 3.4e38f, 1e-40f, 0.0f, 6.02e23f}) {
    CHECK(value_of(std::bit_cast<std::uint32_t>(value), ElementType::fp32) == static_cast<double>(value));
    CHECK(bits_of(static_cast<double>(value), ElementType::fp32) == std::bit_cast<std::uint32_t>(value));
  }
}

TEST_CASE("every pattern of 16 and 8 bits comes back from its value", "[element_type]") {
  for (const auto& [type, patterns] : std::vector<std::pair<ElementType, std::uint32_t>>{
           {ElementType::bf16, 65536}, {ElementType::fp16, 65536}, {ElementType::fp8_e4m3, 256}}) {
    std::uint32_t nans = 0;
    for (std::uint32_t bits = 0; bits < patterns; ++bits) {
      const double value = value_of(bits, type);
      if (std::isnan(value)) {
        ++nans;
        REQUIRE(std::isnan(value_of(bits_of(value, type), type)));
      } else {
        REQUIRE(bits_of(value, type) == bits);
      }
    }
    // Both signs of every fraction but the infinity's; of e4m3 one pattern a sign.
    const std::uint32_t expected = type == ElementType::bf16   ? 2 * 127
                                   : type == ElementType::fp16 ? 2 * 1023
                                                               : 2;
    CHECK(nans == expected);
  }
}

TEST_CASE("values between two patterns go to the nearer and ties to the even one", "[element_type]") {
  for (const auto& [type, largest] : std::vector<std::pair<ElementType, std::uint32_t>>{
           {ElementType::bf16, 0x7f7f}, {ElementType::fp16, 0x7bff}, {ElementType::fp8_e4m3, 0x7e}}) {
    const std::uint32_t sign = type == ElementType::fp8_e4m3 ? 0x80 : 0x8000;
    for (std::uint32_t bits = 0; bits < largest; ++bits) {
      const double low = value_of(bits, type);
      const double high = value_of(bits + 1, type);
      const double middle = (low + high) / 2;  // exact: formats have far fewer bits than double
      const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
      REQUIRE(bits_of(middle, type) == even);
      REQUIRE(bits_of(-middle, type) == (sign | even));
      REQUIRE(bits_of(std::nextafter(middle, 0), type) == bits);
      REQUIRE(bits_of(std::nextafter(middle, kInfinity), type) == bits + 1);
    }
  }
}

TEST_CASE("values out of range become infinite or saturate", "[element_type]") {
  CHECK(bits_of(65519.9, ElementType::fp16) == 0x7bff);
  CHECK(bits_of(65520, ElementType::fp16) == 0x7c00);  // half a step above the largest, and it is odd
  CHECK(bits_of(-1e9, ElementType::fp16) == 0xfc00);
  CHECK(bits_of(1e39, ElementType::bf16) == 0x7f80);
  CHECK(bits_of(kInfinity, ElementType::bf16) == 0x7f80);
  CHECK(bits_of(1e9, ElementType::fp8_e4m3) == 0x7e);
  CHECK(bits_of(463.9, ElementType::fp8_e4m3) == 0x7e);
  CHECK(bits_of(-kInfinity, ElementType::fp8_e4m3) == 0xfe);
  CHECK(bits_of(-0.0, ElementType::bf16) == 0x8000);
}

}  // namespace
}  // namespace inferometer::kernels
