#include "base/suggest.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace inferometer {
namespace {

/// No key or name of ours is longer; keeps a hostile word from costing length^2.
constexpr std::size_t kLongestWord = 64;
/// Of a shorter word too much begins with it by chance.
constexpr std::size_t kShortestBeginning = 3;
/// More are no help.
constexpr std::size_t kMostSuggestions = 4;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct AnyCase {
  bool operator()(char a, char b) const { return lower(a) == lower(b); }
};
struct ExactCase {
  bool operator()(char a, char b) const { return a == b; }
};

/// Optimal string alignment distance, row by row.
template <class Same>
std::size_t edit_distance(std::string_view a, std::string_view b, Same same) {
  std::vector<std::size_t> before_previous(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    current[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_previous.swap(previous);
    previous.swap(current);
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = same(a[i - 1], b[j - 1]) ? 0 : 1;
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) {
        current[j] = std::min(current[j], before_previous[j - 2] + 1);
      }
    }
  }
  return current[b.size()];
}

/// The candidates that begin with `word`, case ignored.
std::vector<std::string> continuations(std::string_view word, const std::vector<std::string>& candidates) {
  std::vector<std::string> found;
  for (const std::string& candidate : candidates) {
    const bool begins = word.size() >= kShortestBeginning && word.size() <= candidate.size() &&
                        std::equal(word.begin(), word.end(), candidate.begin(), AnyCase());
    if (begins) {
      found.push_back(candidate);
    }
  }
  return found;
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kLongestWord) {
    return "";
  }
  // Of equals the one nearer with case counted: of "TB/s" and "Tb/s" the first for "TBps".
  std::pair<std::size_t, std::size_t> best_distance{std::max<std::size_t>(1, word.size() / 3) + 1, 0};
  std::string best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestWord) {
      continue;
    }
    const std::pair distance{edit_distance(word, candidate, AnyCase()),
                             edit_distance(word, candidate, ExactCase())};
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string> longer = continuations(word, candidates);
  const std::string nearest = nearest_word(word, candidates);
  const bool is_stem = !longer.empty() && longer.size() <= kMostSuggestions &&
                       std::all_of(longer.begin(), longer.end(), [&](const std::string& candidate) {
                         return candidate.size() > word.size() && candidate[word.size()] == '-';
                       });
  const std::vector<std::string> meant =
      nearest.empty() || is_stem ? longer : std::vector<std::string>{nearest};
  if (meant.empty() || meant.size() > kMostSuggestions) {
    return "";
  }
  std::vector<std::string> quoted;
  for (const std::string& each : meant) {
    quoted.push_back('"' + each + '"');
  }
  return "; did you mean " + join_alternatives(quoted) + "?";
}

std::string join_alternatives(const std::vector<std::string>& words, std::string_view before_last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) {
      text += i + 1 == words.size() ? " " + std::string(before_last) + " " : ", ";
    }
    text += words[i];
  }
  return text;
}

}  // namespace inferometer
