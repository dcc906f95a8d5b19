// Session affinity: all requests of a conversation go to one replica, where its KV may still be. Which one is
// found by rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates",
// IEEE/ACM ToN 1998): each pair of session and replica has a score, and the highest wins. A replica that goes
// moves its own sessions and no others; when it is back, they are.

#include <filesystem>
#include <memory>

#include "base/config/path_text.hpp"
#include "base/random.hpp"
#include "sim/router/builtin.hpp"
#include "sim/router/least_loaded.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

/// A hash of 64 bits in which every bit of `word` counts.
std::uint64_t mixed(std::uint64_t word) {
  return splitmix64(word);
}

class SessionAffinity : public Router {
 public:
  /// The salt spreads sessions anew for another seed, and for each pool of one.
  SessionAffinity(std::uint64_t seed, const std::string& path) : salt_(RandomStream(seed, path).next()) {}

  std::int32_t choose(const Request& request, const RouterView& view) override {
    if (request.session < 0) {
      return least_outstanding(view);
    }
    const std::uint64_t session = mixed(static_cast<std::uint64_t>(request.session) ^ salt_);
    std::int32_t best = view.candidates().front();
    std::uint64_t highest = score(session, best);
    for (const std::int32_t replica : view.candidates().subspan(1)) {
      const std::uint64_t its = score(session, replica);
      if (its > highest) {
        best = replica;
        highest = its;
      }
    }
    return best;
  }

 private:
  static std::uint64_t score(std::uint64_t session, std::int32_t replica) {
    return mixed(session ^ static_cast<std::uint64_t>(replica));
  }

  std::uint64_t salt_;
};

/// Sessions come from traces and from generators that are asked for some. Reads a trace as far as its first
/// session: to the end when it has none.
std::string missing_sessions(const Values& workload) {
  if (workload.given("sessions")) {
    return "";
  }
  if (!workload.given("trace")) {
    return "generated requests have no sessions, unless workload.sessions is given";
  }
  const std::string directory = directory_of(workload, "trace");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(std::filesystem::path(directory) / workload.text("trace"), ignored)) {
    return "";  // whoever opens it for the run says what is wrong
  }
  constexpr std::uint64_t kAnySeed = 1;  // of arrivals that a trace leaves open
  const std::unique_ptr<Workload> trace = make_workload(workload, kAnySeed, directory);
  Request request;
  while (trace->next_arrival()) {
    trace->take(request);
    if (request.session >= 0) {
      return "";
    }
  }
  return "no request of the trace has a session";
}

}  // namespace

RouterEntry session_affinity_router() {
  return {
      .name = "session_affinity",
      .summary =
          "A session's replica by its hash, else least_outstanding: after SessionRouter of vLLM's "
          "production-stack",
      .keys = {},
      .missing_data = missing_sessions,
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        (void)router;
        return std::make_unique<SessionAffinity>(seed, path);
      },
  };
}

}  // namespace inferometer
