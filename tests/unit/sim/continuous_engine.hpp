#pragma once

// The engine of the hand-worked traces of continuous (vLLM V0): a step costs 10 us + 1 us a token; blocks
// hold 4 tokens.

#include <cstdint>
#include <string>

#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {

inline EngineSetup continuous_engine(std::int64_t blocks, const std::string& watermark) {
  EngineSetup setup;
  setup.policy = "continuous";
  setup.keys = "max_num_batched_tokens: " + std::to_string(4 * blocks) + ", watermark: " + watermark;
  setup.blocks = blocks;
  setup.max_model_len = 4 * blocks;
  setup.max_num_seqs = 4;
  return setup;
}

}  // namespace inferometer::testing
