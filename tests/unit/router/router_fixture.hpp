#pragma once

// A pool of replicas whose loads are just numbers, and routers as a scenario would make them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/config/config_node.hpp"
#include "sim/router/router.hpp"

namespace inferometer::testing {

class PoolOfNumbers : public LoadSource, public PrefixSource {
 public:
  /// Replicas 0 to count - 1, all of them candidates, nothing on any.
  explicit PoolOfNumbers(std::size_t count)
      : candidates_(count), outstanding_(count), loads_(count), tokens_(count), cached_(count) {
    std::iota(candidates_.begin(), candidates_.end(), 0);
  }

  [[nodiscard]] ReplicaLoad load(std::int32_t replica) const override {
    return loads_[static_cast<std::size_t>(replica)];
  }
  [[nodiscard]] std::span<const std::int64_t> tokens_at_least() const override { return tokens_; }
  [[nodiscard]] std::int64_t cached_tokens(std::int32_t replica, const Request& request) const override {
    return std::min(cached_[static_cast<std::size_t>(replica)], request.prompt.count() - 1);
  }

  /// Ascending.
  void set_candidates(std::vector<std::int32_t> candidates) { candidates_ = std::move(candidates); }
  [[nodiscard]] const std::vector<std::int32_t>& candidates() const { return candidates_; }

  void set_load(std::int32_t replica, std::int64_t requests, std::int64_t tokens) {
    const auto at = static_cast<std::size_t>(replica);
    outstanding_[at] = requests;
    tokens_[at] = tokens;
    loads_[at] = {.outstanding = requests, .waiting = requests, .tokens = tokens, .prefill_tokens = 0};
  }

  /// All of it; its requests do not wait but where it says so.
  void set_load(std::int32_t replica, const ReplicaLoad& load) {
    const auto at = static_cast<std::size_t>(replica);
    outstanding_[at] = load.outstanding;
    tokens_[at] = load.tokens;
    loads_[at] = load;
  }

  /// Of any prompt that is longer.
  void set_cached(std::int32_t replica, std::int64_t tokens) {
    cached_[static_cast<std::size_t>(replica)] = tokens;
  }
  void set_now(Duration since_start) { now_ = TimePoint(since_start); }

  /// What tokens_at_least() says from now on; until then the load itself.
  void set_bound(std::int32_t replica, std::int64_t tokens) {
    tokens_[static_cast<std::size_t>(replica)] = tokens;
  }

  [[nodiscard]] RouterView view() const { return {candidates_, outstanding_, *this, now_, this}; }

 private:
  std::vector<std::int32_t> candidates_;
  std::vector<std::int64_t> outstanding_;
  std::vector<ReplicaLoad> loads_;
  std::vector<std::int64_t> tokens_;
  std::vector<std::int64_t> cached_;
  TimePoint now_{};
};

inline RouterRegistry builtin_routers() {
  RouterRegistry registry;
  register_builtin_routers(registry);
  return registry;
}

/// From a section `router` in YAML.
inline std::unique_ptr<Router> make_router(const std::string& text, std::uint64_t seed = 1,
                                           const std::string& path = "router") {
  const RouterRegistry registry = builtin_routers();
  Diagnostics diagnostics;
  const Values router = parse(router_table(registry), read_yaml_text(text, "r.yaml"), diagnostics);
  diagnostics.throw_if_any();
  return registry.find(router.text("policy"))->make(router, seed, path);
}

inline Request request_of(std::int64_t session) {
  Request request;
  request.session = session;
  return request;
}

/// A prompt of these content runs.
inline Request prompt_of(std::vector<ContentRun> runs, std::int64_t id = 0) {
  Request request;
  request.id = id;
  std::int64_t tokens = 0;
  for (const ContentRun& run : runs) {
    tokens += run.tokens;
  }
  request.prompt = TokenCount(tokens);
  request.content = std::move(runs);
  return request;
}

/// A prompt unlike any other.
inline Request lone_prompt(std::int64_t tokens, std::int64_t id) {
  Request request;
  request.id = id;
  request.prompt = TokenCount(tokens);
  return request;
}

/// What it chooses for so many requests without a session, one after the other.
inline std::vector<std::int32_t> choices(Router& router, const PoolOfNumbers& pool, std::size_t count) {
  std::vector<std::int32_t> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(router.choose(request_of(-1), pool.view()));
  }
  return chosen;
}

/// How often each of the replicas 0 to replicas - 1 was chosen.
inline std::vector<double> counts_of(const std::vector<std::int32_t>& chosen, std::size_t replicas) {
  std::vector<double> counts(replicas);
  for (const std::int32_t replica : chosen) {
    counts[static_cast<std::size_t>(replica)] += 1;
  }
  return counts;
}

/// Pearson's: the sum of (observed - expected)^2 / expected.
inline double chi_square(const std::vector<double>& observed, const std::vector<double>& expected) {
  double sum = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    sum += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
  }
  return sum;
}

/// The value that chi-square of so many degrees of freedom exceeds once in a thousand times: Wilson and
/// Hilferty's approximation, up to 2 % above the tables from 3 degrees on.
inline double chi_square_limit(double freedom) {
  constexpr double kNormalQuantile = 3.0902;  // of 0.999
  const double share = 2 / (9 * freedom);
  const double root = 1 - share + kNormalQuantile * std::sqrt(share);
  return freedom * root * root * root;
}

}  // namespace inferometer::testing
