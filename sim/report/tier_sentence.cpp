#include "sim/report/tier_sentence.hpp"

#include <fmt/format.h>

#include "sim/report/text_layout.hpp"

namespace inferometer {

std::string tier_sentence(const KvTierSummary& tier, std::int64_t block_size) {
  const KvTierCounts& counts = tier.counts;
  std::string text = fmt::format(
      "{} tokens copied out, {} brought back for {} requests; link {} % busy out, {} % back",
      grouped(counts.stored_blocks * block_size), grouped(counts.loaded_blocks * block_size),
      grouped(counts.loads), short_number(100 * tier.store_share), short_number(100 * tier.load_share));
  if (counts.lost_blocks > 0) {
    text += fmt::format("; {} tokens lost, the write buffer full", grouped(counts.lost_blocks * block_size));
  }
  return text;
}

}  // namespace inferometer
