#pragma once

// Policies and routers from outside the tree: what a shared object holds for `inferometer --plugin FILE` to
// take them from it. In one of its files, at namespace level:
//
//   void register_mine(inferometer::PluginHost& host) {
//     host.policies.add({.name = "mine", ...});
//   }
//   INFEROMETER_PLUGIN(register_mine)
//
// It links to `inferometer::plugin` of the installed package, and so has copies of its own of the functions
// that it calls. What crosses the boundary are objects, whose classes both sides must have compiled alike,
// and exceptions: ConfigError for what a user got wrong in a scenario. It stays loaded until the program
// ends. Simulations run side by side on several threads, each with a policy of its own: those must share
// nothing that changes.

#include "sim/router/router.hpp"
#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

/// Where a plugin leaves what it has: empty when it is called. The program takes it from there once it has
/// seen that it is complete and its names are free.
struct PluginHost {
  PolicyRegistry& policies;
  RouterRegistry& routers;
};

/// Rises with every change of PluginDescription and of what PluginHost is for.
inline constexpr int kPluginInterface = 1;

#define INFEROMETER_PLUGIN_QUOTED(words) #words
#define INFEROMETER_PLUGIN_TEXT(value) INFEROMETER_PLUGIN_QUOTED(value)

/// The standard library that this file is compiled with, as far as it decides how strings, vectors and
/// functions lie in memory.
#if defined(_LIBCPP_VERSION)
inline constexpr const char* kPluginStandardLibrary = "libc++ " INFEROMETER_PLUGIN_TEXT(
    _LIBCPP_VERSION) " with ABI " INFEROMETER_PLUGIN_TEXT(_LIBCPP_ABI_VERSION);
#elif defined(_GLIBCXX_DEBUG)
inline constexpr const char* kPluginStandardLibrary =
    "libstdc++ " INFEROMETER_PLUGIN_TEXT(_GLIBCXX_RELEASE) " in debug mode";
#else
inline constexpr const char* kPluginStandardLibrary = "libstdc++ " INFEROMETER_PLUGIN_TEXT(_GLIBCXX_RELEASE);
#endif

/// A digest of the sources that this library and what it builds on were compiled from.
const char* plugin_sources_digest();

/// What the program sees of a plugin before it calls it.
struct PluginDescription {
  int interface_number;  ///< stays first for good: where it is another, nothing behind it is looked at
  const char* standard_library;
  const char* sources_digest;
  /// May throw: the program says so and ends.
  void (*register_with)(PluginHost& host);
};

}  // namespace inferometer

/// The function by which the program finds `register_with`. Once a plugin, outside of any namespace.
#define INFEROMETER_PLUGIN(register_with)                                                   \
  extern "C" __attribute__((visibility("default"))) const ::inferometer::PluginDescription* \
  inferometer_plugin() {                                                                    \
    static const ::inferometer::PluginDescription description{                              \
        ::inferometer::kPluginInterface, ::inferometer::kPluginStandardLibrary,             \
        ::inferometer::plugin_sources_digest(), register_with};                             \
    return &description;                                                                    \
  }
