// Cache-aware routing of SGLang's router (SMG): while loads are even, a prompt goes where most of it has been
// sent before; else, or when nobody has seen enough of it, where there is least to do. The router keeps its
// own account of what went where and never asks the replicas.

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/router/builtin.hpp"
#include "sim/router/least_loaded.hpp"
#include "sim/router/needed_data.hpp"
#include "sim/router/prefix_index.hpp"

namespace inferometer {
namespace {

struct CacheAwareOptions {
  double threshold = 0;       // share of the prompt
  std::int64_t absolute = 0;  // requests
  double relative = 0;        // most over least
  bool smallest_tree = false;
};

class CacheAware : public Router {
 public:
  CacheAware(const CacheAwareOptions& options, std::int64_t max_tree_size)
      : options_(options), sent_({.tokens = max_tree_size}) {}

  std::int32_t choose(const Request& request, const RouterView& view) override {
    const std::int32_t chosen = is_uneven(view) ? least_outstanding(view) : by_prefix(request, view);
    sent_.add(chosen, request, request.prompt.count(), view.now());
    return chosen;
  }

  void forget(std::int32_t replica) override { sent_.forget(replica); }

 private:
  [[nodiscard]] bool is_uneven(const RouterView& view) const {
    std::int64_t least = view.outstanding(view.candidates().front());
    std::int64_t most = least;
    for (const std::int32_t replica : view.candidates()) {
      least = std::min(least, view.outstanding(replica));
      most = std::max(most, view.outstanding(replica));
    }
    return most - least > options_.absolute &&
           static_cast<double>(most) > options_.relative * static_cast<double>(least);
  }

  std::int32_t by_prefix(const Request& request, const RouterView& view) {
    sent_.match(request, view.now());
    const auto missed = [&](std::int32_t replica) { return -sent_.matched(replica); };
    const std::int32_t best = least_outstanding_of_least(view, missed);
    const double share =
        static_cast<double>(sent_.matched(best)) / static_cast<double>(request.prompt.count());
    if (share > options_.threshold) {
      return best;
    }
    return options_.smallest_tree
               ? least_loaded(view, [&](std::int32_t replica) { return sent_.tokens(replica); })
               : least_outstanding(view);
  }

  CacheAwareOptions options_;
  PrefixIndex sent_;
};

std::vector<Key> cache_aware_keys() {
  Key threshold("cache_threshold", ValueType::number,
                "A prompt goes where it was seen before when more than this share of it was; the router's "
                "library has 0.5, its command line 0.3");
  threshold.by_default("0.3").range("0", "1");
  Key absolute("balance_abs_threshold", ValueType::count,
               "Loads are uneven when the most loaded replica has more requests than the least loaded one by "
               "more than this, and the next key agrees; the library has 32, the command line 64");
  absolute.by_default("64").range("0");
  Key relative("balance_rel_threshold", ValueType::number,
               "... and has more than this times its requests; the library has 1.1, the command line 1.5");
  relative.by_default("1.5").range("1");
  Key size("max_tree_size", ValueType::count,
           "Tokens of prompts that are remembered of each replica; the router counts characters, 67108864 of "
           "them, of which four make a token");
  size.by_default("16777216").range("1");
  Key otherwise("below_threshold", ValueType::choice,
                "Who gets a prompt that nobody has seen enough of: who has fewest requests, or, as in older "
                "versions, of whose prompts least is remembered");
  otherwise.words = {"least_outstanding", "smallest_tree"};
  otherwise.by_default("least_outstanding");
  return {threshold, absolute, relative, size, otherwise};
}

}  // namespace

RouterEntry cache_aware_router() {
  return {
      .name = "cache_aware",
      .summary =
          "Where most of the prompt was sent before, else least_outstanding: cache_aware of SGLang's router",
      .keys = cache_aware_keys(),
      .missing_data = missing_shared_prefixes,
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        (void)seed, (void)path;
        return std::make_unique<CacheAware>(
            CacheAwareOptions{router.number("cache_threshold"), router.count("balance_abs_threshold"),
                              router.number("balance_rel_threshold"),
                              router.text("below_threshold") == "smallest_tree"},
            router.count("max_tree_size"));
      },
  };
}

}  // namespace inferometer
