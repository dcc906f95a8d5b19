// Scorers of llm-d's endpoint picker (the Gateway API inference extension): queue length, room in the KV
// cache and share of the prompt that was sent there before, each from 0 to 1, weighted and added up. The
// highest score wins; among equals one is drawn.

#include <algorithm>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "sim/router/builtin.hpp"
#include "sim/router/needed_data.hpp"
#include "sim/router/prefix_index.hpp"

namespace inferometer {
namespace {

struct ScorerOptions {
  double queue_weight = 0;
  double kv_weight = 0;
  double prefix_weight = 0;
  std::int64_t block_size = 1;
  std::int64_t max_blocks = 1;  // of a prompt that are looked at
};

class PrefixScorer : public Router {
 public:
  PrefixScorer(const ScorerOptions& options, std::int64_t capacity_blocks, std::uint64_t seed,
               const std::string& path)
      : options_(options), sent_({.tokens = capacity_blocks * options.block_size}), stream_(seed, path) {}

  std::int32_t choose(const Request& request, const RouterView& view) override {
    sent_.match(request, view.now());
    look_at_queues(view);
    const std::int64_t blocks = std::min(request.prompt.count() / options_.block_size, options_.max_blocks);
    best_.clear();
    double highest = 0;
    for (const std::int32_t replica : view.candidates()) {
      const double its = score(view.load(replica), matched_share(replica, blocks));
      if (best_.empty() || its > highest) {
        best_.clear();
        highest = its;
      }
      if (its == highest) {
        best_.push_back(replica);
      }
    }
    const std::int32_t chosen = best_[best_.size() > 1 ? stream_.below(best_.size()) : 0];
    sent_.add(chosen, request, blocks * options_.block_size, view.now());
    return chosen;
  }

  void forget(std::int32_t replica) override { sent_.forget(replica); }

 private:
  void look_at_queues(const RouterView& view) {
    shortest_ = longest_ = view.load(view.candidates().front()).waiting;
    for (const std::int32_t replica : view.candidates()) {
      const std::int64_t waiting = view.load(replica).waiting;
      shortest_ = std::min(shortest_, waiting);
      longest_ = std::max(longest_, waiting);
    }
  }

  [[nodiscard]] double matched_share(std::int32_t replica, std::int64_t blocks) const {
    const std::int64_t matched =
        sent_.matched(replica) / options_.block_size;  // of no more than was looked at
    return blocks == 0 ? 0 : static_cast<double>(matched) / static_cast<double>(blocks);
  }

  [[nodiscard]] double score(const ReplicaLoad& load, double prefix) const {
    const double queue = longest_ == shortest_ ? 1
                                               : static_cast<double>(longest_ - load.waiting) /
                                                     static_cast<double>(longest_ - shortest_);
    const double held = load.kv_capacity == 0 ? 0
                                              : static_cast<double>(load.tokens - load.prefill_tokens) /
                                                    static_cast<double>(load.kv_capacity);
    return options_.queue_weight * queue + options_.kv_weight * std::clamp(1 - held, 0.0, 1.0) +
           options_.prefix_weight * prefix;
  }

  ScorerOptions options_;
  PrefixIndex sent_;
  RandomStream stream_;
  std::vector<std::int32_t> best_;  // candidates with the highest score
  std::int64_t shortest_ = 0, longest_ = 0;
};

std::vector<Key> scorer_keys() {
  Key queue("queue_weight", ValueType::number,
            "Weight of the queue: 1 for the fewest waiting requests, 0 for the most");
  queue.by_default("2").range("0");
  Key kv("kv_weight", ValueType::number,
         "Weight of the share of the KV cache that no running request has filled");
  kv.by_default("2").range("0");
  Key prefix("prefix_weight", ValueType::number,
             "Weight of the share of the prompt's whole blocks that were sent there before");
  prefix.by_default("3").range("0");
  Key block("router_block_size", ValueType::count, "Tokens of what the router counts as a block");
  block.by_default("16").range("1");
  Key most("max_prefix_blocks", ValueType::count, "Blocks of a prompt that are looked at, from its start on");
  most.by_default("256").range("1", "1000000");
  Key capacity("capacity_per_replica", ValueType::count, "Blocks that are remembered of each replica");
  capacity.by_default("31250").range("1", "1000000000");
  return {queue, kv, prefix, block, most, capacity};
}

}  // namespace

RouterEntry prefix_scorer_router() {
  return {
      .name = "prefix_scorer",
      .summary =
          "Highest score for a short queue, room for KV and a prompt sent there before: llm-d's scorers",
      .keys = scorer_keys(),
      .missing_data = missing_shared_prefixes,
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        return std::make_unique<PrefixScorer>(ScorerOptions{.queue_weight = router.number("queue_weight"),
                                                            .kv_weight = router.number("kv_weight"),
                                                            .prefix_weight = router.number("prefix_weight"),
                                                            .block_size = router.count("router_block_size"),
                                                            .max_blocks = router.count("max_prefix_blocks")},
                                              router.count("capacity_per_replica"), seed, path);
      },
  };
}

}  // namespace inferometer
