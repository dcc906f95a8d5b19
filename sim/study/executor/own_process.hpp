#pragma once

// Work that wants a process to itself: SimGrid's second simulation in a process differs from its first in the
// last picoseconds. Who uses it: evaluators of executor.hpp.

#include <functional>
#include <string>

namespace inferometer {

/// What `work` returns, run in a process that is a copy of this one and ends with it (child_process.hpp).
/// Throws std::runtime_error: with the words of what `work` threw; "the process that worked on it was killed
/// (signal 9, SIGKILL)" when that process dies; what the system says when there can be none. Costs a fork,
/// some tenths of a millisecond and more in a program that holds gigabytes.
std::string in_own_process(const std::function<std::string()>& work);

}  // namespace inferometer
