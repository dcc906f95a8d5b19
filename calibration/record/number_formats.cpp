#include "calibration/record/number_formats.hpp"

#include <span>

namespace inferometer {
namespace {

struct WeightFormatName {
  std::string_view name;
  std::string_view variant;
};

// Names of aiconfigurator's quantisation modes. No variant of ours has 4-bit integer weights under fp8
// activations.
constexpr WeightFormatName kWeightFormats[] = {
    {"bfloat16", "bf16"},
    {"float16", "bf16"},
    {"fp8", "fp8"},
    {"fp8_static", "fp8"},
    {"fp8_ootb", "fp8"},
    {"fp8_block", "fp8_block"},
    {"sq", "int8"},
    {"int8_wo", "int8_weights"},
    {"int4_wo", "int4_weights"},
    {"nvfp4", "fp4"},
    {"w4a16_mxfp4", "mxfp4_weights"},
    {"w4a8_mxfp4_mxfp8", "mxfp4"},
    {"w4a8_mxfp4_fp8", "mxfp4"},
    {"w4afp8", ""},
};

struct AttentionFormatName {
  std::string_view computed;
  std::string_view cached;
  std::string_view variant;
};

constexpr AttentionFormatName kAttentionFormats[] = {
    {"bfloat16", "bfloat16", "bf16"}, {"float16", "float16", "bf16"}, {"bfloat16", "fp8", "fp8_kv"},
    {"float16", "fp8", "fp8_kv"},     {"fp8", "fp8", "fp8"},
};

constexpr AttentionFormatName kMlaFormats[] = {
    {"bfloat16", "bfloat16", "bf16"}, {"float16", "float16", "bf16"}, {"bfloat16", "fp8", "fp8_kv"}};

std::optional<std::string_view> variant_of(std::span<const AttentionFormatName> formats,
                                           std::string_view computed, std::string_view cached) {
  for (const AttentionFormatName& known : formats) {
    if (known.computed == computed && known.cached == cached) {
      return known.variant;
    }
  }
  return std::nullopt;
}

std::vector<std::string> names_of(std::span<const AttentionFormatName> formats) {
  std::vector<std::string> names;
  for (const AttentionFormatName& known : formats) {
    names.push_back(std::string(known.computed) + " over " + std::string(known.cached));
  }
  return names;
}

struct ElementFormatName {
  std::string_view name;
  double bytes;
};

constexpr ElementFormatName kElementFormats[] = {{"half", 2}, {"float16", 2}, {"bfloat16", 2}, {"int8", 1},
                                                 {"fp8", 1},  {"float", 4},   {"float32", 4}};

}  // namespace

std::optional<std::string_view> weight_variant(std::string_view format) {
  for (const WeightFormatName& known : kWeightFormats) {
    if (known.name == format) {
      return known.variant;
    }
  }
  return std::nullopt;
}

std::vector<std::string> weight_formats() {
  std::vector<std::string> names;
  for (const WeightFormatName& known : kWeightFormats) {
    names.emplace_back(known.name);
  }
  return names;
}

std::optional<std::string_view> attention_variant(std::string_view computed, std::string_view cached) {
  return variant_of(kAttentionFormats, computed, cached);
}

std::vector<std::string> attention_formats() {
  return names_of(kAttentionFormats);
}

std::optional<std::string_view> mla_variant(std::string_view computed, std::string_view cached) {
  return variant_of(kMlaFormats, computed, cached);
}

std::vector<std::string> mla_formats() {
  return names_of(kMlaFormats);
}

std::optional<double> element_bytes(std::string_view format) {
  for (const ElementFormatName& known : kElementFormats) {
    if (known.name == format) {
      return known.bytes;
    }
  }
  return std::nullopt;
}

std::vector<std::string> element_formats() {
  std::vector<std::string> names;
  for (const ElementFormatName& known : kElementFormats) {
    names.emplace_back(known.name);
  }
  return names;
}

}  // namespace inferometer
