#pragma once

// What we know about one GPU's kernels in one library: fits by family and number format. Files:
// hardware/profiles/<gpu>/<library>.json, written by `inferometer calibrate fit`. Who uses it: the calibrated
// cost level, `inferometer calibrate`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/kernels/kernel_fit.hpp"

namespace inferometer {

/// A set of measurements that went into a profile.
struct ProfileSource {
  std::string library;  ///< "vllm 0.24.0"
  std::string source;   ///< who published it: "ai-dynamo/aiconfigurator@095f58a5"
  std::string notice;   ///< licence of the measurements and whose they are
};

struct KernelProfile {
  std::string gpu;      ///< "h100-sxm"
  std::string library;  ///< "vllm"
  std::string date;     ///< ISO, of the fit
  std::vector<ProfileSource> sources;
  std::vector<KernelFit> fits;
};

/// nullptr when the profile has none.
const KernelFit* find_fit(const KernelProfile& profile, KernelFamily family, std::string_view variant);

/// Throws ConfigError: unreadable, no JSON, a member missing or of the wrong kind, trees that are none.
/// O(bytes).
KernelProfile read_kernel_profile(const std::string& path);

/// The same for a text; `file` names it in errors.
KernelProfile parse_kernel_profile(std::string_view text, const std::string& file);

/// Whether a file says in its first bytes that it is a profile; false for one that cannot be read.
bool is_kernel_profile(const std::string& path);

/// The profile's text, the same bytes for the same profile.
std::string to_json(const KernelProfile& profile);

/// Path of the shipped profile; nothing where none is shipped for that GPU and library.
std::optional<std::string> kernel_profile_file(const std::string& gpu, const std::string& library);

/// That profile; nothing where none is shipped. Throws ConfigError as read_kernel_profile() does, and for one
/// that says it is of another GPU or library.
std::optional<KernelProfile> shipped_kernel_profile(const std::string& gpu, const std::string& library);

/// Libraries whose profile is shipped for a GPU, sorted.
std::vector<std::string> kernel_profile_libraries(const std::string& gpu);

}  // namespace inferometer
