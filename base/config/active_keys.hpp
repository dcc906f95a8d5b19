#pragma once

// Which keys of a table count in a given section, once its selectors are known.

#include <string>
#include <vector>

#include "base/config/table.hpp"

namespace inferometer {

/// Refers to `table` and `node`: both must outlive it.
class ActiveKeys {
 public:
  ActiveKeys(const Table& table, const ConfigNode& node);

  /// In table order, those of variants last.
  [[nodiscard]] const std::vector<const Key*>& keys() const { return keys_; }

  /// The key of that name that counts; nullptr when none does.
  [[nodiscard]] const Key* active_key(const std::string& name) const;

  /// "" when the section may have the key, else what to tell the user. A key of any variant passes while the
  /// variant's selector has a wrong word: that mistake is reported once, where it is.
  [[nodiscard]] std::string unknown_key_fault(const std::string& name, const std::string& path) const;

 private:
  enum class State { active, inactive, undecided };
  [[nodiscard]] bool is_undecided(const std::string& name) const;
  [[nodiscard]] State state_of(const Table::Variant& variant) const;
  [[nodiscard]] std::string other_variant_fault(const std::string& name, const std::string& path) const;
  [[nodiscard]] std::string deciding_selector(const std::string& name) const;

  const Table& table_;
  const ConfigNode& node_;
  std::vector<const Key*> keys_;
  std::vector<State> states_;  ///< of the variants
};

/// The default of a key as if the user had written it. Precondition: the key has one.
ConfigNode default_node(const Key& key);

}  // namespace inferometer
