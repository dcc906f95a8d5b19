// Power of two choices: of two replicas drawn at random the one with less to do. Mitzenmacher, "The power of
// two choices in randomized load balancing", IEEE TPDS 2001: nearly as even as asking all, and where loads
// are known late, requests do not all go to the one that was emptiest then.

#include <memory>
#include <utility>

#include "base/random.hpp"
#include "sim/router/builtin.hpp"

namespace inferometer {
namespace {

class PowerOfTwo : public Router {
 public:
  PowerOfTwo(bool counts_tokens, std::uint64_t seed, const std::string& path)
      : counts_tokens_(counts_tokens), stream_(seed, path) {}

  std::int32_t choose(const Request& request, const RouterView& view) override {
    (void)request;
    if (view.candidates().size() == 1) {
      return view.candidates().front();
    }
    const auto [first, second] = draw(view);
    return load(view, second) < load(view, first) ? second : first;
  }

 private:
  /// Two different candidates, each ordered pair with the same probability.
  std::pair<std::int32_t, std::int32_t> draw(const RouterView& view) {
    const std::uint64_t count = view.candidates().size();
    const std::uint64_t first = stream_.below(count);
    const std::uint64_t other = stream_.below(count - 1);  // a place among those that are not the first
    const std::uint64_t second = other < first ? other : other + 1;
    return {view.candidates()[first], view.candidates()[second]};
  }

  [[nodiscard]] std::int64_t load(const RouterView& view, std::int32_t replica) const {
    return counts_tokens_ ? view.load(replica).tokens : view.outstanding(replica);
  }

  bool counts_tokens_;
  RandomStream stream_;
};

Key load_key() {
  Key key("load", ValueType::choice,
          "What is compared: tokens of the requests not finished, or how many requests that are");
  key.words = {"tokens", "requests"};
  return key.by_default("tokens");
}

}  // namespace

RouterEntry power_of_two_router() {
  return {
      .name = "power_of_two",
      .summary =
          "The less loaded of two drawn at random, the first when equal: power_of_two of SGLang's router",
      .keys = {load_key()},
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        return std::make_unique<PowerOfTwo>(router.text("load") == "tokens", seed, path);
      },
  };
}

}  // namespace inferometer
