#include "workloads/session_scripts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"

namespace inferometer {

SessionScripts::SessionScripts(const SessionOptions& options, RequestBodies openings,
                               LengthSampler follow_ups, std::uint64_t seed)
    : options_(options),
      openings_(std::move(openings)),
      follow_ups_(std::move(follow_ups)),
      turns_stream_(seed, "workload/sessions/turns"),
      think_stream_(seed, "workload/sessions/think_time") {
  INFEROMETER_CHECK(options.turns >= 1 && options.turns <= SessionOptions::kMostTurns / 2,
                    "sessions have turns");
}

std::uint64_t SessionScripts::follow_up_seed(std::uint64_t seed) {
  return RandomStream(seed, "workload/sessions/follow_up").next();
}

std::int64_t SessionScripts::draw_turns() {
  if (options_.turn_counts == SessionOptions::TurnCounts::fixed || options_.turns == 1) {
    return options_.turns;
  }
  if (options_.turn_counts == SessionOptions::TurnCounts::uniform) {
    return 1 +
           static_cast<std::int64_t>(turns_stream_.below(static_cast<std::uint64_t>(2 * options_.turns - 1)));
  }
  // The whole part of an exponential variable is geometric: going on has probability exp(-rate).
  const double rate = -std::log1p(-1.0 / static_cast<double>(options_.turns));
  const double more = std::floor(turns_stream_.exponential() / rate);
  return 1 + static_cast<std::int64_t>(std::min(more, static_cast<double>(SessionOptions::kMostTurns - 1)));
}

SessionScript SessionScripts::next() {
  SessionScript script;
  script.number = written_++;
  script.opening = openings_.draw();
  const RequestBodies::Body& opening = script.opening;
  script.turns.push_back({opening.question, opening.output, opening.max_new, Duration(0)});
  TokenCount context = TokenCount(opening.prefix.tokens) + opening.question + opening.output;
  // Drawn to the end even when the session ends early, so that other sessions stay as they are.
  for (std::int64_t left = draw_turns() - 1; left > 0; --left) {
    const LengthSampler::Lengths lengths = follow_ups_.next();
    const Duration think = options_.think_time.draw(think_stream_);
    context += lengths.prompt + lengths.output;
    script.is_cut = script.is_cut || (options_.max_context && context > *options_.max_context);
    if (!script.is_cut) {
      script.turns.push_back(
          {lengths.prompt, lengths.output, openings_.max_new_rule().max_new(lengths.output), think});
    }
  }
  return script;
}

std::int64_t sessions_for(SessionScripts scripts, std::int64_t requests) {
  std::int64_t sessions = 0;
  for (; requests > 0; ++sessions) {
    requests -= static_cast<std::int64_t>(scripts.next().turns.size());
  }
  return sessions;
}

}  // namespace inferometer
