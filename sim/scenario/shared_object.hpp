#pragma once

#include <string>

namespace inferometer {

/// Whether a shared object is all there. The loader maps what its headers tell of without looking at the
/// file's size: code that was cut off ends the program with SIGBUS as soon as it is touched. Returns what is
/// wrong, to follow the file's name ("is cut off: ..."); "" when the file is whole, and when it is nothing
/// that the loader of this machine would map: it says so itself. O(headers).
std::string cut_off_fault(const std::string& path);

}  // namespace inferometer
