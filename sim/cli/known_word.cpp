#include "sim/cli/known_word.hpp"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

std::vector<std::string> strings(std::span<const std::string_view> words) {
  return {words.begin(), words.end()};
}

}  // namespace

void require_known(const std::string& option, const std::string& word,
                   const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) == known.end()) {
    throw ConfigError(Position{}, option + " \"" + word + "\" is not known; allowed: " +
                                      join_alternatives(known) + did_you_mean(word, known));
  }
}

void NumberFormats::add_options(CLI::App& command) {
  command
      .add_option(
          "--quantization", quantization,
          "Number format of the layers' weights: " + join_alternatives(strings(weight_quantizations())) +
              " (none: as in the checkpoint); embeddings and lm_head stay as they are")
      ->capture_default_str();
  command
      .add_option("--kv-cache-dtype", kv_cache_dtype,
                  "Number format of the KV cache: " + join_alternatives(strings(kv_cache_dtypes())) +
                      " (auto: as in the checkpoint)")
      ->capture_default_str();
}

ModelSpec NumberFormats::apply(ModelSpec model, const GpuSpec& gpu) const {
  require_known("--quantization", quantization, strings(weight_quantizations()));
  require_known("--kv-cache-dtype", kv_cache_dtype, strings(kv_cache_dtypes()));
  return quantized(std::move(model), gpu, quantization, kv_cache_dtype);
}

}  // namespace inferometer
