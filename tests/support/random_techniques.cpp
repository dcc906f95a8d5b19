#include "tests/support/random_techniques.hpp"

#include <string>

namespace inferometer::testing {

SpeculationRule random_rule(Dice& dice) {
  SpeculationRule rule;
  rule.tokens = dice.one_of({1, 2, 3, 4, 7, kMostDrafts});
  rule.lookahead = dice.chance(50) ? rule.tokens : 0;
  rule.seed = static_cast<std::uint64_t>(dice.between(0, 1000));
  const bool is_certain = dice.chance(20);
  for (std::int64_t position = 0; position < rule.tokens; ++position) {
    rule.acceptance.push_back(is_certain ? static_cast<double>(dice.between(0, 1))
                                         : static_cast<double>(dice.between(20, 80)) / 100);
  }
  rule.spread = !is_certain && dice.chance(30) ? 0.2 : 0;
  rule.most_sequences = dice.chance(30) ? dice.between(1, 6) : SpeculationRule::kAnyBatch;
  rule.adaptive = dice.chance(40);
  return rule;
}

KvOffloadConfig random_offload(Dice& dice) {
  const Duration copy(dice.one_of({1, 1'000'003, 7'000'001, 200'000'000, 6'000'000'000}));
  KvOffloadConfig offload{
      .tiers = {{.blocks = dice.one_of({1, 10, 100, 1000}), .block_write = copy, .block_read = copy}},
      .write = dice.chance(60) ? KvOffloadConfig::Write::on_evict : KvOffloadConfig::Write::on_release,
      .load = dice.chance(50) ? KvOffloadConfig::Load::by_cost : KvOffloadConfig::Load::always};
  if (dice.chance(67)) {
    offload.tiers.front().blocks = dice.one_of({1, 4, 10, 40});
    offload.tiers.push_back({.blocks = dice.one_of({1, 20, 200, 2000}),
                             .block_write = Duration(dice.one_of({1, 2'000'003, 30'000'001})),
                             .block_read = Duration(dice.one_of({1, 700'001, 20'000'003})),
                             .write_buffer = dice.one_of({1, 8, KvTierConfig::kUnbounded})});
  }
  if (dice.chance(5)) {
    offload.load = KvOffloadConfig::Load::never;
  }
  return offload;
}

std::string to_text(const SpeculationRule& rule) {
  std::string text = ", k " + std::to_string(rule.tokens) + (rule.adaptive ? " at most" : "") + " of (";
  for (const double acceptance : rule.acceptance) {
    text += std::to_string(acceptance) + " ";
  }
  return text + ") spread " + std::to_string(rule.spread) + ", lookahead " + std::to_string(rule.lookahead) +
         ", for " + std::to_string(rule.most_sequences) + (rule.recomputes_last_hit ? ", recomputes" : "");
}

std::string to_text(const KvOffloadConfig& offload) {
  std::string text = ", tiers";
  for (const KvTierConfig& tier : offload.tiers) {
    text += " " + std::to_string(tier.blocks) + " write " + std::to_string(tier.block_write.count()) +
            " read " + std::to_string(tier.block_read.count());
  }
  return text + (offload.write == KvOffloadConfig::Write::on_release ? ", on release" : "") +
         (offload.load == KvOffloadConfig::Load::always  ? ", always"
          : offload.load == KvOffloadConfig::Load::never ? ", never"
                                                         : "");
}

}  // namespace inferometer::testing
