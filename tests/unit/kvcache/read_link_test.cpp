// ReadLink by hand.

#include "sim/kvcache/read_link.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TimePoint at(std::int64_t time) {
  return TimePoint(Duration(time));
}

TEST_CASE("read link: a copy waits for those booked and takes the first gap that it fits into") {
  ReadLink link;
  CHECK((link.start(at(3), Duration(10)) == at(3)));
  link.book(at(20), Duration(10), at(0));
  link.book(at(40), Duration(10), at(0));
  CHECK((link.start(at(5), Duration(15)) == at(5)));   // ends as the first begins
  CHECK((link.start(at(6), Duration(15)) == at(50)));  // neither before the first nor between them
  CHECK((link.start(at(6), Duration(10)) == at(6)));
  CHECK((link.start(at(11), Duration(10)) == at(30)));  // exactly between them
  CHECK((link.start(at(45), Duration(1)) == at(50)));
  CHECK((link.start(at(60), Duration(1)) == at(60)));
}

TEST_CASE("read link: what is booked into a gap is waited for as well") {
  ReadLink link;
  link.book(at(20), Duration(10), at(0));
  link.book(at(5), Duration(5), at(0));
  CHECK((link.start(at(0), Duration(6)) == at(10)));
  CHECK((link.start(at(0), Duration(11)) == at(30)));
  link.book(at(30), Duration(2), at(12));  // the copy that has ended by 12 is forgotten, the other is not
  CHECK((link.start(at(12), Duration(9)) == at(32)));
  CHECK((link.start(at(12), Duration(8)) == at(12)));
}

}  // namespace
}  // namespace inferometer
