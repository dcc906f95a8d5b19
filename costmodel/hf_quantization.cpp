#include "costmodel/hf_quantization.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace inferometer {
namespace {

using Json = nlohmann::json;

// What gpt-oss keeps its experts in; attention, routers and tables stay as they are.
constexpr std::string_view kExpertFormat = "mxfp4_weights";
constexpr std::int64_t kBlock = 128;  // both sides of a block, and a group: the only ones we price

/// The value of a key of a nested object; a null or missing one reads as null.
const Json& inside(const Json& object, const char* key) {
  static const Json nothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// What a number that is not priced looks like in a message.
std::string shown(const Json& value) {
  return value.is_structured() ? "[...]" : value.dump(-1, ' ', true).substr(0, 40);
}

class QuantizationReader {
 public:
  QuantizationReader(ConfigFields& fields, const char* key) : fields_(fields), key_(key) {}

  /// The format of quantised matrices; nothing after a mistake.
  std::optional<std::string> format(const Json& config) {
    const std::string method = text_of(inside(config, "quant_method"));
    if (method == "fp8" || method == "fbgemm_fp8") {
      return of_fp8(config);
    }
    if (method == "mxfp4") {
      return std::string(kExpertFormat);
    }
    if (method == "awq" || method == "gptq") {
      return of_groups(inside(config, "bits"), inside(config, "group_size"));
    }
    if (method == "compressed-tensors") {
      return of_compressed_tensors(config);
    }
    if (method == "modelopt" || method == "modelopt_fp4") {
      return of_modelopt(config);
    }
    return refuse("quant_method " + shown(inside(config, "quant_method")) +
                  " is not priced; allowed are fp8, mxfp4, awq, gptq, compressed-tensors or modelopt");
  }

 private:
  std::nullopt_t refuse(const std::string& message) {
    fields_.fail(key_, std::string(key_) + ": " + message);
    return std::nullopt;
  }

  std::optional<std::string> of_fp8(const Json& config) {
    const Json& block = inside(config, "weight_block_size");
    if (block.is_null()) {
      return "fp8";
    }
    return block == Json::array({kBlock, kBlock})
               ? std::optional<std::string>("fp8_block")
               : refuse("weight_block_size is not priced; allowed is [128, 128]");
  }

  std::optional<std::string> of_groups(const Json& bits, const Json& group) {
    if (bits != 4 || group != kBlock) {
      return refuse(shown(bits) + " bits in groups of " + shown(group) +
                    " are not priced; allowed are 4 bits in groups of 128");
    }
    return "int4_weights";
  }

  std::optional<std::string> of_compressed_tensors(const Json& config) {
    const Json& groups = inside(config, "config_groups");
    if (!groups.is_object() || groups.size() != 1) {
      return refuse("config_groups is not one group of layers; several are not priced");
    }
    const Json& weights = inside(groups.front(), "weights");
    const Json& bits = inside(weights, "num_bits");
    const std::string type = text_of(inside(weights, "type"));
    if (bits == 8 && type == "float") {
      return text_of(inside(weights, "strategy")) == "block" ? "fp8_block" : "fp8";
    }
    if (bits == 4 && type == "float") {
      return "fp4_weights";
    }
    return of_groups(bits, inside(weights, "group_size"));
  }

  std::optional<std::string> of_modelopt(const Json& config) {
    const std::string algorithm = text_of(inside(config, "quant_algo"));
    if (algorithm == "FP8") {
      return "fp8";
    }
    if (algorithm == "NVFP4") {
      return "fp4_weights";
    }
    return refuse("quant_algo " + shown(inside(config, "quant_algo")) +
                  " is not priced; allowed are FP8 or NVFP4");
  }

  ConfigFields& fields_;
  const char* key_;
};

/// Scales of the KV cache in the checkpoint mean that engines keep it in 8 bit.
bool has_8_bit_cache(const Json& config) {
  return text_of(inside(config, "kv_cache_quant_algo")) == "FP8" ||
         inside(inside(config, "kv_cache_scheme"), "num_bits") == 8;
}

}  // namespace

void read_quantization(ConfigFields& fields, ModelSpec& model) {
  for (const char* key : {"quantization_config", "compression_config"}) {
    if (!fields.has(key) || fields.raw(key)->is_null()) {
      continue;
    }
    const Json& config = *fields.raw(key);
    if (!config.is_object()) {
      fields.fail(key, fields.shown(key) + " is not an object; leave the key out when nothing is quantised");
      return;
    }
    if (config.empty()) {
      continue;
    }
    const std::optional<std::string> format = QuantizationReader(fields, key).format(config);
    if (!format) {
      return;
    }
    const bool experts_alone = *format == kExpertFormat;
    if (experts_alone && !model.moe) {
      fields.fail(key, std::string(key) + ": mxfp4 is a format of experts, and this model has none");
      return;
    }
    if (!experts_alone) {
      model.weight_format = *format;
    }
    if (model.moe) {
      model.moe->format = *format;
    }
    if (has_8_bit_cache(config)) {
      model.kv_bytes = 1;
    }
  }
}

}  // namespace inferometer
