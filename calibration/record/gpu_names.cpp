#include "calibration/record/gpu_names.hpp"

#include <algorithm>
#include <utility>

namespace inferometer {
namespace {

/// Names of folders in published collections: aiconfigurator's systems and Vidur's devices and nodes.
constexpr std::pair<std::string_view, std::string_view> kFolders[] = {
    {"a100-sxm", "a100-80gb-sxm"}, {"a100-dgx", "a100-80gb-sxm"}, {"a100", "a100-80gb-sxm"},
    {"h100-dgx", "h100-sxm"},      {"h100", "h100-sxm"},          {"h200", "h200-sxm"},
    {"b200", "b200-sxm"},
};

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() || text[word.size()] == '-' || text[word.size()] == '.');
}

/// "A100_DGX" -> "a100-dgx"
std::string folder_form(std::string_view part) {
  std::string form(part);
  for (char& c : form) {
    if (c == '_') {
      c = '-';
    } else if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return form;
}

}  // namespace

GpuNames::GpuNames() {
  for (const std::string& name : builtin_gpu_names()) {
    gpus_.push_back(load_gpu(name));
  }
}

std::optional<std::string> GpuNames::of_device(std::string_view device) const {
  for (const GpuSpec& gpu : gpus_) {
    if (std::find(gpu.device_names.begin(), gpu.device_names.end(), device) != gpu.device_names.end()) {
      return gpu.name;
    }
  }
  return std::nullopt;
}

std::optional<std::string> GpuNames::of_path(std::string_view path) const {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::string part = folder_form(path.substr(slash == std::string_view::npos ? 0 : slash + 1));
    std::string_view longest;
    std::string gpu_name;
    const auto try_word = [&](std::string_view word, std::string_view gpu) {
      if (word.size() > longest.size() && begins_with_word(part, word)) {
        longest = word;
        gpu_name = gpu;
      }
    };
    for (const GpuSpec& gpu : gpus_) {
      try_word(gpu.name, gpu.name);
    }
    for (const auto& [folder, gpu] : kFolders) {
      try_word(folder, gpu);
    }
    if (!gpu_name.empty()) {
      return gpu_name;
    }
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  return std::nullopt;
}

const GpuSpec* GpuNames::find(std::string_view name) const {
  for (const GpuSpec& gpu : gpus_) {
    if (gpu.name == name) {
      return &gpu;
    }
  }
  return nullptr;
}

std::vector<std::string> GpuNames::names() const {
  std::vector<std::string> names;
  for (const GpuSpec& gpu : gpus_) {
    names.push_back(gpu.name);
  }
  return names;
}

}  // namespace inferometer
