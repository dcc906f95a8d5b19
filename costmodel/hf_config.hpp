#pragma once

// Reads the config.json of a Hugging Face checkpoint. What a key means and what holds when it is absent
// follows the configuration classes of transformers; what we cannot price is refused, never approximated.

#include <string>
#include <string_view>

#include "costmodel/model_spec.hpp"

namespace inferometer {

/// Largest config.json we read. Real ones have a few kilobytes.
inline constexpr std::size_t kMaxConfigBytes = std::size_t{4} << 20;

/// Reads the text of a config.json; `file` stands for it in messages and becomes the model's name. Required
/// keys: architectures, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, vocab_size,
/// max_position_embeddings. Weights and KV cache take the width of dtype (or torch_dtype); bf16 when absent,
/// which is what serving engines load such a checkpoint as. Throws ConfigError with all mistakes of the text,
/// each with line and column. O(text).
ModelSpec parse_hf_config(std::string_view text, const std::string& file);

/// The same for a file. Throws ConfigError also for one that is missing, unreadable, not a regular file or
/// over kMaxConfigBytes.
ModelSpec read_hf_config_file(const std::string& path);

}  // namespace inferometer
