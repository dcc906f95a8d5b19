#pragma once

// How a config.json says that attention looks back only so many tokens, and on which layers. Families differ
// in it more than in anything else.

#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/config_fields.hpp"

namespace inferometer {

enum class WindowRule {
  never,           ///< Llama: full attention; a window in the file is refused
  on_every_layer,  ///< Mistral: sliding_window, 4096 when absent, none when null
  if_given,        ///< Mixtral: sliding_window on every layer, none when absent or null
  by_layer,        ///< Qwen: use_sliding_window, sliding_window, max_window_layers, layer_types
  alternating,     ///< gpt-oss: sliding_window, 128 when absent; layer_types, every other layer when absent
  /// Llama 4: attention within chunks of attention_chunk_size; layer_types, all but every fourth layer when
  /// absent. A token sees its chunk up to itself, half of it on average: taken as a window of half a chunk.
  chunks,
};

/// Which layers look back how far.
struct LayerWindows {
  std::optional<std::int64_t> window;       ///< in tokens; nullopt: full attention on all layers
  std::vector<std::int64_t> full_layers{};  ///< numbers of layers with full attention all the same; sorted
};

/// Notes what cannot be priced.
LayerWindows read_sliding_window(ConfigFields& fields, WindowRule rule, std::int64_t layers,
                                 std::int64_t max_window);

}  // namespace inferometer
