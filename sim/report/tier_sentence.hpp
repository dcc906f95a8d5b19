#pragma once

#include <cstdint>
#include <string>

#include "sim/metrics/kv_offload_summary.hpp"

namespace inferometer {

/// "48,000 tokens copied out, 32,000 brought back for 20 requests; link 3 % busy out, 2 % back".
/// `block_size`: tokens.
std::string tier_sentence(const KvTierSummary& tier, std::int64_t block_size);

}  // namespace inferometer
