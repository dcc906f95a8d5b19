#pragma once

// Parts of the program that need what few machines have, CUDA or MPI: modules that it loads when they are
// needed.

#include <string>

namespace inferometer {

/// Where a module is looked for, and the words for it.
struct LoadableModule {
  const char* file;         ///< "inferometer_cuda.so"
  const char* variable;     ///< of the environment: its value, where there is one, is the file instead
  const char* name;         ///< "CUDA module"
  const char* absent;       ///< "this build has no CUDA, so it cannot run kernels"
  const char* how_to_have;  ///< "build where nvcc is found"
};

/// A function that a module exports. Loads the module, from the first of these:
///  1. the file named by the environment,
///  2. beside the running program (a build tree),
///  3. lib/inferometer under the prefix the program was installed to, wherever that was moved.
/// It stays loaded until the program ends: objects and exceptions that come from it have their code there.
/// Throws ConfigError where there is no module, it cannot be loaded, or it has no such function.
void* module_function(const LoadableModule& module, const std::string& symbol);

}  // namespace inferometer
