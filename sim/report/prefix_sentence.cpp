#include "sim/report/prefix_sentence.hpp"

#include <fmt/format.h>

#include "sim/report/text_layout.hpp"

namespace inferometer {

std::string prefix_sentence(const PrefixSummary& prefixes) {
  const std::int64_t found = prefixes.cached.total();
  std::string text = fmt::format("{} % of prompt tokens found", short_number(100 * prefixes.hit_rate));
  if (prefixes.cached.session > 0) {
    const double share = static_cast<double>(prefixes.cached.session) / static_cast<double>(found);
    text += fmt::format(", {} % left by their own session", short_number(100 * prefixes.hit_rate * share));
  }
  if (prefixes.mean_ttft_ms_hit && prefixes.mean_ttft_ms_miss) {
    text += fmt::format("; mean TTFT {} ms with a hit, {} ms without",
                        short_number(*prefixes.mean_ttft_ms_hit), short_number(*prefixes.mean_ttft_ms_miss));
  }
  return text;
}

std::string capacity_condition(const StabilityReport& stability) {
  return stability.is_without_caches ? ", if no prompt were found in a cache" : "";
}

}  // namespace inferometer
