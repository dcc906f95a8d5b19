// Round robin: each replica in turn, whatever its load.

#include <algorithm>
#include <memory>

#include "sim/router/builtin.hpp"

namespace inferometer {
namespace {

class RoundRobin : public Router {
 public:
  /// The next higher number after the last, so that a replica that goes or comes shifts nobody's turn.
  std::int32_t choose(const Request& request, const RouterView& view) override {
    (void)request;
    const auto next = std::upper_bound(view.candidates().begin(), view.candidates().end(), last_);
    last_ = next == view.candidates().end() ? view.candidates().front() : *next;
    return last_;
  }

 private:
  std::int32_t last_ = -1;
};

}  // namespace

RouterEntry round_robin_router() {
  return {
      .name = "round_robin",
      .summary = "Each replica in turn, by number: Vidur's round_robin, and what nginx does by default",
      .keys = {},
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        (void)router, (void)seed, (void)path;
        return std::make_unique<RoundRobin>();
      },
  };
}

}  // namespace inferometer
