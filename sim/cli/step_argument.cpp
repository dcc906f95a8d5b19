#include "sim/cli/step_argument.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kLargestNumber = 1'000'000;
constexpr std::int64_t kMostPrefillTokens = 10'000'000;
constexpr std::size_t kMostSweepValues = 10'000;

[[noreturn]] void refuse(std::string message) {
  throw ConfigError(Position{}, std::move(message));
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || text.empty()) {
    return std::nullopt;
  }
  return number;
}

bool in_range(std::int64_t number, std::int64_t smallest) {
  return number >= smallest && number <= kLargestNumber;
}

/// What an option looks like, for reading it and for saying how to write it.
struct PairForm {
  const char* option;
  char separator;
  const char* form;
  const char* example;
  std::int64_t smallest_second;
};
constexpr PairForm kPrefill{"--prefill", 'x', "BATCHxLENGTH", "64x512", 1};
constexpr PairForm kChunk{"--chunk", '@', "SIZE@PAST", "256@4096", 0};
constexpr PairForm kDecode{"--decode", '@', "BATCH@CONTEXT", "64@1024", 1};

struct NumberPair {
  std::int64_t first, second;
};

void check(const PairForm& form, const NumberPair& numbers) {
  if (!in_range(numbers.first, 1) || !in_range(numbers.second, form.smallest_second)) {
    refuse(fmt::format("{} {}{}{}: allowed in {} are whole numbers from 1 to {}{}", form.option,
                       numbers.first, form.separator, numbers.second, form.form, kLargestNumber,
                       form.smallest_second == 0 ? ", and a past of 0" : ""));
  }
  if (&form == &kPrefill && numbers.first * numbers.second > kMostPrefillTokens) {
    refuse(fmt::format("{} {}x{}: more than {} tokens in one step", form.option, numbers.first,
                       numbers.second, kMostPrefillTokens));
  }
}

/// `alone`: what one number without separator means, if that is allowed.
NumberPair parse_pair(const std::string& text, const PairForm& form,
                      std::optional<NumberPair> (*alone)(std::int64_t)) {
  const std::size_t middle = text.find(form.separator);
  std::optional<NumberPair> numbers;
  if (middle == std::string::npos) {
    const std::optional<std::int64_t> only = whole_number(text);
    numbers = only ? alone(*only) : std::nullopt;
  } else {
    const std::optional<std::int64_t> first = whole_number(std::string_view(text).substr(0, middle));
    const std::optional<std::int64_t> second = whole_number(std::string_view(text).substr(middle + 1));
    numbers = first && second ? std::optional<NumberPair>({*first, *second}) : std::nullopt;
  }
  if (!numbers) {
    refuse(fmt::format("{} \"{}\": write {} in whole numbers, for example {}", form.option, text, form.form,
                       form.example));
  }
  check(form, *numbers);
  return *numbers;
}

/// The numbers of the step by name, each beside where it stands.
std::vector<std::pair<std::string, std::int64_t*>> numbers_of(StepArgument& step) {
  std::vector<std::pair<std::string, std::int64_t*>> numbers;
  if (step.prefill) {
    numbers.insert(numbers.end(), {{"batch", &step.prefill->batch}, {"length", &step.prefill->length}});
  }
  if (step.chunk) {
    numbers.insert(numbers.end(), {{"size", &step.chunk->size}, {"past", &step.chunk->past}});
  }
  if (step.decode) {
    numbers.insert(numbers.end(), {{"batch", &step.decode->batch}, {"context", &step.decode->context}});
  }
  return numbers;
}

/// How a sweep goes on from one value to the next.
struct Stride {
  char kind = 'x';  // 'x': times, '+': plus
  std::int64_t by = 2;
};

std::optional<Stride> parse_stride(std::string_view text) {
  if (text.empty() || (text[0] != 'x' && text[0] != '+')) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> by = whole_number(text.substr(1));
  if (!by || *by > kLargestNumber || *by < (text[0] == 'x' ? 2 : 1)) {
    return std::nullopt;
  }
  return Stride{text[0], *by};
}

std::vector<std::int64_t> values_between(std::int64_t from, std::int64_t to, const Stride& stride) {
  std::vector<std::int64_t> values;
  std::int64_t value = from;
  while (value < to && values.size() <= kMostSweepValues) {
    values.push_back(value);
    value = stride.kind == '+' ? value + stride.by : value * stride.by;
  }
  values.push_back(to);
  return values;
}

}  // namespace

StepArgument::Prefill parse_prefill(const std::string& text) {
  const auto one_prompt = [](std::int64_t length) { return std::optional<NumberPair>({1, length}); };
  const NumberPair numbers = parse_pair(text, kPrefill, one_prompt);
  return {numbers.first, numbers.second};
}

StepArgument::Chunk parse_chunk(const std::string& text) {
  const auto first_chunk = [](std::int64_t size) { return std::optional<NumberPair>({size, 0}); };
  const NumberPair numbers = parse_pair(text, kChunk, first_chunk);
  return {numbers.first, numbers.second};
}

StepArgument::Decode parse_decode(const std::string& text) {
  const auto not_allowed = [](std::int64_t) { return std::optional<NumberPair>(); };
  const NumberPair numbers = parse_pair(text, kDecode, not_allowed);
  return {numbers.first, numbers.second};
}

Sweep parse_sweep(const std::string& text, const StepArgument& step) {
  const std::string how =
      "write NAME=FROM:TO, NAME=FROM:TO:xFACTOR or NAME=FROM:TO:+STEP in whole numbers, for example "
      "batch=1:512";
  const std::size_t equals = text.find('=');
  const std::size_t first_colon = equals == std::string::npos ? equals : text.find(':', equals);
  if (first_colon == std::string::npos) {
    refuse(fmt::format("--sweep \"{}\": {}", text, how));
  }
  const std::size_t second_colon = text.find(':', first_colon + 1);
  const std::string_view view = text;
  const std::optional<std::int64_t> from = whole_number(view.substr(equals + 1, first_colon - equals - 1));
  const std::optional<std::int64_t> to =
      whole_number(view.substr(first_colon + 1, std::min(second_colon, text.size()) - first_colon - 1));
  const std::optional<Stride> stride =
      second_colon == std::string::npos ? Stride{} : parse_stride(view.substr(second_colon + 1));
  if (!from || !to || !stride) {
    refuse(fmt::format("--sweep \"{}\": {}", text, how));
  }
  const std::string name = text.substr(0, equals);
  StepArgument at_from = with_value(step, name, *from);
  with_value(at_from, name, *to);
  if (*from > *to || (*from == 0 && stride->kind == 'x' && *to > 0)) {
    refuse(fmt::format("--sweep \"{}\": FROM must not exceed TO, and a sweep by a factor cannot start at 0",
                       text));
  }
  Sweep sweep{name, values_between(*from, *to, *stride)};
  if (sweep.values.size() > kMostSweepValues) {
    refuse(fmt::format("--sweep \"{}\": more than {} values; take a larger step", text, kMostSweepValues));
  }
  return sweep;
}

StepArgument with_value(StepArgument step, const std::string& name, std::int64_t value) {
  std::vector<std::string> known;
  bool found = false;
  for (const auto& [number_name, number] : numbers_of(step)) {
    known.push_back(number_name);
    if (number_name == name) {
      *number = value;
      found = true;
    }
  }
  if (!found) {
    refuse(fmt::format("--sweep: this step has no \"{}\"; it has {}{}", name, join_alternatives(known),
                       did_you_mean(name, known)));
  }
  if (step.prefill) {
    check(kPrefill, {step.prefill->batch, step.prefill->length});
  }
  if (step.chunk) {
    check(kChunk, {step.chunk->size, step.chunk->past});
  }
  if (step.decode) {
    check(kDecode, {step.decode->batch, step.decode->context});
  }
  return step;
}

OwnedStepShape::OwnedStepShape(const StepArgument& step, std::optional<std::int64_t> window) {
  if (step.prefill) {
    chunks_.assign(static_cast<std::size_t>(step.prefill->batch), {step.prefill->length, 0});
  }
  if (step.chunk) {
    chunks_.push_back({step.chunk->size, step.chunk->past});
  }
  if (step.decode) {
    const std::int64_t context = step.decode->context;
    counts_.decodes = step.decode->batch;
    counts_.decode_context = step.decode->batch * context;
    counts_.decode_window_context = step.decode->batch * (window ? std::min(context, *window) : 0);
  }
  counts_.sampled_rows = counts_.decodes + static_cast<std::int64_t>(chunks_.size());
}

StepShape OwnedStepShape::shape() const {
  StepShape shape = counts_;
  shape.chunks = chunks_;
  return shape;
}

std::string to_text(const StepArgument& step) {
  std::vector<std::string> parts;
  const auto counted = [](std::int64_t n, const char* noun) {
    return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
  };
  if (step.prefill) {
    parts.push_back(counted(step.prefill->batch, "prompt") + " of " + counted(step.prefill->length, "token"));
  }
  if (step.chunk) {
    parts.push_back("a chunk of " + counted(step.chunk->size, "token") +
                    fmt::format(" after {}", step.chunk->past));
  }
  if (step.decode) {
    parts.push_back(counted(step.decode->batch, "decode") +
                    fmt::format(" at context {}", step.decode->context));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

}  // namespace inferometer
