#pragma once

// What a variant of a study may be called. Who uses it: readers of comparisons and plans.

#include <string>

namespace inferometer {

/// What is wrong with the name, as a sentence's end; "" when nothing is: a line of 1 to 40 printable
/// characters, which tables and legends of charts have room for.
std::string variant_name_fault(const std::string& name);

}  // namespace inferometer
