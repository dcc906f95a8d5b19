#pragma once

#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "base/config/table.hpp"

namespace inferometer {

/// Lays `over` upon `base` as overlay() does, both of the form of `table`. Where `over` makes another choice
/// than `base` (a selector gets another word, or another of the table's alternatives is given), the keys that
/// went with the former choice leave `base` first: parameters of one policy mean nothing, or something else,
/// to another. Those that the new choice declares alike, to the sentence, mean the same and stay. Returns the
/// dotted paths of the keys that left, in file order, for the user to be told.
std::vector<std::string> overlay_choices(ConfigNode& base, const ConfigNode& over, const Table& table);

}  // namespace inferometer
