// Least tokens: the replica whose outstanding requests have the fewest tokens, prompts and what was emitted
// so far together. Long prompts weigh more than short ones, which a count of requests does not see.

#include <memory>

#include "sim/router/builtin.hpp"
#include "sim/router/least_loaded.hpp"

namespace inferometer {
namespace {

class LeastTokens : public Router {
 public:
  std::int32_t choose(const Request& request, const RouterView& view) override {
    (void)request;
    const std::span<const std::int64_t> at_least = view.tokens_at_least();
    const auto bound = [&](std::int32_t replica) { return at_least[static_cast<std::size_t>(replica)]; };
    std::int32_t best = least_loaded(view, bound);  // likely so; asking it leaves few others to be asked
    std::int64_t least = view.load(best).tokens;
    for (const std::int32_t replica : view.candidates()) {
      if (bound(replica) > least || replica == best) {
        continue;
      }
      const std::int64_t tokens = view.load(replica).tokens;
      if (tokens < least || (tokens == least && replica < best)) {
        best = replica;
        least = tokens;
      }
    }
    return best;
  }
};

}  // namespace

RouterEntry least_tokens_router() {
  return {
      .name = "least_tokens",
      .summary =
          "Fewest tokens of requests not finished: minimum_tokens of SGLang's data-parallel controller",
      .keys = {},
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        (void)router, (void)seed, (void)path;
        return std::make_unique<LeastTokens>();
      },
  };
}

}  // namespace inferometer
