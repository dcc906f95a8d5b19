#include "costmodel/sliding_window.hpp"

#include <string>

namespace inferometer {
namespace {

/// sliding_window of MistralConfig, Qwen2Config and Qwen3Config in transformers when the key is absent.
constexpr std::int64_t kDefaultWindow = 4'096;
/// max_window_layers of Qwen2Config and Qwen3Config when the key is absent.
constexpr std::int64_t kDefaultFullLayers = 28;
constexpr std::int64_t kMaxLayers = 1'000'000;

std::optional<std::int64_t> window_length(ConfigFields& fields, std::int64_t max_window) {
  return fields.has("sliding_window") ? fields.count("sliding_window", max_window) : kDefaultWindow;
}

enum class LayerTypes { absent, all_full, all_sliding, refused };

LayerTypes read_layer_types(ConfigFields& fields, std::int64_t layers) {
  const nlohmann::json* list = fields.raw("layer_types");
  if (list == nullptr || list->is_null()) {
    return LayerTypes::absent;
  }
  const auto refuse = [&fields](const std::string& message) {
    fields.fail("layer_types", message);
    return LayerTypes::refused;
  };
  if (!list->is_array()) {
    return refuse(fields.shown("layer_types") + " is not a list");
  }
  if (layers > 0 && list->size() != static_cast<std::size_t>(layers)) {
    return refuse("layer_types names " + std::to_string(list->size()) + " layers, num_hidden_layers says " +
                  std::to_string(layers));
  }
  bool any_full = false;
  bool any_sliding = false;
  for (const nlohmann::json& type : *list) {
    const bool full = type == "full_attention";
    const bool sliding = type == "sliding_attention";
    if (!full && !sliding) {
      return refuse(
          "layer_types has something other than \"full_attention\" and \"sliding_attention\", which is not "
          "priced");
    }
    any_full = any_full || full;
    any_sliding = any_sliding || sliding;
  }
  if (any_full && any_sliding) {
    return refuse(
        "layer_types mixes full and sliding attention; windows that differ between layers are not priced");
  }
  return any_sliding ? LayerTypes::all_sliding : LayerTypes::all_full;
}

std::optional<std::int64_t> read_window_by_layer(ConfigFields& fields, std::int64_t layers,
                                                 std::int64_t max_window) {
  const LayerTypes types = read_layer_types(fields, layers);
  if (!fields.flag_or("use_sliding_window", false) || types == LayerTypes::refused) {
    if (types == LayerTypes::all_sliding) {
      fields.fail("layer_types", "layer_types says sliding_attention, but use_sliding_window is not true");
    }
    return std::nullopt;
  }
  const std::optional<std::int64_t> window = window_length(fields, max_window);
  if (!window || types == LayerTypes::all_full) {
    return std::nullopt;
  }
  if (types == LayerTypes::all_sliding) {
    return window;
  }
  // The layers below max_window_layers attend to everything, those above look back one window.
  const bool none_full = fields.has("max_window_layers") && !fields.says_something("max_window_layers");
  const std::int64_t full_layers =
      none_full ? 0 : fields.count("max_window_layers", kMaxLayers).value_or(kDefaultFullLayers);
  if (full_layers >= layers) {
    return std::nullopt;
  }
  if (full_layers > 0) {
    fields.fail(fields.has("max_window_layers") ? "max_window_layers" : "use_sliding_window",
                "layers from " + std::to_string(full_layers) + " on of " + std::to_string(layers) +
                    " have a sliding window; windows that differ between layers are not priced");
    return std::nullopt;
  }
  return window;
}

}  // namespace

std::optional<std::int64_t> read_sliding_window(ConfigFields& fields, WindowRule rule, std::int64_t layers,
                                                std::int64_t max_window) {
  switch (rule) {
    case WindowRule::never:
      if (fields.says_something("sliding_window")) {
        fields.fail("sliding_window", fields.shown("sliding_window") + ": this class has no sliding window");
      }
      break;
    case WindowRule::on_every_layer:
      return window_length(fields, max_window);
    case WindowRule::by_layer:
      return read_window_by_layer(fields, layers, max_window);
  }
  return std::nullopt;
}

}  // namespace inferometer
