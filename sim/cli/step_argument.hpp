#pragma once

// The step that `inferometer roofline` prices, as written on the command line, and a sweep over one of its
// numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/step_shape.hpp"

namespace inferometer {

/// Prompts of one length, or a chunk of one prompt, or decodes, or a chunk beside decodes.
struct StepArgument {
  struct Prefill {
    std::int64_t batch, length;
  };
  struct Chunk {
    std::int64_t size, past;
  };
  struct Decode {
    std::int64_t batch, context;
  };
  std::optional<Prefill> prefill;
  std::optional<Chunk> chunk;
  std::optional<Decode> decode;
};

/// "64x512", or "512" for one prompt. These throw ConfigError: not so written, or a number out of range
/// (1 to 1,000,000, the past from 0; ten million tokens in all).
StepArgument::Prefill parse_prefill(const std::string& text);
/// "256@4096", or "256" for the first chunk of a prompt.
StepArgument::Chunk parse_chunk(const std::string& text);
/// "64@1024": 64 sequences that attend 1024 tokens each.
StepArgument::Decode parse_decode(const std::string& text);

/// Values that one number of the step takes, one after the other.
struct Sweep {
  std::string name;  ///< "batch", "length", "size", "past" or "context"
  std::vector<std::int64_t> values;
};

/// "batch=1:512" (doubling), "batch=1:512:x4", "context=1000:9000:+1000". The end is always among the values.
/// Throws ConfigError: not so written, a name that `step` does not have, more than 10,000 values.
Sweep parse_sweep(const std::string& text, const StepArgument& step);

/// The step with `value` for the number called `name`, checked as if it had been written so.
StepArgument with_value(StepArgument step, const std::string& name, std::int64_t value);

/// The step as the cost model takes it; every sequence emits a token (a chunk is the last of its prompt).
class OwnedStepShape {
 public:
  /// `window`: the model's sliding window, which bounds what a decode attends in the layers that have it.
  OwnedStepShape(const StepArgument& step, std::optional<std::int64_t> window);
  [[nodiscard]] StepShape shape() const;

 private:
  StepShape counts_;
  std::vector<ChunkShape> chunks_;
};

/// "64 prompts of 512 tokens", "a chunk of 256 tokens after 4096 and 64 decodes at context 1024".
std::string to_text(const StepArgument& step);

}  // namespace inferometer
