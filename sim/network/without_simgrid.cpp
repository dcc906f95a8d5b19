#include "base/error.hpp"
#include "sim/network/platform.hpp"

namespace inferometer {

std::unique_ptr<Network> make_simgrid_network(const Platform&) {
  throw ConfigError(Position{},
                    "a network with contention needs SimGrid, and this program was built without it; install "
                    "libsimgrid-dev and build again, or choose the ideal network");
}

bool has_simgrid() {
  return false;
}

}  // namespace inferometer
