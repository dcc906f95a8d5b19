#pragma once

// What a Table made of a section: typed values by key, in table order, defaults filled in. Read once when
// things are built, never on a hot path. Asking for a key the table does not have, or for another type, is a
// programmer error (INFEROMETER_CHECK), not a user's.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"

namespace inferometer {

enum class ValueType;
class ConfigNode;
class Values;

struct Value {
  using Scalar = std::variant<std::int64_t, double, bool, std::string, Duration, Bytes, BytesPerSecond,
                              FlopsPerSecond, PerSecond, DollarsPerHour, Watts, Hertz>;

  std::string key;
  ValueType type{};
  Position where;      ///< of the value; of the section for a default
  bool given = false;  ///< written by the user, not a default
  bool is_list = false;
  std::vector<Scalar> scalars;                          ///< one, or the list
  std::shared_ptr<const Values> section;                ///< for a section
  std::vector<std::shared_ptr<const Values>> sections;  ///< for a list of sections
  std::shared_ptr<const ConfigNode> tree;               ///< for a tree
};

class Values {
 public:
  /// True when the key has a value, given or by default.
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  /// True when the user wrote it.
  [[nodiscard]] bool given(std::string_view key) const;
  /// Where the value stands, for cross-checks that report a mistake; the section's place when absent.
  [[nodiscard]] Position where(std::string_view key) const;
  [[nodiscard]] Position where() const { return where_; }

  [[nodiscard]] std::int64_t count(std::string_view key) const;
  [[nodiscard]] double number(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  /// Of a text or a choice.
  [[nodiscard]] const std::string& text(std::string_view key) const;
  [[nodiscard]] Duration duration(std::string_view key) const;
  [[nodiscard]] Bytes bytes(std::string_view key) const;
  [[nodiscard]] BytesPerSecond bandwidth(std::string_view key) const;
  [[nodiscard]] FlopsPerSecond compute_rate(std::string_view key) const;
  [[nodiscard]] PerSecond rate(std::string_view key) const;
  [[nodiscard]] DollarsPerHour price_rate(std::string_view key) const;
  [[nodiscard]] Watts power(std::string_view key) const;
  [[nodiscard]] Hertz frequency(std::string_view key) const;
  [[nodiscard]] std::vector<std::int64_t> counts(std::string_view key) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  [[nodiscard]] const Values& section(std::string_view key) const;
  /// Of a list of sections, in the user's order; they live as long as this and its copies do.
  [[nodiscard]] std::vector<const Values*> sections(std::string_view key) const;

  /// What was written, for a key of type tree.
  [[nodiscard]] const ConfigNode& tree(std::string_view key) const;

  /// In table order, for writing the resolved configuration.
  [[nodiscard]] const std::vector<Value>& all() const { return values_; }

  void add(Value value) { values_.push_back(std::move(value)); }
  void set_where(Position where) { where_ = std::move(where); }

 private:
  [[nodiscard]] const Value* find(std::string_view key) const;

  Position where_;
  std::vector<Value> values_;
};

/// The value as a user would write it, with the unit that makes it shortest and exact: "500 ms", "3.35 TB/s".
std::string to_text(const Value::Scalar& scalar);

}  // namespace inferometer
