#include "calibration/measure/point_outcome.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace inferometer {
namespace {

constexpr PointOutcome kOutcomes[] = {PointOutcome::measured,          PointOutcome::wrong_result,
                                      PointOutcome::unsupported,       PointOutcome::out_of_memory,
                                      PointOutcome::throttled,         PointOutcome::device_lost,
                                      PointOutcome::device_lost_twice, PointOutcome::interrupted};

}  // namespace

std::span<const PointOutcome> point_outcomes() {
  return kOutcomes;
}

std::string_view to_string(PointOutcome outcome) {
  switch (outcome) {
    case PointOutcome::measured:
      return "measured";
    case PointOutcome::wrong_result:
      return "wrong result";
    case PointOutcome::unsupported:
      return "unsupported";
    case PointOutcome::out_of_memory:
      return "out of memory";
    case PointOutcome::throttled:
      return "throttled";
    case PointOutcome::device_lost:
      return "the device was lost";
    case PointOutcome::device_lost_twice:
      return "the device was lost twice";
    case PointOutcome::interrupted:
      return "interrupted";
  }
  check_failed("outcome", __FILE__, __LINE__, "unknown outcome of a point");
}

SkippedPoint skipped_point(const KernelCall& call, PointOutcome outcome, std::string_view detail) {
  return {call, fmt::format("{}: {}", to_string(outcome), detail), {}};
}

std::optional<PointOutcome> outcome_of(std::string_view reason) {
  const std::string_view words = reason.substr(0, reason.find(':'));
  for (const PointOutcome outcome : kOutcomes) {
    if (to_string(outcome) == words) {
      return outcome;
    }
  }
  return std::nullopt;
}

bool is_tried_again(PointOutcome outcome) {
  return outcome == PointOutcome::throttled || outcome == PointOutcome::device_lost;
}

}  // namespace inferometer
