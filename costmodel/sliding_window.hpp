#pragma once

// How a config.json says that attention looks back only so many tokens. Families differ in it more than in
// anything else. We price a window that holds on every layer, or none.

#include <cstdint>
#include <optional>

#include "costmodel/config_fields.hpp"

namespace inferometer {

enum class WindowRule {
  never,           ///< Llama: full attention; a window in the file is refused
  on_every_layer,  ///< Mistral: sliding_window, 4096 when absent, none when null
  by_layer,        ///< Qwen: use_sliding_window, sliding_window, max_window_layers, layer_types
};

/// The window in tokens, or nullopt for full attention. Notes what cannot be priced: a mixture over the
/// layers.
std::optional<std::int64_t> read_sliding_window(ConfigFields& fields, WindowRule rule, std::int64_t layers,
                                                std::int64_t max_window);

}  // namespace inferometer
