#include "base/parallel.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("every job runs once, with any number of threads") {
  for (const int threads : {1, 3, 50}) {
    std::vector<std::atomic<int>> runs(20);
    int looks = 0;
    run_jobs(
        20, threads, [&](std::int64_t index) { ++runs[static_cast<std::size_t>(index)]; }, [&] { ++looks; });
    CAPTURE(threads);
    for (const std::atomic<int>& times : runs) {
      CHECK(times == 1);
    }
    CHECK(looks >= 1);
  }
}

TEST_CASE("one thread runs jobs in order") {
  std::vector<std::int64_t> order;
  run_jobs(
      5, 1, [&](std::int64_t index) { order.push_back(index); }, [] {});
  CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("no jobs are none") {
  run_jobs(
      0, 4, [](std::int64_t) { FAIL("there is no job"); }, [] {});
}

TEST_CASE("of jobs that throw the first one counts, and no further ones start") {
  for (const int threads : {1, 4}) {
    std::atomic<int> started = 0;
    std::string message;
    try {
      run_jobs(
          1000, threads,
          [&](std::int64_t index) {
            ++started;
            if (index >= 7) {
              throw std::runtime_error(std::to_string(index));
            }
          },
          [] {});
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CAPTURE(threads);
    CHECK(message == "7");
    CHECK(started >= 8);
    CHECK(started <= 7 + threads);  // each thread meets one at most
  }
}

// Both jobs run at once, and each waits until the other has begun; `later` then lets the other go first.
std::string message_of_two_that_throw(std::int64_t later) {
  std::atomic<int> begun = 0;
  std::atomic<bool> is_first_out = false;
  try {
    run_jobs(
        2, 2,
        [&](std::int64_t index) {
          ++begun;
          while (begun < 2 || (index == later && !is_first_out)) {
            std::this_thread::yield();
          }
          is_first_out = true;
          throw std::runtime_error(std::to_string(index));
        },
        [] {});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST_CASE("the lowest job that throws counts, whichever does so first") {
  for (int i = 0; i < 100; ++i) {
    CHECK(message_of_two_that_throw(0) == "0");
    CHECK(message_of_two_that_throw(1) == "0");
  }
}

}  // namespace
}  // namespace inferometer
