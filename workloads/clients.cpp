#include "workloads/clients.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.hpp"
#include "base/error.hpp"
#include "workloads/arrivals.hpp"

namespace inferometer {

Duration ThinkTime::draw(RandomStream& stream) const {
  return is_fixed ? mean : arrival_at(to_seconds(mean) * stream.exponential()).since_start();
}

Clients::Clients(const ClientOptions& options, std::int64_t needed, std::uint64_t seed) : options_(options) {
  INFEROMETER_CHECK(options.clients >= 1, "at least one client");
  INFEROMETER_CHECK(options.think_time.mean.count() >= 0 && options.ramp_up.count() >= 0,
                    "times are not negative");
  for (std::int64_t client = 0; client < std::min(options.clients, needed); ++client) {
    think_.emplace_back(seed, "workload/think_time/" + std::to_string(client));
  }
}

TimePoint Clients::begins(std::int64_t client) const {
  const double share = static_cast<double>(client) / static_cast<double>(options_.clients);
  return arrival_at(to_seconds(options_.ramp_up) * share);
}

TimePoint Clients::after_answer(std::int64_t client, TimePoint now) {
  return after_wait(now, options_.think_time.draw(think_[static_cast<std::size_t>(client)]));
}

TimePoint after_wait(TimePoint now, Duration wait) {
  if (wait.count() > std::numeric_limits<std::int64_t>::max() - now.since_start().count()) {
    throw ConfigError(Position{"workload"},
                      "a request would arrive after 106 days, the end of simulated time");
  }
  return now + wait;
}

}  // namespace inferometer
