#include "base/error.hpp"

#include "tests/support/catch.hpp"

using namespace inferometer;

TEST_CASE("a position leaves out what is not known") {
  CHECK(to_string(Position{"a.yaml", 3, 7}) == "a.yaml:3:7");
  CHECK(to_string(Position{"a.yaml", 3, 0}) == "a.yaml:3");
  CHECK(to_string(Position{"a.yaml", 0, 7}) == "a.yaml");
}

TEST_CASE("mistakes are reported together, in order of file and place") {
  Diagnostics diagnostics;
  CHECK_NOTHROW(diagnostics.throw_if_any());
  diagnostics.add({"b.yaml", 1, 1}, "fourth");
  diagnostics.add({"a.yaml", 10, 2}, "third");
  diagnostics.add({"a.yaml", 9, 5}, "second, added first");
  diagnostics.add({"a.yaml", 9, 5}, "second, added last");
  diagnostics.add({"a.yaml", 0, 0}, "first");
  CHECK_FALSE(diagnostics.empty());
  try {
    diagnostics.throw_if_any();
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) ==
          "a.yaml: first\na.yaml:9:5: second, added first\na.yaml:9:5: second, added last\n"
          "a.yaml:10:2: third\nb.yaml:1:1: fourth");
    CHECK(error.diagnostics().size() == 5);
  }
}
