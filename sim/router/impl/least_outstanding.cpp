// Least outstanding: the replica with the fewest requests that were sent there and have not left.

#include <memory>

#include "sim/router/builtin.hpp"
#include "sim/router/least_loaded.hpp"

namespace inferometer {
namespace {

class LeastOutstanding : public Router {
 public:
  std::int32_t choose(const Request& request, const RouterView& view) override {
    (void)request;
    return least_outstanding(view);
  }
};

}  // namespace

RouterEntry least_outstanding_router() {
  return {
      .name = "least_outstanding",
      .summary =
          "Fewest requests not finished, ties to the lowest number: Vidur's lor, and nginx's least_conn",
      .keys = {},
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        (void)router, (void)seed, (void)path;
        return std::make_unique<LeastOutstanding>();
      },
  };
}

}  // namespace inferometer
