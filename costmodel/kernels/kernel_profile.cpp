#include "costmodel/kernels/kernel_profile.hpp"

#include <algorithm>
#include <filesystem>

#include "base/data_path.hpp"

namespace inferometer {
namespace {

namespace fs = std::filesystem;
constexpr const char* kFolder = "hardware/profiles";

}  // namespace

const KernelFit* find_fit(const KernelProfile& profile, KernelFamily family, std::string_view variant) {
  const auto found = std::find_if(profile.fits.begin(), profile.fits.end(), [&](const KernelFit& fit) {
    return fit.family == family && fit.variant == variant;
  });
  return found == profile.fits.end() ? nullptr : &*found;
}

std::optional<std::string> kernel_profile_file(const std::string& gpu, const std::string& library) {
  const std::vector<std::string> libraries = kernel_profile_libraries(gpu);
  if (std::find(libraries.begin(), libraries.end(), library) == libraries.end()) {
    return std::nullopt;
  }
  return (data_directory(kFolder) / gpu / (library + ".json")).string();
}

std::vector<std::string> kernel_profile_libraries(const std::string& gpu) {
  std::vector<std::string> libraries;
  // A GPU that the user describes is named by its file's path, which is no name of a folder of ours.
  const fs::path folder = data_directory(kFolder) / gpu;
  if (gpu.find('/') == std::string::npos && fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") {
        libraries.push_back(entry.path().stem().string());
      }
    }
  }
  std::sort(libraries.begin(), libraries.end());
  return libraries;
}

}  // namespace inferometer
