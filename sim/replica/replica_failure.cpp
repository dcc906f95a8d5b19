// A replica breaks down.

#include <algorithm>

#include "sim/replica/replica.hpp"

namespace inferometer {

void Replica::fail(TimePoint now) {
  if (offload_) {
    settle_blocks(now, false);  // the step under way has had its blocks, and what was in them was copied
  }
  cut_off(now);
  if (running_) {
    for (const SequenceId id : plan_.decode_except) {
      state_.resume_decode(id);
    }
    running_.reset();
  }
  last_end_.reset();
  state_.stop_running();
  policy_->on_cleared();
  tell_idle(now);
}

std::vector<Evacuated> Replica::evacuate(TimePoint now) {
  std::vector<Evacuated> lost;
  for (const Sequence& s : store().sequences) {
    if (s.state != Sequence::State::gone && s.state != Sequence::State::handed_over) {
      Evacuated& one = lost.emplace_back();
      one.request = {.id = s.request_id,
                     .arrival = s.arrival,
                     .prompt = TokenCount(s.prompt),
                     .output = TokenCount(s.output),
                     .max_new = TokenCount(s.max_new),
                     .session = s.session,
                     .priority = s.priority};
      if (const PrefixCache* prefixes = store().pool.prefixes()) {
        const auto slot = static_cast<SequenceId>(&s - store().sequences.data());
        one.request.content = prefixes->content(slot);
        one.request.output_content = prefixes->output_content(slot);
      }
      one.retries = s.retries;
      one.emitted = s.emitted;
    }
  }
  std::sort(lost.begin(), lost.end(),
            [](const Evacuated& a, const Evacuated& b) { return a.request.id < b.request.id; });
  store().clear();
  loads_.clear();
  copied_at_ = now;
  if (offload_) {
    offload_->clear();
  }
  if (pipeline_) {
    pipeline_->clear(now);
  }
  tell_idle(now);
  return lost;
}

}  // namespace inferometer
