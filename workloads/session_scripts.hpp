#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/clients.hpp"
#include "workloads/request_bodies.hpp"

namespace inferometer {

/// Conversations: each turn's prompt is the session's prefix (if its group has one), all earlier questions
/// with their answers, and a new question. As vLLM's benchmark_serving_multi_turn, SGLang's and LMCache's
/// multi-turn benchmarks make them.
struct SessionOptions {
  enum class TurnCounts {
    fixed,      ///< every session has the mean
    uniform,    ///< every whole number from 1 to 2 * mean - 1 as often
    geometric,  ///< after each turn the session ends with probability 1 / mean
  };

  /// Longest session: what number of a turn content ids have room for.
  static constexpr std::int64_t kMostTurns = std::int64_t{1} << 20;

  std::int64_t turns = 1;  ///< mean, 1 to kMostTurns / 2
  TurnCounts turn_counts = TurnCounts::fixed;
  ThinkTime think_time;  ///< from an answer to the session's next turn
  /// A session ends before a turn whose prompt and answer come to more tokens. The first turn is always
  /// asked.
  std::optional<TokenCount> max_context;
};

struct SessionTurn {
  TokenCount question, output, max_new;
  Duration think;  ///< after the answer before it; 0 for the first turn
};

struct SessionScript {
  std::int64_t number = 0;
  RequestBodies::Body opening;     ///< prefix, class and the content of the first question
  std::vector<SessionTurn> turns;  ///< at least one
  bool is_cut = false;             ///< it has fewer than were drawn, because of max_context
};

/// Writes sessions, one after the other: what the k-th consists of depends on nothing that happens. Copies go
/// on alike. Draws turn counts from "workload/sessions/turns", think times from
/// "workload/sessions/think_time".
class SessionScripts {
 public:
  /// `openings`: first questions and answers; `follow_ups`: those of later turns.
  SessionScripts(const SessionOptions& options, RequestBodies openings, LengthSampler follow_ups,
                 std::uint64_t seed);

  SessionScript next();

  /// Seed of the sampler of follow-ups, whose numbers would else be those of the openings.
  static std::uint64_t follow_up_seed(std::uint64_t seed);

 private:
  std::int64_t draw_turns();

  SessionOptions options_;
  RequestBodies openings_;
  LengthSampler follow_ups_;
  RandomStream turns_stream_, think_stream_;
  std::int64_t written_ = 0;
};

/// Sessions that come to `requests` turns (the last may be cut short). O(requests).
std::int64_t sessions_for(SessionScripts scripts, std::int64_t requests);

}  // namespace inferometer
