#include "sim/scheduler/watermark.hpp"

namespace inferometer {

void add_watermark_key(Table& table, const std::string& share, const std::string& sentence) {
  table.add("watermark", ValueType::number, sentence).by_default(share).range("0", "0.5");
}

std::int64_t watermark_blocks(const Values& engine, std::int64_t total_blocks) {
  return static_cast<std::int64_t>(engine.number("watermark") * static_cast<double>(total_blocks));
}

}  // namespace inferometer
