#include "sim/validation/known_names.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "costmodel/model_spec.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {
namespace {

using Words = std::vector<std::string>;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return low;
}

Words split(std::string_view text, std::string_view separators) {
  Words words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) {
      words.emplace_back(text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return words;
}

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Without owner or folders: "/models/meta-llama/Llama-3.1-8B/" -> "llama-3.1-8b".
std::string last_part(std::string_view id) {
  while (!id.empty() && id.back() == '/') {
    id.remove_suffix(1);
  }
  const std::size_t slash = id.rfind('/');
  return lower(slash == std::string_view::npos ? id : id.substr(slash + 1));
}

std::string squashed(const Words& words) {
  std::string all;
  for (const std::string& word : words) {
    std::copy_if(word.begin(), word.end(), std::back_inserter(all), [](char c) { return c != '.'; });
  }
  return all;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kQuantizedWords = {{
    {"fp8", "fp8"},
    {"w8a8", "fp8"},
    {"awq", "int4"},
    {"gptq", "int4"},
    {"int4", "int4"},
    {"w4a16", "int4"},
    {"4bit", "int4"},
    {"nvfp4", "nvfp4"},
    {"fp4", "nvfp4"},
    {"mxfp4", "mxfp4"},
    {"marlin", "int4"},
}};

// What a checkpoint's name may have in it without being another architecture.
bool is_neutral(const std::string& word) {
  static constexpr std::array<std::string_view, 20> kNeutral = {
      "instruct", "chat",    "hf",        "it",    "base",    "bf16",     "fp16",
      "meta",     "dynamic", "quantized", "kv",    "preview", "thinking", "block",
      "original", "release", "1m",        "model", "text",    "static"};
  return is_in(kNeutral, word) || std::any_of(kQuantizedWords.begin(), kQuantizedWords.end(),
                                              [&](const auto& pair) { return pair.first == word; });
}

// "2407", "0528", "v0.3": of a release.
bool is_release(const std::string& word) {
  const std::string digits = !word.empty() && word.front() == 'v' ? word.substr(1) : word;
  const bool is_number = !digits.empty() && std::all_of(digits.begin(), digits.end(),
                                                        [](char c) { return is_digit(c) || c == '.'; });
  return is_number && (word.front() == 'v' || digits.size() == 4);
}

// Other names of an architecture: config.json of both agree in every size that is priced.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSameArchitecture = {{
    {"llama-3.3-70b", "llama-3.1-70b"},
    {"deepseek-r1-distill-llama-70b", "llama-3.1-70b"},
    {"deepseek-r1-distill-llama-8b", "llama-3.1-8b"},
    {"mistral-nemo", "mistral-nemo-12b"},
    {"mistral-7b-v0.3", "mistral-7b"},
    {"llama-4-scout-17b-16e", "llama-4-scout"},
    {"llama-4-maverick-17b-128e", "llama-4-maverick"},
    {"qwq-32b", "qwen2.5-32b"},
}};

std::optional<std::string> model_of(const Words& words, const std::vector<std::string>& builtin) {
  const std::string wanted = squashed(words);
  const auto is_wanted = [&](std::string_view name) { return squashed(split(name, "-_")) == wanted; };
  for (const auto& [other, name] : kSameArchitecture) {
    if (is_wanted(other) && is_in(builtin, name)) {
      return std::string(name);
    }
  }
  const auto found = std::find_if(builtin.begin(), builtin.end(), is_wanted);
  return found == builtin.end() ? std::nullopt : std::optional(*found);
}

// The parts of a GPU's name that tell one from the other.
struct GpuName {
  Words family;        // h100, a100, l40s, mi300x
  std::string form;    // sxm, pcie, nvl
  std::string memory;  // 80gb
};

GpuName gpu_name(std::string_view text) {
  static constexpr std::array<std::string_view, 14> kNoise = {"nvidia", "amd",   "instinct", "gpu",   "gpus",
                                                              "tensor", "core",  "hbm2",     "hbm2e", "hbm3",
                                                              "hbm3e",  "tesla", "x",        "oam"};
  GpuName name;
  for (std::string word : split(lower(text), " -_/()")) {
    const std::size_t times = word.find('x');
    const bool is_count_before =
        times != std::string::npos && times > 0 && times + 1 < word.size() &&
        std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(times), is_digit);
    if (is_count_before) {
      word = word.substr(times + 1);  // "8xh100"
    }
    if (word.size() > 2 && word.compare(word.size() - 2, 2, "gb") == 0 && is_digit(word.front())) {
      name.memory = word;
    } else if (word.compare(0, 3, "sxm") == 0) {
      name.form = "sxm";
    } else if (word == "pcie" || word == "nvl") {
      name.form = word;
    } else if (!is_in(kNoise, word)) {
      name.family.push_back(word);
    }
  }
  return name;
}

}  // namespace

std::optional<std::string> known_model(std::string_view id) {
  const std::vector<std::string> builtin = builtin_model_names();
  Words words = split(last_part(id), "-_ ");
  if (words.empty()) {
    return std::nullopt;
  }
  if (std::optional<std::string> exact = model_of(words, builtin)) {
    return exact;
  }
  words.erase(std::remove_if(words.begin(), words.end(), is_neutral), words.end());
  while (!words.empty()) {
    if (std::optional<std::string> found = model_of(words, builtin)) {
      return found;
    }
    if (!is_release(words.back())) {
      break;
    }
    words.pop_back();
  }
  return std::nullopt;
}

std::optional<std::string> known_gpu(std::string_view text) {
  const GpuName wanted = gpu_name(text);
  if (wanted.family.empty()) {
    return std::nullopt;
  }
  std::optional<std::string> best;
  int best_rank = -1;
  for (const std::string& name : builtin_gpu_names()) {
    const GpuName offered = gpu_name(name);
    const auto fits = [](const std::string& asked, const std::string& has) {
      return asked.empty() || has.empty() || asked == has;
    };
    if (offered.family != wanted.family || !fits(wanted.form, offered.form) ||
        !fits(wanted.memory, offered.memory)) {
      continue;
    }
    const int rank = (offered.form == "sxm" ? 2 : 0) + (offered.memory == "80gb" ? 1 : 0);
    if (rank > best_rank) {
      best = name;
      best_rank = rank;
    }
  }
  return best;
}

std::optional<std::string> quantization_in_name(std::string_view id) {
  // The checkpoints of these two owners that end in -FP8 are scaled in blocks of 128 x 128.
  const std::string all = lower(id);
  const bool is_in_blocks = all.compare(0, 5, "qwen/") == 0 || all.compare(0, 12, "deepseek-ai/") == 0;
  for (const std::string& word : split(last_part(id), "-_ ")) {
    for (const auto& [name, quantization] : kQuantizedWords) {
      if (word == name) {
        return quantization == "fp8" && is_in_blocks ? "fp8_block" : std::string(quantization);
      }
    }
  }
  return std::nullopt;
}

std::string quantization_of(std::string_view precision) {
  static constexpr std::array<std::string_view, 8> kUnquantized = {"",        "bf16", "bfloat16", "fp16",
                                                                   "float16", "half", "auto",     "none"};
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOthers = {{
      {"fp8_static", "fp8"},
      {"fp8_ootb", "fp8"},
      {"w8a8_fp8", "fp8"},
      {"int4_wo", "int4"},
      {"w4a16", "int4"},
      {"int4_awq", "int4"},
      {"awq", "int4"},
      {"gptq", "int4"},
      {"fp4", "nvfp4"},
      {"w4a16_mxfp4", "mxfp4"},
      {"w4a8_mxfp4_mxfp8", "mxfp4"},
      {"fp8-block", "fp8_block"},
  }};
  const std::string word = lower(precision);
  if (is_in(kUnquantized, word)) {
    return "none";
  }
  for (const auto& [other, ours] : kOthers) {
    if (word == other) {
      return std::string(ours);
    }
  }
  return word;
}

}  // namespace inferometer
