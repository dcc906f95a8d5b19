#include "sim/batch/speculation.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace inferometer {
namespace {

/// In [0, 1), from the upper 53 bits.
double uniform(std::uint64_t bits) {
  constexpr double kScale = 1.0 / 9007199254740992.0;  // 2^-53
  return static_cast<double>(bits >> 11) * kScale;
}

/// A stream of its own for each (seed, request) and each (seed, request, step): what comes out of one
/// splitmix64 is mixed into the state of the next.
std::uint64_t mixed(std::uint64_t state, std::uint64_t with) {
  std::uint64_t next = splitmix64(state) ^ with;
  return splitmix64(next);
}

}  // namespace

std::int64_t accepted_drafts(const SpeculationRule& rule, std::int64_t request, std::int64_t emitted,
                             std::int64_t drafts) {
  const std::uint64_t of_request = mixed(rule.seed, static_cast<std::uint64_t>(request));
  const double shift = rule.spread * (2 * uniform(of_request) - 1);
  std::uint64_t of_step = mixed(of_request, static_cast<std::uint64_t>(emitted));
  std::int64_t accepted = 0;
  while (accepted < drafts &&
         uniform(splitmix64(of_step)) < rule.acceptance[static_cast<std::size_t>(accepted)] + shift) {
    ++accepted;
  }
  return accepted;
}

void DraftCounts::add(const DraftCounts& other) {
  drafts += other.drafts;
  draft_tokens += other.draft_tokens;
  most_tokens = std::max(most_tokens, other.most_tokens);
  accepted_tokens += other.accepted_tokens;
  emitted_tokens += other.emitted_tokens;
  for (std::size_t position = 0; position < accepted_by_position.size(); ++position) {
    accepted_by_position[position] += other.accepted_by_position[position];
  }
}

}  // namespace inferometer
