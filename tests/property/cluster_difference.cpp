#include <algorithm>
#include <initializer_list>
#include <utility>

#include "tests/property/cluster_run.hpp"

namespace inferometer::testing {
namespace {

/// All of a finished request, in numbers.
std::vector<std::int64_t> numbers(const FinishedRequest& r) {
  return {r.id,
          r.session,
          r.arrival.since_start().count(),
          r.admitted.since_start().count(),
          r.first_token.since_start().count(),
          r.finished.since_start().count(),
          r.prompt,
          r.output,
          r.preemptions,
          r.max_new,
          r.replica,
          r.prefill_replica,
          r.retries,
          r.handover.count(),
          r.cached.own,
          r.cached.session,
          r.cached.others,
          r.cached.host,
          r.cached.disk,
          r.recached.own,
          r.recached.session,
          r.recached.others,
          r.recached.host,
          r.recached.disk};
}

std::vector<std::int64_t> numbers(const ClusterTotals& t) {
  return {t.rejected,  t.lost,        t.retries,        t.lost_tokens, t.discarded_tokens,
          t.completed, t.handed_over, t.local_prefills, t.transfers,   t.transferred.count(),
          t.aborts,    t.failures,    t.drains,         t.starts,      t.moves};
}

std::vector<std::int64_t> numbers(const Census& c) {
  return {c.injected, c.completed, c.running, c.waiting, c.in_transit, c.rejected};
}

std::vector<std::int64_t> numbers(const KvTierCounts& t) {
  return {t.stored_blocks,   t.lost_blocks,     t.loaded_blocks,       t.loads,
          t.storing.count(), t.loading.count(), t.load_waiting.count()};
}

template <class Thing>
std::string first_other(const char* what, const std::vector<Thing>& got, const std::vector<Thing>& expected) {
  const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
  if (a == got.end() && b == expected.end()) {
    return "";
  }
  return std::string(what) + " number " + std::to_string(a - got.begin()) + " of " +
         std::to_string(got.size()) + " and " + std::to_string(expected.size());
}

std::string compare_steps(const ClusterRun& got, const ClusterRun& expected) {
  if (got.steps.size() != expected.steps.size()) {
    return "lanes that ran";
  }
  for (auto a = got.steps.begin(), b = expected.steps.begin(); a != got.steps.end(); ++a, ++b) {
    if (a->first != b->first) {
      return "lanes that ran";
    }
    const auto [x, y] = std::mismatch(a->second.begin(), a->second.end(), b->second.begin(), b->second.end());
    if (x != a->second.end() || y != b->second.end()) {
      return "step " + std::to_string(x - a->second.begin()) + " of replica " +
             std::to_string(a->first.first) + ", lane " + std::to_string(a->first.second) + "\n got" +
             (x == a->second.end() ? " none" : to_text(*x)) + "\n not" +
             (y == b->second.end() ? " none" : to_text(*y));
    }
  }
  return "";
}

std::vector<std::vector<std::int64_t>> numbers(const std::vector<FinishedRequest>& requests) {
  std::vector<std::vector<std::int64_t>> all;
  for (const FinishedRequest& request : requests) {
    all.push_back(numbers(request));
  }
  return all;
}

}  // namespace

std::string first_difference(const ClusterRun& got, const ClusterRun& expected) {
  for (const std::string& difference :
       {compare_steps(got, expected), first_other("arrival", got.arrivals, expected.arrivals),
        first_other("finished request", numbers(got.finished), numbers(expected.finished)),
        first_other("rejected request", got.rejected, expected.rejected),
        first_other("transfer", got.transfers.transfers, expected.transfers.transfers),
        first_other("totals", numbers(got.totals), numbers(expected.totals)),
        first_other("figure of host memory", numbers(got.offload.host), numbers(expected.offload.host)),
        first_other("figure of the disk", numbers(got.offload.disk), numbers(expected.offload.disk)),
        first_other("census", numbers(got.census), numbers(expected.census)),
        first_other("figure of replicas", got.replicas, expected.replicas)}) {
    if (!difference.empty()) {
      return difference;
    }
  }
  return "";
}

}  // namespace inferometer::testing
