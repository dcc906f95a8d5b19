#include "sim/replica/observer.hpp"

#include <algorithm>
#include <vector>

namespace inferometer {
namespace {

void divide_queue(const StepRecord& record, StepRecord& step) {
  const Stretch& single = step.stretch;
  const auto is_before = [&](const QueueJoin& join) {
    return join.time < single.start() || (join.time == single.start() && !join.found_begun);
  };
  const bool is_first = single.start() == record.stretch.start();
  const bool is_last = single.end() == record.stretch.end();
  const auto from = is_first ? record.joined.begin()
                             : std::partition_point(record.joined.begin(), record.joined.end(), is_before);
  const auto to = std::partition_point(from, record.joined.end(),
                                       [&](const QueueJoin& join) { return join.time < single.end(); });
  step.joined = std::span(from, to);
  step.queued = record.queued + (from - record.joined.begin());
  step.waiting = is_last ? record.waiting : record.queued + (to - record.joined.begin());
}

}  // namespace

void visit_steps(const StepRecord& record, const std::function<void(const StepRecord&)>& visit) {
  const Stretch& stretch = record.stretch;
  std::vector<ChunkShape> chunks(record.shape.chunks.begin(), record.shape.chunks.end());
  StepShape shape = record.shape;
  shape.chunks = chunks;
  for (std::int64_t i = 0; i < stretch.steps(); ++i) {
    const bool is_first = i == 0;
    const TokenGap gap{stretch.time_at(i), record.decodes};
    const Stretch single(stretch.start() + stretch.time_of(i), stretch.first_cost() + stretch.growth() * i);
    StepRecord step{record.replica, record.lane, single, shape};
    step.decodes = record.decodes;
    step.prefill_tokens = record.prefill_tokens;
    step.emitted = record.emitted;
    step.drafted = record.drafted;
    step.running = record.running;
    step.kept_waiting = is_first ? record.kept_waiting : 0;
    divide_queue(record, step);
    step.preempted = is_first ? record.preempted : 0;
    step.swapped_out = is_first ? record.swapped_out : 0;
    step.swapped_in = record.swapped_in;
    step.held_blocks = BlockCount(record.held_during(i));
    step.gaps = is_first ? record.gaps : std::span(&gap, record.decodes > 0 ? 1 : 0);
    visit(step);
    shape.add_context(record.context_growth);
    for (ChunkShape& chunk : chunks) {
      chunk.past += chunk.tokens;
    }
  }
}

}  // namespace inferometer
