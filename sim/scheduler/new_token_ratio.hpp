#pragma once

#include <cstdint>

namespace inferometer {

/// SGLang's estimate of how much of what clients allowed their requests will really use. It falls with every
/// decode step by the same amount down to a least value, starts anew when the engine is idle, and is set from
/// what runs after memory has run out. It is read off the count of decode steps, in whole billionths, so that
/// many steps at once leave the same value as the steps one by one. O(1).
class NewTokenRatio {
 public:
  static constexpr std::int64_t kOne = 1'000'000'000;

  /// `conservativeness` > 0: higher ones begin higher.
  explicit NewTokenRatio(double conservativeness);

  /// In billionths, after so many decode steps.
  [[nodiscard]] std::int64_t at(std::int64_t decode_steps) const;
  /// Of so many tokens, those that are expected to come; rounded down.
  [[nodiscard]] std::int64_t of(std::int64_t tokens, std::int64_t decode_steps) const;

  void begin_anew(std::int64_t decode_steps) { set(initial_, decode_steps); }
  /// The decode step that comes next leaves it as it is.
  void skip_step(std::int64_t decode_steps) { set(at(decode_steps), decode_steps + 1); }
  /// Memory ran out: of `sequences` that stay, which may emit `allowed` tokens and have emitted `emitted`,
  /// each is expected to go on for some steps. The decode step that comes next counts no more.
  void estimate(std::int64_t emitted, std::int64_t sequences, std::int64_t allowed,
                std::int64_t decode_steps);

 private:
  void set(std::int64_t value, std::int64_t decode_steps) {
    value_ = value;
    since_ = decode_steps;
  }

  std::int64_t initial_;
  std::int64_t least_;
  std::int64_t value_;
  std::int64_t since_ = 0;  // decode steps done when the value held; may be one ahead
};

}  // namespace inferometer
