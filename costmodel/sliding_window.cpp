#include "costmodel/sliding_window.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.hpp"

namespace inferometer {
namespace {

/// sliding_window of MistralConfig, Qwen2Config and Qwen3Config in transformers when the key is absent.
constexpr std::int64_t kDefaultWindow = 4'096;
/// sliding_window of GptOssConfig when the key is absent.
constexpr std::int64_t kGptOssWindow = 128;
/// max_window_layers of Qwen2Config and Qwen3Config when the key is absent.
constexpr std::int64_t kDefaultFullLayers = 28;
constexpr std::int64_t kMaxLayers = 1'000'000;

std::optional<std::int64_t> window_length(ConfigFields& fields, std::int64_t when_absent,
                                          std::int64_t max_window) {
  return fields.has("sliding_window") ? fields.count("sliding_window", max_window) : when_absent;
}

/// Numbers of the layers that layer_types calls full_attention; nothing when the key is absent or wrong.
std::optional<std::vector<std::int64_t>> full_by_type(ConfigFields& fields, std::string_view other_type,
                                                      std::int64_t layers) {
  const nlohmann::json* list = fields.raw("layer_types");
  if (list == nullptr || list->is_null()) {
    return std::nullopt;
  }
  if (!list->is_array()) {
    fields.fail("layer_types", fields.shown("layer_types") + " is not a list");
    return std::nullopt;
  }
  if (layers > 0 && list->size() != static_cast<std::size_t>(layers)) {
    fields.fail("layer_types", "layer_types names " + std::to_string(list->size()) +
                                   " layers, num_hidden_layers says " + std::to_string(layers));
    return std::nullopt;
  }
  std::vector<std::int64_t> full;
  for (const nlohmann::json& type : *list) {
    if (type == "full_attention") {
      full.push_back(static_cast<std::int64_t>(&type - &list->front()));
    } else if (type != other_type) {
      fields.fail("layer_types", "layer_types has something other than \"full_attention\" and \"" +
                                     std::string(other_type) + "\", which is not priced");
      return std::nullopt;
    }
  }
  return full;
}

/// A window on all layers but some; none when it is on no layer.
LayerWindows windows(std::optional<std::int64_t> window, std::vector<std::int64_t> full,
                     std::int64_t layers) {
  if (!window || static_cast<std::int64_t>(full.size()) >= layers) {
    return {};
  }
  return {window, std::move(full)};
}

/// Every layer whose number leaves this remainder.
std::vector<std::int64_t> every(std::int64_t step, std::int64_t remainder, std::int64_t layers) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = remainder; number < layers; number += step) {
    numbers.push_back(number);
  }
  return numbers;
}

LayerWindows read_window_by_layer(ConfigFields& fields, std::int64_t layers, std::int64_t max_window) {
  const bool has_types = fields.says_something("layer_types");
  auto full = full_by_type(fields, "sliding_attention", layers);
  if (!fields.flag_or("use_sliding_window", false)) {
    if (full && static_cast<std::int64_t>(full->size()) < layers) {
      fields.fail("layer_types", "layer_types says sliding_attention, but use_sliding_window is not true");
    }
    return {};
  }
  const std::optional<std::int64_t> window = window_length(fields, kDefaultWindow, max_window);
  if (has_types) {
    return windows(window, full.value_or(std::vector<std::int64_t>{}), layers);
  }
  // The layers below max_window_layers attend to everything, those above look back one window.
  const std::int64_t when_absent = fields.has("max_window_layers") ? 0 : kDefaultFullLayers;  // or null
  const std::int64_t full_layers =
      fields.count_or_none("max_window_layers", kMaxLayers).value_or(when_absent);
  return windows(window, every(1, 0, std::min(full_layers, layers)), layers);
}

/// What a token of a chunk of C sees on average: (C + 1) / 2 tokens, itself included.
std::optional<std::int64_t> mean_window(std::optional<std::int64_t> chunk) {
  return chunk ? std::optional<std::int64_t>((*chunk + 1) / 2) : std::nullopt;
}

}  // namespace

LayerWindows read_sliding_window(ConfigFields& fields, WindowRule rule, std::int64_t layers,
                                 std::int64_t max_window) {
  switch (rule) {
    case WindowRule::never:
      if (fields.says_something("sliding_window")) {
        fields.fail("sliding_window", fields.shown("sliding_window") + ": this class has no sliding window");
      }
      return {};
    case WindowRule::on_every_layer:
      return windows(window_length(fields, kDefaultWindow, max_window), {}, layers);
    case WindowRule::if_given:
      return windows(fields.count("sliding_window", max_window), {}, layers);
    case WindowRule::by_layer:
      return read_window_by_layer(fields, layers, max_window);
    case WindowRule::alternating:
      return windows(window_length(fields, kGptOssWindow, max_window),
                     full_by_type(fields, "sliding_attention", layers).value_or(every(2, 1, layers)), layers);
    case WindowRule::chunks:
      return windows(mean_window(fields.count("attention_chunk_size", max_window)),
                     full_by_type(fields, "chunked_attention", layers).value_or(every(4, 3, layers)), layers);
  }
  check_failed("rule", __FILE__, __LINE__, "unknown rule of windows");
}

}  // namespace inferometer
