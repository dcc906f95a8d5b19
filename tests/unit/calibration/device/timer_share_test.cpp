#include "calibration/device/timer_share.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("the timer's share is the line through both graphs at no kernel", "[timer_share]") {
  // 3 us of the timer's own and 1.25 us a kernel: 4.25 us and 44.25 us.
  const TimerShare share = timer_share({4.25e-6}, {44.25e-6});
  CHECK(share.own_seconds == Approx(3e-6));
  CHECK(share.per_kernel_seconds == Approx(1.25e-6));
}

TEST_CASE("outliers do not move the timer's share", "[timer_share]") {
  const TimerShare share =
      timer_share({4.25e-6, 4.25e-6, 9e-4, 4.25e-6, 1e-9}, {44.25e-6, 44.25e-6, 0.3, 44.25e-6});
  CHECK(share.own_seconds == Approx(3e-6));
  CHECK(share.per_kernel_seconds == Approx(1.25e-6));
}

TEST_CASE("no share is below zero", "[timer_share]") {
  // Many kernels that seem faster than one: all is the timer's.
  const TimerShare none_per_kernel = timer_share({5e-6}, {4e-6});
  CHECK(none_per_kernel.per_kernel_seconds == 0);
  CHECK(none_per_kernel.own_seconds == Approx(5e-6));
  // 1 us and 97 us: 3 us a kernel would leave -2 us for the timer.
  const TimerShare none_of_its_own = timer_share({1e-6}, {97e-6});
  CHECK(none_of_its_own.own_seconds == 0);
  CHECK(none_of_its_own.per_kernel_seconds == Approx(3e-6));
}

TEST_CASE("the median of an even count is the mean of the middle two", "[timer_share]") {
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(median({5, 1, 3}) == 3);
  CHECK(median({7}) == 7);
}

}  // namespace
}  // namespace inferometer
