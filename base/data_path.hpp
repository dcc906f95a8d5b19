#pragma once

#include <filesystem>
#include <string_view>

namespace inferometer {

/// Folder with shipped data, e.g. data_directory("hardware/gpus"); `folder` is relative to the repository.
/// Taken from the first of these that has it:
///  1. $INFEROMETER_DATA_DIR,
///  2. the source tree this library was built from,
///  3. share/inferometer under the prefix it was installed to,
///  4. share/inferometer beside the running program's bin folder (an installation that was moved).
/// Throws ConfigError, naming every place that was tried, when none has it.
std::filesystem::path data_directory(std::string_view folder);

}  // namespace inferometer
