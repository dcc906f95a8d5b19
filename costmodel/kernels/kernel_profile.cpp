#include "costmodel/kernels/kernel_profile.hpp"

#include <algorithm>
#include <filesystem>

#include "base/data_path.hpp"
#include "base/error.hpp"

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

std::optional<KernelProfile> shipped_kernel_profile(const std::string& gpu, const std::string& library) {
  const auto file = kernel_profile_file(gpu, library);
  if (!file) {
    return std::nullopt;
  }
  KernelProfile profile = read_kernel_profile(*file);
  if (profile.gpu != gpu || profile.library != library) {
    throw ConfigError(Position{*file, 0, 0}, "this profile is of " + profile.library + " kernels on " +
                                                 profile.gpu + ", but lies where those of " + library +
                                                 " on " + gpu + " are looked for");
  }
  return profile;
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
