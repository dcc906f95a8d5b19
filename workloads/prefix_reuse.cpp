#include "workloads/prefix_reuse.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace inferometer {
namespace {

constexpr std::uint64_t kStart = 0;  // the place before the first token

/// A hash of 64 bits of both: two places of a trace share one by a chance of about 1 in 10^7 for a million.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t state = a;
  state = splitmix64(state) ^ b;
  return splitmix64(state);
}

}  // namespace

void PrefixReuseCounter::add(const Request& request) {
  const TimePoint now = request.arrival;
  std::uint64_t before = kStart;
  std::int64_t reused = 0;
  for (const ContentRun& run : request.content) {
    const std::uint64_t here = mixed(before, run.id);
    const auto [found, is_new] = places_.try_emplace(here);
    Place& place = found->second;
    count_reference(run, is_new ? nullptr : &place);
    result_.same_session_tokens += use_in_session(here, request.session, run.tokens);
    if (!is_new) {
      const std::int64_t again = std::min(run.tokens, place.tokens);
      count_reuse(place, again, now);
      reused += again;
    }
    place.tokens = std::max(place.tokens, run.tokens);
    place.last_use = now;
    before = mixed(here, static_cast<std::uint64_t>(run.tokens));
  }
  if (request.output_content != 0) {
    const std::uint64_t here = mixed(before, request.output_content);
    Place& place = places_[here];
    place.tokens = std::max(place.tokens, request.output.count());
    place.last_use = now;
    use_in_session(here, request.session, request.output.count());
  }
  result_.tokens += reused;
  result_.requests += reused > 0 ? 1 : 0;
  result_.longest_tokens = std::max(result_.longest_tokens, reused);
}

void PrefixReuseCounter::count_reference(const ContentRun& run, const Place* seen) {
  ++result_.references;
  ++(seen != nullptr ? result_.references_seen : result_.distinct);
  if (block_tokens_ > 0 && run.tokens == block_tokens_) {
    ++result_.full_references;
    result_.full_references_seen += seen != nullptr && seen->tokens >= block_tokens_ ? 1 : 0;
  }
}

void PrefixReuseCounter::count_reuse(Place& place, std::int64_t tokens, TimePoint now) {
  const auto raise = [tokens](std::int64_t& most, std::int64_t& total) {
    total += std::max<std::int64_t>(tokens - most, 0);
    most = std::max(most, tokens);
  };
  raise(place.reused, result_.distinct_tokens);
  for (std::size_t i = 0; i < PrefixReuse::kWindows.size(); ++i) {
    if (now - place.last_use <= PrefixReuse::kWindows[i]) {
      result_.tokens_within[i] += tokens;
      raise(place.reused_within[i], result_.distinct_tokens_within[i]);
    }
  }
}

std::int64_t PrefixReuseCounter::use_in_session(std::uint64_t place, std::int64_t session,
                                                std::int64_t tokens) {
  if (session < 0) {
    return 0;
  }
  std::int64_t& had = session_tokens_[mixed(place, static_cast<std::uint64_t>(session))];
  const std::int64_t again = std::min(had, tokens);
  had = std::max(had, tokens);
  return again;
}

}  // namespace inferometer
