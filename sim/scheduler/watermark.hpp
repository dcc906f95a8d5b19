#pragma once

#include <cstdint>
#include <string>

#include "base/config/table.hpp"

namespace inferometer {

/// Adds the engine key `watermark`: blocks that admission leaves free, as a share of all, for running
/// sequences to grow into. `share` is the default, as a user would write it.
void add_watermark_key(Table& table, const std::string& share, const std::string& sentence);

/// Blocks that the key `watermark` keeps back of so many usable ones, rounded down as vLLM does.
std::int64_t watermark_blocks(const Values& engine, std::int64_t total_blocks);

}  // namespace inferometer
