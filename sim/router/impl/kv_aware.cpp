// KV-aware routing of NVIDIA Dynamo: the cost of a request on a replica is the blocks that must be prefilled
// there, its own but for those cached and all that wait, plus the blocks being decoded. The cheapest gets it,
// or with a temperature, one drawn the likelier the cheaper it is.

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "sim/router/builtin.hpp"
#include "sim/router/needed_data.hpp"
#include "sim/router/prefix_index.hpp"

namespace inferometer {
namespace {

struct KvAwareOptions {
  double overlap_weight = 1;
  double prefill_load_scale = 1;
  double request_weight = 0;
  double temperature = 0;
  std::int64_t block_size = 1;
  std::optional<Duration> predicted_ttl;  // absent: replicas tell
};

class KvAware : public Router {
 public:
  KvAware(const KvAwareOptions& options, std::uint64_t seed, const std::string& path)
      : options_(options), sent_({.age = options.predicted_ttl}), stream_(seed, path) {}

  std::int32_t choose(const Request& request, const RouterView& view) override {
    if (options_.predicted_ttl) {
      sent_.match(request, view.now());
    }
    costs_.clear();
    for (const std::int32_t replica : view.candidates()) {
      costs_.push_back(cost(request, view, replica));
    }
    const std::size_t place = options_.temperature > 0 ? draw() : cheapest();
    const std::int32_t chosen = view.candidates()[place];
    if (options_.predicted_ttl) {
      sent_.add(chosen, request, request.prompt.count(), view.now());
    }
    return chosen;
  }

  [[nodiscard]] bool reads_caches() const override { return !options_.predicted_ttl; }
  void forget(std::int32_t replica) override { sent_.forget(replica); }

 private:
  /// In blocks.
  [[nodiscard]] double cost(const Request& request, const RouterView& view, std::int32_t replica) const {
    const ReplicaLoad load = view.load(replica);
    const std::int64_t cached =
        options_.predicted_ttl ? sent_.matched(replica) : view.cached_tokens(replica, request);
    const double prefill = static_cast<double>(load.prefill_tokens + request.prompt.count()) /
                           static_cast<double>(options_.block_size);
    const double overlap = static_cast<double>(cached / options_.block_size);
    const std::int64_t active = ceil_div(load.tokens, options_.block_size);
    return options_.prefill_load_scale * std::max(0.0, prefill - options_.overlap_weight * overlap) +
           static_cast<double>(active) +
           options_.request_weight * static_cast<double>(view.outstanding(replica));
  }

  /// One of the cheapest, each as likely.
  std::size_t cheapest() {
    const double least = *std::min_element(costs_.begin(), costs_.end());
    const auto equals = static_cast<std::uint64_t>(std::count(costs_.begin(), costs_.end(), least));
    std::uint64_t others = equals > 1 ? stream_.below(equals) : 0;
    std::size_t place = 0;
    while (costs_[place] != least || others-- > 0) {
      ++place;
    }
    return place;
  }

  /// By softmax of costs that go from 0 for the cheapest to -1 for the dearest, over the temperature.
  std::size_t draw() {
    const auto [least, most] = std::minmax_element(costs_.begin(), costs_.end());
    const double low = *least;
    const double range = *most - low;
    double sum = 0;
    for (double& cost : costs_) {
      cost = range > 0 ? portable_exp(-(cost - low) / range / options_.temperature) : 1;
      sum += cost;
    }
    double rest = stream_.uniform() * sum;
    std::size_t place = 0;
    while (place + 1 < costs_.size() && rest >= costs_[place]) {
      rest -= costs_[place++];
    }
    return place;
  }

  KvAwareOptions options_;
  PrefixIndex sent_;
  RandomStream stream_;
  std::vector<double> costs_;  // of the candidates
};

std::vector<Key> kv_aware_keys() {
  Key overlap("overlap_weight", ValueType::number,
              "What a cached block saves, in blocks to prefill; 0 on a pool that only decodes");
  overlap.by_default("1").range("0");
  Key scale("prefill_load_scale", ValueType::number, "What a block to prefill costs, in blocks that decode");
  scale.by_default("1").range("0");
  Key requests("request_weight", ValueType::number,
               "What each request on the replica costs besides, in blocks that decode");
  requests.by_default("0").range("0");
  Key block("router_block_size", ValueType::count, "Tokens of what the router counts as a block");
  block.by_default("16").range("1");
  Key temperature("temperature", ValueType::number,
                  "0 takes the cheapest replica; more draws by softmax of the costs, as shares of what they "
                  "range over, divided by it");
  temperature.by_default("0").range("0");
  Key ttl("predicted_ttl", ValueType::duration,
          "The router takes a prompt to be cached where it sent it for so long after a request last went "
          "through it (120 s in Dynamo without KV events)");
  ttl.optional("replicas tell what they have cached, and what no longer");
  return {overlap, scale, requests, block, temperature, ttl};
}

}  // namespace

RouterEntry kv_aware_router() {
  return {
      .name = "kv_aware",
      .summary =
          "Fewest blocks to prefill, but for those cached, and to decode: the KV router of NVIDIA Dynamo",
      .keys = kv_aware_keys(),
      .missing_data = missing_shared_prefixes,
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        return std::make_unique<KvAware>(
            KvAwareOptions{.overlap_weight = router.number("overlap_weight"),
                           .prefill_load_scale = router.number("prefill_load_scale"),
                           .request_weight = router.number("request_weight"),
                           .temperature = router.number("temperature"),
                           .block_size = router.count("router_block_size"),
                           .predicted_ttl = router.given("predicted_ttl")
                                                ? std::optional(router.duration("predicted_ttl"))
                                                : std::nullopt},
            seed, path);
      },
  };
}

}  // namespace inferometer
