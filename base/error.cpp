#include "base/error.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace inferometer {
namespace {

std::string one_line_each(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) {
      text += '\n';
    }
    text += to_string(diagnostic.where) + ": " + diagnostic.message;
  }
  return text;
}

}  // namespace

std::string to_string(const Position& position) {
  std::string text = position.file;
  if (position.line > 0) {
    text += ':' + std::to_string(position.line);
    if (position.column > 0) {
      text += ':' + std::to_string(position.column);
    }
  }
  return text;
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(one_line_each(diagnostics)), diagnostics_(std::move(diagnostics)) {
}

InputError::InputError(Position where, std::string message)
    : InputError(std::vector<Diagnostic>{{std::move(where), std::move(message)}}) {
}

void Diagnostics::add(Position where, std::string message) {
  found_.push_back({std::move(where), std::move(message)});
}

void Diagnostics::throw_if_any() const {
  if (found_.empty()) {
    return;
  }
  std::vector<Diagnostic> sorted = found_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.where.file, a.where.line, a.where.column) <
           std::tie(b.where.file, b.where.line, b.where.column);
  });
  throw ConfigError(std::move(sorted));
}

}  // namespace inferometer
