#pragma once

// What the user got wrong, and where. Libraries throw these; only the command line prints and exits (code 2).

#include <stdexcept>
#include <string>
#include <vector>

namespace inferometer {

/// A place in an input. Lines and columns count from 1; 0 means "the whole file" (or "the whole line").
struct Position {
  std::string file;  ///< as the user named it; "--set" for a command-line override
  int line = 0;
  int column = 0;
};

/// "file:line:column", leaving out what is 0.
std::string to_string(const Position& position);

/// One mistake: where, and a sentence that says what was found and what is allowed.
struct Diagnostic {
  Position where;
  std::string message;
};

/// Mistakes in what the user gave us. what() holds one line per mistake, "file:line:column: message".
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  InputError(Position where, std::string message);
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// A mistake in a scenario, a model's config.json, a GPU file or on the command line.
class ConfigError : public InputError {
 public:
  using InputError::InputError;
};

/// A mistake in a request trace.
class TraceError : public InputError {
 public:
  using InputError::InputError;
};

/// Collects the mistakes of one input, so that the user sees all of them at once.
class Diagnostics {
 public:
  void add(Position where, std::string message);
  [[nodiscard]] bool empty() const { return found_.empty(); }
  [[nodiscard]] const std::vector<Diagnostic>& found() const { return found_; }
  /// Throws ConfigError with everything found so far, in order of file and place; does nothing when empty.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> found_;
};

}  // namespace inferometer
