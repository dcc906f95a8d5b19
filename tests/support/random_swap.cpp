#include "tests/support/random_swap.hpp"

namespace inferometer::testing {

void draw_swap(Dice& dice, EngineSetup& setup) {
  if (dice.chance(40)) {
    return;
  }
  setup.keys += ", preemption_mode: swap";
  setup.swap = KvSwapConfig{
      .blocks = dice.one_of({1, 3, setup.blocks / 2 + 1, 10 * setup.blocks}),
      .block_copy = Duration(dice.one_of({1, 1'000'000, 7'000'003, 50'000'000})),
  };
}

std::string swap_text(const EngineSetup& setup) {
  return setup.swap ? ", host blocks " + std::to_string(setup.swap->blocks) + ", copied in " +
                          std::to_string(setup.swap->block_copy.count()) + " ps"
                    : "";
}

}  // namespace inferometer::testing
