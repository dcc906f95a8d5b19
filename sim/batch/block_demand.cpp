#include "sim/batch/block_demand.hpp"

#include <algorithm>

namespace inferometer {

BlockDemand::BlockDemand(const DecodeSet& decodes, std::span<const ChunkShape> chunks)
    : decodes_(decodes), chunks_(chunks), per_period_(decodes.growing()) {
  for (const ChunkShape& chunk : chunks) {
    per_period_ += chunk.tokens;  // a period of chunks fills as many blocks as each has tokens
  }
}

std::int64_t BlockDemand::at(std::int64_t ahead) const {
  const Divisor& block_size = decodes_.block_size();
  std::int64_t blocks = decodes_.blocks_needed_at(ahead);
  for (const ChunkShape& chunk : chunks_) {
    const std::int64_t past = chunk.past + ahead * chunk.tokens;
    blocks += block_size.ceiling(past + chunk.tokens) - block_size.ceiling(past);
  }
  return blocks;
}

std::int64_t BlockDemand::between(std::int64_t ahead, std::int64_t end) const {
  const std::int64_t periods = decodes_.block_size().quotient(end - ahead);
  std::int64_t blocks = periods * per_period_;
  for (std::int64_t step = ahead + periods * period(); step < end; ++step) {
    blocks += at(step);
  }
  return blocks;
}

std::int64_t BlockDemand::steps_within(std::int64_t free, std::int64_t ahead, std::int64_t most) const {
  if ((decodes_.block_size().quotient(most) + 1) * per_period_ <= free) {
    return most;
  }
  const std::int64_t periods = free / per_period_;
  std::int64_t steps = periods * period();
  std::int64_t left = free - periods * per_period_;
  for (; steps < most && at(ahead + steps) <= left; ++steps) {
    left -= at(ahead + steps);
  }
  return std::min(steps, most);
}

}  // namespace inferometer
