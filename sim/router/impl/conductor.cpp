// Mooncake's conductor (Qin et al., "Mooncake: a KVCache-centric disaggregated architecture for LLM serving",
// FAST 2025, algorithm 1) as far as it goes without moving cached prefixes between replicas: a prompt goes
// where its first token is foreseen to come first, after the prompts that wait there and those of its own
// tokens that are not cached there. Replicas of a pool prefill alike, so tokens stand for time; turning
// requests away by the TTFT foreseen is admission's business.

#include <memory>

#include "sim/router/builtin.hpp"
#include "sim/router/least_loaded.hpp"
#include "sim/router/needed_data.hpp"

namespace inferometer {
namespace {

class Conductor : public Router {
 public:
  std::int32_t choose(const Request& request, const RouterView& view) override {
    return least_outstanding_of_least(view, [&](std::int32_t replica) {
      return view.load(replica).prefill_tokens - view.cached_tokens(replica, request);
    });
  }
  [[nodiscard]] bool reads_caches() const override { return true; }
};

}  // namespace

RouterEntry conductor_router() {
  return {
      .name = "conductor",
      .summary =
          "Where the first token is foreseen to come first, by tokens that wait there and own ones not "
          "cached there: Mooncake's conductor, but for the prefixes that it has fetched from elsewhere",
      .keys = {},
      .missing_data = missing_shared_prefixes,
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        (void)router, (void)seed, (void)path;
        return std::make_unique<Conductor>();
      },
  };
}

}  // namespace inferometer
