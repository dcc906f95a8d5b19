#pragma once

// Options whose value is one of a few words, and the number formats of a model, which several commands take.

#include <string>
#include <vector>

#include "costmodel/model_spec.hpp"
#include "hardware/gpu_spec.hpp"

namespace CLI {
class App;
}

namespace inferometer {

/// Throws ConfigError that says what is allowed, and the nearest, for a word that is not among them:
/// `--level "rofline" is not known; allowed: datasheet or roofline; did you mean "roofline"?`
void require_known(const std::string& option, const std::string& word, const std::vector<std::string>& known);

/// `--quantization` and `--kv-cache-dtype`.
struct NumberFormats {
  std::string quantization = "none";
  std::string kv_cache_dtype = "auto";

  void add_options(CLI::App& command);
  /// The model in these formats on a GPU. Throws ConfigError for unknown words.
  [[nodiscard]] ModelSpec apply(ModelSpec model, const GpuSpec& gpu) const;
};

}  // namespace inferometer
