#include "calibration/device/clock_stamp.hpp"

#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("the clock is cycles over time and the mean over SMs", "[clock_stamp]") {
  // 200 us at 1500 MHz are 300,000 cycles, at 1800 MHz 360,000; each SM counts from where it likes.
  const std::vector<ClockStamp> before = {{1'000, 5'000'000}, {900'000, 5'000'100}};
  const std::vector<ClockStamp> after = {{301'000, 5'200'000}, {1'260'000, 5'200'100}};
  CHECK(mean_sm_mhz(before, after) == Approx(1650));
}

TEST_CASE("SMs without both stamps do not count", "[clock_stamp]") {
  const std::vector<ClockStamp> before = {{1'000, 5'000'000}, {}, {7, 5'000'000}};
  const std::vector<ClockStamp> after = {{301'000, 5'200'000}, {1'260'000, 5'200'100}, {}};
  CHECK(mean_sm_mhz(before, after) == Approx(1500));
  CHECK(mean_sm_mhz(std::vector<ClockStamp>(3), std::vector<ClockStamp>(3)) == 0);
}

TEST_CASE("a window of a few steps of the timer gives no clock", "[clock_stamp]") {
  const std::int64_t limit = kShortestClockWindowNanoseconds;
  const std::vector<ClockStamp> before = {{0, 1'000}};
  CHECK(mean_sm_mhz(before, std::vector<ClockStamp>{{limit, 1'000 + limit - 1}}) == 0);
  CHECK(mean_sm_mhz(before, std::vector<ClockStamp>{{limit, 1'000 + limit}}) == Approx(1000));
}

}  // namespace
}  // namespace inferometer
