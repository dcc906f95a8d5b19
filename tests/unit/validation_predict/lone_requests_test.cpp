#include "sim/validation/predict/lone_requests.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("a request is alone when all before it have finished") {
  // The second arrives before the first has finished, the third at the very moment the second does, the
  // fourth while the third is there, the fifth later. Alone: 1, 3, 5 with 3, 5 and 4 to the first token.
  CHECK(median_lone_ttft({{0, 3, 10}, {9.999, 30, 20}, {20, 25, 30}, {29, 90, 31}, {40, 44, 50}}) == 4.0);
}

TEST_CASE("a long request keeps others company however many come and go meanwhile") {
  CHECK(median_lone_ttft({{0, 1, 100}, {10, 20, 21}, {50, 70, 71}}) == 1.0);
}

TEST_CASE("the order of the list does not matter, that of arrivals does") {
  CHECK(median_lone_ttft({{50, 58, 60}, {0, 2, 10}}) == 5.0);  // both alone: (2 + 8) / 2
}

TEST_CASE("there is no median of nothing") {
  CHECK(!median_lone_ttft({}));
}

}  // namespace
}  // namespace inferometer
