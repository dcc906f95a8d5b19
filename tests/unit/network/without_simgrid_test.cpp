// A build without SimGrid says so to whoever wants its network.

#include "base/error.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/network/network_fixture.hpp"

namespace inferometer {
namespace {

TEST_CASE("without SimGrid its network is refused with what to install") {
  CHECK_FALSE(has_simgrid());
  try {
    make_simgrid_network(testing::plain_platform(2));
    FAIL("not refused");
  } catch (const ConfigError& error) {
    check_says(error.what(), {"built without it", "libsimgrid-dev", "ideal"});
  }
}

}  // namespace
}  // namespace inferometer
