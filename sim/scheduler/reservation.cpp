#include "sim/scheduler/reservation.hpp"

namespace inferometer {

void add_reservation_key(Table& table) {
  table
      .add_choice(
          "reserve", {"max_new_tokens", "max_model_len"},
          "KV set aside for a sequence: its prompt plus what the client allowed, or the longest sequence")
      .by_default("max_new_tokens");
}

Reservation reservation_from(const Values& engine, const EngineLimits& limits) {
  return {limits.max_model_len, engine.text("reserve") == "max_model_len"};
}

std::int64_t reserving_step_tokens(const Values& engine, std::int64_t max_model_len) {
  (void)engine;
  return max_model_len;
}

}  // namespace inferometer
