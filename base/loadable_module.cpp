#include "base/loadable_module.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <dlfcn.h>

#include "base/error.hpp"

namespace inferometer {
namespace {

// Local: the module has its own copies of our libraries, which must not mix with the program's. Deep: what it
// calls comes from its own libraries first, as SimGrid, which the program is linked to, has an MPI of its own
// under the same names. The address sanitizer refuses that; there MPI needs a program without SimGrid.
#ifdef __SANITIZE_ADDRESS__
constexpr int kHow = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kHow = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

std::vector<std::filesystem::path> usual_places(const std::string& file) {
  std::error_code unreadable;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  std::vector<std::filesystem::path> places;
  if (!unreadable) {
    const std::filesystem::path folder = program.parent_path();
    places.push_back(folder / file);
    places.push_back(folder.parent_path() / INFEROMETER_LIBRARY_DIR / "inferometer" / file);
  }
  return places;
}

std::filesystem::path path_of(const LoadableModule& module) {
  if (const char* chosen = std::getenv(module.variable); chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  std::string tried;
  for (const std::filesystem::path& place : usual_places(module.file)) {
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(place, unreadable)) {
      return place;
    }
    tried += (tried.empty() ? "" : " or ") + place.string();
  }
  throw ConfigError(Position{}, std::string(module.absent) + ": there is no " + tried + "; " +
                                    module.how_to_have + ", or set " + module.variable +
                                    " to the module's file");
}

}  // namespace

void* module_function(const LoadableModule& module, const std::string& symbol) {
  const std::filesystem::path path = path_of(module);
  void* const loaded = dlopen(path.c_str(), kHow);
  if (loaded == nullptr) {
    const char* const why = dlerror();
    throw ConfigError(Position{}, "the " + std::string(module.name) + " cannot be loaded: " +
                                      (why != nullptr ? std::string(why) : path.string()));
  }
  void* const function = dlsym(loaded, symbol.c_str());
  if (function == nullptr) {
    throw ConfigError(Position{},
                      path.string() + " is no " + module.name + " of inferometer: it has no " + symbol);
  }
  return function;
}

}  // namespace inferometer
