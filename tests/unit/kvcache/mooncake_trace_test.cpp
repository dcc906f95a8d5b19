// The prefix cache over the conversations of Mooncake, whose prompts come as ids of 512-token blocks, one
// after the other: with all memory there is, and with little, against a list of ids in the order of their
// last use.

#include <cstdio>
#include <filesystem>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/kvcache/prefix_cache.hpp"
#include "tests/support/catch.hpp"
#include "workloads/trace_reader.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kBlockTokens = 512;
const std::string kTrace = INFEROMETER_SHARED_DATA "/traces/mooncake_conversation_trace.jsonl";

/// Blocks in the order in which they are used again; 0 stands for one with nothing in it.
class LeastRecentlyUsed {
 public:
  explicit LeastRecentlyUsed(std::int64_t blocks) : order_(static_cast<std::size_t>(blocks), 0) {}

  /// One request comes and goes; returns how many of its blocks were there.
  std::int64_t serve(const Request& request) {
    const std::int64_t blocks = (request.prompt.count() + kBlockTokens - 1) / kBlockTokens;
    const std::int64_t full = request.prompt.count() / kBlockTokens;
    const std::int64_t seekable = (request.prompt.count() - 1) / kBlockTokens;
    std::int64_t hits = 0;
    while (hits < seekable && places_.contains(id_of(request, hits))) {
      order_.erase(places_.extract(id_of(request, hits)).mapped());
      ++hits;
    }
    for (std::int64_t i = hits; i < blocks; ++i) {
      places_.erase(order_.front());
      order_.pop_front();
    }
    for (std::int64_t i = blocks - 1; i >= 0; --i) {
      // A last block that was computed again is there twice: the new one counts as nothing, the old one is
      // found.
      const bool is_new = i < full && !places_.contains(id_of(request, i));
      order_.push_back(is_new ? id_of(request, i) : 0);
      if (is_new) {
        places_[id_of(request, i)] = std::prev(order_.end());
      }
    }
    return hits;
  }

 private:
  static std::uint64_t id_of(const Request& request, std::int64_t block) {
    return request.content[static_cast<std::size_t>(block)].id;
  }
  std::list<std::uint64_t> order_;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

std::vector<Request> requests_of_trace() {
  if (!std::filesystem::exists(kTrace)) {
    std::printf("skipped: no %s on this machine\\n", kTrace.c_str());
    return {};
  }
  std::vector<Request> requests;
  const auto trace = open_trace(kTrace, {});
  while (trace->next_arrival()) {
    trace->take(requests.emplace_back());
  }
  return requests;
}

/// Serves one request alone; returns the blocks found.
std::int64_t serve(PrefixCache& cache, const Request& request, std::int64_t tokens_sought) {
  const std::int64_t tokens = request.prompt.count();
  const std::int64_t blocks = (tokens + kBlockTokens - 1) / kBlockTokens;
  cache.enter(0, request);
  const PrefixMatch match = cache.match(0, tokens_sought);
  cache.hold(0, match.blocks);
  cache.take(blocks - match.blocks);
  cache.cover(0, tokens);
  cache.release(0, blocks, tokens, false);
  cache.leave(0);
  return match.blocks;
}

TEST_CASE("what a prefix cache with all memory finds of the Mooncake conversations", "[shared]") {
  constexpr std::int64_t kPlenty = 1'000'000;
  PrefixCache cache(kPlenty, kBlockTokens);
  std::int64_t full = 0;
  std::int64_t found = 0;
  const std::vector<Request> requests = requests_of_trace();
  for (const Request& request : requests) {
    full += request.prompt.count() / kBlockTokens;
    found +=
        serve(cache, request, request.prompt.count() + 1);  // as if one more token came: the last block too
  }
  if (!requests.empty()) {
    CHECK(full == 276'491);
    CHECK(found == 105'592);
  }
}

TEST_CASE("a prefix cache with little memory is a list by last use", "[shared]") {
  const std::vector<Request> requests = requests_of_trace();
  for (const std::int64_t blocks : {300, 1'000, 8'000, 60'000}) {
    PrefixCache cache(blocks, kBlockTokens);
    LeastRecentlyUsed plain(blocks);
    std::int64_t differing = 0;
    std::int64_t found = 0;
    for (const Request& request : requests) {
      const std::int64_t hits = serve(cache, request, request.prompt.count());
      differing += hits == plain.serve(request) ? 0 : 1;
      found += hits;
    }
    CAPTURE(blocks, found);
    CHECK(differing == 0);
  }
}

}  // namespace
}  // namespace inferometer
