// Orca: iteration-level batching with room reserved for a sequence's longest possible length, so that nothing
// is ever preempted; prompts run whole, beside decodes. Yu et al., OSDI 2022, algorithm 1.

#include <memory>

#include "sim/scheduler/builtin.hpp"
#include "sim/scheduler/reservation.hpp"

namespace inferometer {
namespace {

class Orca : public BatchPolicy {
 public:
  Orca(std::int64_t max_num_seqs, const Reservation& reservation)
      : max_num_seqs_(max_num_seqs), reservation_(reservation) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    plan.decode = view.decode_count() > 0;
    std::int64_t free = view.free_blocks();
    std::int64_t running = view.running_count();
    for (const SequenceId id : view.waiting()) {
      const std::int64_t reserved = reservation_.tokens(view.sequence(id));
      const std::int64_t needed = view.blocks_for(reserved);
      if (running == max_num_seqs_ || needed > free) {
        break;
      }
      plan.admitted.push_back({id, reserved});
      plan.chunks.push_back({id, view.prefill_left(id)});
      free -= needed;
      ++running;
    }
  }

  // Reserved blocks stay free or taken until somebody leaves: a head that is blocked stays blocked.
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    (void)plan;
    return Stability::until_change(view.waiting().empty() && view.running_count() < max_num_seqs_);
  }

 private:
  std::int64_t max_num_seqs_;
  Reservation reservation_;
};

std::vector<Key> keys() {
  Table table("engine", "");
  add_reservation_key(table);
  return table.keys();
}

}  // namespace

PolicyEntry orca_policy() {
  return {
      .name = "orca",
      .summary = "Orca: joins and leaves at every step, KV reserved for the longest possible output",
      .keys = keys(),
      .step_tokens = reserving_step_tokens,
      .make = [](const Values& engine, const EngineLimits& limits) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<Orca>(limits.max_num_seqs, reservation_from(engine, limits));
      },
  };
}

}  // namespace inferometer
