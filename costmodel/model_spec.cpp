#include "costmodel/model_spec.hpp"

#include <algorithm>
#include <filesystem>

#include "base/data_path.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "costmodel/hf_config.hpp"
#include "costmodel/weight_count.hpp"

namespace inferometer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelFolder = "costmodel/models";
constexpr const char* kConfigFile = "config.json";

constexpr std::string_view kWeightQuantizations[] = {"none", "fp8", "fp8_block", "int4", "mxfp4", "nvfp4"};
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

/// The format of kernels (costmodel/kernels/kernel_work.hpp) that a word for weights asks for. No GPU
/// description has a peak of an fp4 unit: 4 bit formats are of weights only.
std::string_view format_of(std::string_view weights) {
  if (weights == "int4") {
    return "int4_weights";
  }
  if (weights == "mxfp4") {
    return "mxfp4_weights";
  }
  return weights == "nvfp4" ? "fp4_weights" : weights;
}

/// What the GPU makes of a format: without an fp8 unit, weights of one byte are a format of weights only.
std::string runnable(const std::string& format, const GpuSpec& gpu) {
  return format.starts_with("fp8") && !gpu.fp8_peak ? "int8_weights" : format;
}

}  // namespace

std::int64_t ModelSpec::vocabulary_tables() const {
  if (has_embedding && has_head) {
    return tied_embeddings ? 1 : 2;
  }
  return has_embedding || has_head ? 1 : 0;
}

std::int64_t ModelSpec::moe_layers() const {
  return moe ? layers - static_cast<std::int64_t>(moe->dense_layers.size()) : 0;
}

std::int64_t ModelSpec::windowed_layers() const {
  return sliding_window ? layers - static_cast<std::int64_t>(full_layers.size()) : 0;
}

std::int64_t ModelSpec::parameters() const {
  const WeightCount count = count_layer_weights(*this, {});
  const std::int64_t final_norm = has_head ? hidden : 0;
  return count.matrices + count.expert_matrices + count.routers + count.vectors + joined_projection() +
         final_norm + vocabulary_tables() * vocab * hidden;
}

std::int64_t ModelSpec::active_parameters() const {
  const WeightCount count = count_layer_weights(*this, {});
  const std::int64_t routed = moe ? count.expert_matrices / moe->experts * moe->experts_per_token : 0;
  return count.matrices + routed + count.routers + joined_projection() + (has_head ? vocab * hidden : 0);
}

Bytes ModelSpec::kv_bytes_per_token(std::int64_t tensor_parallel) const {
  if (latent) {
    return Bytes(layers * (latent->kv_rank + latent->rope_dim) * kv_bytes);
  }
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
  const std::string_view format = format_of(weights);
  const bool experts_alone = weights == "mxfp4" && model.moe;
  if (weights != "none") {
    if (!experts_alone) {
      model.weight_format = format;
    }
    if (model.moe) {
      model.moe->format = format;
    }
  }
  model.weight_format = runnable(model.weight_format, gpu);
  if (model.moe) {
    model.moe->format = runnable(model.moe->format, gpu);
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
