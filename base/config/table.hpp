#pragma once

// A table declares the keys of one section of a scenario: name, type, unit, default, range and one sentence.
// The same table parses (parse), documents (describe), completes in editors (json_schema) and is the reason
// why nothing a user writes is ignored: a key that no table names is an error.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/config/config_node.hpp"
#include "base/config/values.hpp"

namespace inferometer {

enum class ValueType {
  count,         ///< whole number, no unit: 256
  number,        ///< real number, no unit: 0.9
  flag,          ///< true or false, nothing else
  text,          ///< any string
  choice,        ///< one of a fixed list of words
  duration,      ///< 500 ms (ps ns us ms s min h)
  bytes,         ///< 80 GB, 40 MiB
  bandwidth,     ///< 3.35 TB/s, 400 Gb/s (bits: small b)
  compute_rate,  ///< 989 TFLOPS
  rate,          ///< 12 req/s (also req/min, req/h)
  price_rate,    ///< 2.95 $/h
  power,         ///< 700 W
  frequency,     ///< 1830 MHz
  section,       ///< a nested table
  tree,          ///< anything, as it was written; for its reader to check
};

/// One key of a table. Built by the chain of calls below; see Table.
class Key {
 public:
  std::string name;
  ValueType type;
  std::string doc;       ///< one sentence, without its full stop
  bool is_list = false;  ///< a sequence of values of `type` (but for sections, one bare value is also taken)
  bool is_required = false;
  std::optional<std::string> default_text;  ///< as a user would write it; parsed by the same code
  std::string absent_doc;                   ///< for an optional key without default: what happens then
  std::optional<std::string> min_text, max_text;
  bool min_is_open = false;                  ///< the minimum itself is not allowed
  std::vector<std::string> words;            ///< for ValueType::choice
  std::shared_ptr<const class Table> table;  ///< for ValueType::section, of each element when it is a list
  std::string
      described_at;         ///< for a section with the keys of another, which describes them: that one's path
  bool is_partial = false;  ///< for a section that says only what differs from another of the same keys

  Key(std::string key_name, ValueType value_type, std::string sentence)
      : name(std::move(key_name)), type(value_type), doc(std::move(sentence)) {}

  Key& by_default(std::string text);
  Key& required();
  /// May be left out; `what_then` completes "when absent: ...".
  Key& optional(std::string what_then);
  /// Inclusive bounds, written like values ("1", "100 GB"). "" = no bound. Without a minimum of its own a
  /// quantity must be above zero and a count must not be negative; range("0 s") allows zero.
  Key& range(std::string min, std::string max = "");
  /// A lower bound that is itself excluded.
  Key& above(std::string min);
  /// A section with the keys of the one at `path`, which are described there.
  Key& described_as(std::string path);
  /// ... that says only what differs from that one: whoever parses it has laid that one below it.
  Key& partial_of(std::string path);
};

class Table {
 public:
  /// `name` appears in messages and in `describe`; "" for the top of a scenario.
  Table(std::string name, std::string summary) : name_(std::move(name)), summary_(std::move(summary)) {}

  /// Each returns the new key, to be completed by the chain calls of Key. A reference is valid until the next
  /// add.
  Key& add(std::string name, ValueType type, std::string sentence);
  Key& add_list(std::string name, ValueType element, std::string sentence);
  Key& add_choice(std::string name, std::vector<std::string> words, std::string sentence);
  Key& add_section(std::string name, Table table, std::string sentence);
  /// A sequence of sections, each read by `element`; empty when absent, unless required() or optional().
  Key& add_section_list(std::string name, Table element, std::string sentence);

  /// Further keys that exist only when the choice key `selector` (already added, perhaps by another variant)
  /// has the given word. A key of another variant is an error that names the variants which have it. Two
  /// variants may both have a key of a name.
  void add_variant(const std::string& selector, const std::string& word, std::vector<Key> keys);

  /// Further keys that exist only when the user gives `key` (already added) at all, for one-of keys such as
  /// `trace`.
  void add_when_given(const std::string& key, std::vector<Key> keys);

  /// Keys (already added) of which a section has one only: each stands for another way to say the same thing.
  /// For overlay_choices(); that there is exactly one is for the section's reader to check.
  void set_alternatives(std::vector<std::string> keys);

  /// A bare value in place of the section stands for this key (already added) alone: `router: random` for
  /// `router: {policy: random}`.
  void set_bare_value(const std::string& key);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& summary() const { return summary_; }
  [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }

  struct Variant {
    std::string selector;
    std::string word;  ///< "" when it is enough that the selector is given
    std::vector<Key> keys;
  };
  [[nodiscard]] const std::vector<Variant>& variants() const { return variants_; }
  [[nodiscard]] const std::vector<std::string>& alternatives() const { return alternatives_; }
  /// "" when the section is always a map.
  [[nodiscard]] const std::string& bare_value() const { return bare_value_; }

 private:
  std::string name_, summary_;
  std::vector<Key> keys_;
  std::vector<Variant> variants_;
  std::vector<std::string> alternatives_;
  std::string bare_value_;
};

/// Reads `node` by `table`. Adds every mistake to `diagnostics` (unknown keys first, then missing ones, then
/// conversions and ranges) and goes on; what it returns is complete only when nothing was added.
/// Defaults are filled in. A null node is an empty section, but not in a list of them. A section that is
/// absent is read as an empty one, unless it is optional() (then it has no value). A key that is absent and
/// has neither a default nor required() nor optional() is a programmer error, as is a default that its own
/// type or range refuses.
Values parse(const Table& table, const ConfigNode& node, Diagnostics& diagnostics);

/// The table as text for a terminal: every key with type, unit, default, range and sentence, variants
/// grouped. No trailing spaces; the width of the first columns follows the contents.
std::string describe(const Table& table);

/// The table as JSON Schema (draft 2020-12) text, two spaces an indent, for editors. A file that has the key
/// `overlay_key`, when one is named, lies on top of another: nothing is required of it.
std::string json_schema(const Table& table, const std::string& overlay_key = "");

}  // namespace inferometer
