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
  return {.blocks = dice.one_of({1, 10, 100, 1000}),
          .block_copy = Duration(dice.one_of({1, 1'000'003, 7'000'001, 200'000'000, 6'000'000'000})),
          .write = dice.chance(60) ? KvOffloadConfig::Write::on_evict : KvOffloadConfig::Write::on_release,
          .load = dice.chance(50) ? KvOffloadConfig::Load::by_cost : KvOffloadConfig::Load::always};
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
  return ", host " + std::to_string(offload.blocks) + " blocks of " +
         std::to_string(offload.block_copy.count()) + " ps" +
         (offload.write == KvOffloadConfig::Write::on_release ? ", on release" : "") +
         (offload.load == KvOffloadConfig::Load::always ? ", always" : "");
}

}  // namespace inferometer::testing
