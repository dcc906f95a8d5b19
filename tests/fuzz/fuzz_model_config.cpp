// Any bytes as a config.json: either a ConfigError that says something, or a model whose sizes make sense.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "costmodel/hf_config.hpp"

namespace {

void expect(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const inferometer::ModelSpec model = inferometer::parse_hf_config(text, "config.json");
    expect(model.heads % model.kv_heads == 0);
    expect(model.active_parameters() > 0);
    expect(model.parameters() >= model.vocab * model.hidden);
    expect(model.kv_bytes_per_token().count() >= 2 * model.layers * model.kv_bytes);
    expect(!model.sliding_window || *model.sliding_window > 0);
  } catch (const inferometer::ConfigError& error) {
    expect(!error.diagnostics().empty());
    for (const inferometer::Diagnostic& mistake : error.diagnostics()) {
      expect(!mistake.message.empty());
    }
  }
  return 0;
}
