#include "sim/batch/block_demand.hpp"

#include <algorithm>

#include "base/units.hpp"

namespace inferometer {

BlockDemand::BlockDemand(const DecodeSet& decodes, std::int64_t block_size,
                         std::span<const ChunkShape> chunks)
    : decodes_(decodes), block_size_(block_size), chunks_(chunks), per_period_(decodes.growing()) {
  for (const ChunkShape& chunk : chunks) {
    per_period_ += chunk.tokens;  // block_size chunks fill as many blocks as each has tokens
  }
}

std::int64_t BlockDemand::at(std::int64_t ahead) const {
  std::int64_t blocks = decodes_.blocks_needed_at(ahead);
  for (const ChunkShape& chunk : chunks_) {
    const std::int64_t past = chunk.past + ahead * chunk.tokens;
    blocks += ceil_div(past + chunk.tokens, block_size_) - ceil_div(past, block_size_);
  }
  return blocks;
}

std::int64_t BlockDemand::steps_within(std::int64_t free, std::int64_t ahead, std::int64_t most) const {
  if ((most / block_size_ + 1) * per_period_ <= free) {
    return most;
  }
  const std::int64_t periods = free / per_period_;
  std::int64_t steps = periods * block_size_;
  std::int64_t left = free - periods * per_period_;
  for (; steps < most && at(ahead + steps) <= left; ++steps) {
    left -= at(ahead + steps);
  }
  return std::min(steps, most);
}

}  // namespace inferometer
