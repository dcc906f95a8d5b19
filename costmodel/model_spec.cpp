#include "costmodel/model_spec.hpp"

#include <algorithm>
#include <filesystem>

#include "base/data_path.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "costmodel/hf_config.hpp"

namespace inferometer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelFolder = "costmodel/models";
constexpr const char* kConfigFile = "config.json";

constexpr std::string_view kWeightQuantizations[] = {"none", "fp8", "fp8_block", "int4"};
constexpr std::string_view kKvCacheDtypes[] = {"auto", "fp8"};

bool looks_like_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json") || text == "." || text == "..";
}

/// "meta-llama/Llama-3.1-8B-Instruct": one '/', an owner before it, and no ending of a file.
bool looks_like_hub_name(const std::string& text) {
  const std::size_t slash = text.find('/');
  return slash != std::string::npos && slash > 0 && text[0] != '.' && slash == text.rfind('/') &&
         slash + 1 < text.size() && !text.ends_with(".json");
}

/// `; did you mean the built-in "llama-3.1-8b"?`: the longest built-in name inside a name of the hub.
std::string builtin_inside(std::string text, const std::vector<std::string>& known) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string longest;
  for (const std::string& name : known) {
    if (name.size() > longest.size() && text.find(name) != std::string::npos) {
      longest = name;
    }
  }
  return longest.empty() ? "" : "; did you mean the built-in \"" + longest + "\"?";
}

std::string config_path(const std::string& file_or_directory) {
  std::error_code unreadable;
  if (!fs::is_directory(file_or_directory, unreadable)) {
    return file_or_directory;
  }
  const fs::path inside = fs::path(file_or_directory) / kConfigFile;
  if (!fs::exists(inside, unreadable)) {
    throw ConfigError(Position{file_or_directory}, "the directory has no config.json");
  }
  return inside.string();
}

}  // namespace

std::int64_t ModelSpec::vocabulary_tables() const {
  if (has_embedding && has_head) {
    return tied_embeddings ? 1 : 2;
  }
  return has_embedding || has_head ? 1 : 0;
}

std::int64_t ModelSpec::parameters() const {
  const std::int64_t query_width = heads * head_dim;
  const std::int64_t qkv_width = query_width + 2 * kv_heads * head_dim;
  std::int64_t layer = hidden * qkv_width + query_width * hidden + 3 * hidden * ffn + 2 * hidden;
  if (qk_norm) {
    layer += 2 * head_dim;
  }
  if (attention_bias) {
    layer += qkv_width;
  }
  if (output_bias) {
    layer += hidden;
  }
  const std::int64_t final_norm = has_head ? hidden : 0;
  return layers * layer + joined_projection() + final_norm + vocabulary_tables() * vocab * hidden;
}

std::int64_t ModelSpec::matmul_parameters() const {
  const std::int64_t attention = hidden * (heads + 2 * kv_heads) * head_dim + heads * head_dim * hidden;
  return layers * (attention + 3 * hidden * ffn) + joined_projection() + (has_head ? vocab * hidden : 0);
}

Bytes ModelSpec::kv_bytes_per_token(std::int64_t tensor_parallel) const {
  return Bytes(2 * layers * ceil_div(kv_heads, tensor_parallel) * head_dim * kv_bytes);
}

std::span<const std::string_view> weight_quantizations() {
  return kWeightQuantizations;
}

std::span<const std::string_view> kv_cache_dtypes() {
  return kKvCacheDtypes;
}

ModelSpec quantized(ModelSpec model, const GpuSpec& gpu, std::string_view weights,
                    std::string_view kv_cache) {
  if (weights == "int4") {
    model.weight_format = "int4_weights";
  } else if (weights != "none") {
    model.weight_format = gpu.fp8_peak ? std::string(weights) : "int8_weights";
  }
  if (kv_cache == "fp8") {
    model.kv_bytes = 1;
  }
  return model;
}

std::vector<std::string> builtin_model_names() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_directory(kModelFolder))) {
    if (fs::exists(entry.path() / kConfigFile)) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

ModelSpec load_model(const std::string& name_or_path) {
  const std::vector<std::string> known = builtin_model_names();
  std::string path;
  if (std::find(known.begin(), known.end(), name_or_path) != known.end()) {
    path = (data_directory(kModelFolder) / name_or_path / kConfigFile).string();
  } else {
    std::error_code unreadable;
    if (!looks_like_path(name_or_path) && !fs::is_directory(name_or_path, unreadable)) {
      throw ConfigError(Position{}, "unknown model \"" + name_or_path + "\"" +
                                        did_you_mean(name_or_path, known) +
                                        " (built in: " + join_alternatives(known) +
                                        "; or a path to a config.json or to its directory)");
    }
    if (looks_like_hub_name(name_or_path) && !fs::exists(name_or_path, unreadable)) {
      throw ConfigError(Position{name_or_path},
                        "no such file, and nothing is fetched from Hugging Face by name" +
                            builtin_inside(name_or_path, known) +
                            " (else give the path to the model's config.json)");
    }
    path = config_path(name_or_path);
  }
  ModelSpec model = read_hf_config_file(path);
  model.name = name_or_path;
  return model;
}

}  // namespace inferometer
