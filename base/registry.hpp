#pragma once

// Names of implementations. Filled by explicit register_builtin_*() functions, never by static initialisers,
// so that nothing depends on link order. Look up once when a simulation is built, never on a hot path.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace inferometer {

/// Entries of one kind under unique names, in order of registration. `Entry` has a `std::string name`.
template <class Entry>
class Registry {
 public:
  /// A second entry of the same name is a programmer error.
  void add(Entry entry) {
    INFEROMETER_CHECK(find(entry.name) == nullptr, "registered twice: " + entry.name);
    entries_.push_back(std::move(entry));
  }

  /// nullptr when there is none of that name.
  [[nodiscard]] const Entry* find(const std::string& name) const {
    for (const Entry& entry : entries_) {
      if (entry.name == name) {
        return &entry;
      }
    }
    return nullptr;
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Entry& entry : entries_) {
      result.push_back(entry.name);
    }
    return result;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace inferometer
