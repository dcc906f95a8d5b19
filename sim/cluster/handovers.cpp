#include "sim/cluster/handovers.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "base/int128.hpp"

namespace inferometer {

Handovers::Handovers(const ClusterSetup& setup, EngineControl& control, Fleet& fleet, Timers& timers,
                     Transfers& transfers, ClusterTotals& totals)
    : setup_(setup),
      control_(control),
      fleet_(fleet),
      timers_(timers),
      transfers_(transfers),
      totals_(totals),
      longest_(std::numeric_limits<std::int64_t>::max()) {
  for (const PoolSetup& pool : setup.pools) {
    const bool may_decode =
        pool.role == PoolRole::decode || (pool.role == PoolRole::prefill && setup.dynamic_split.has_value());
    if (may_decode) {
      longest_ = std::min(longest_, pool.max_model_len);
    }
  }
}

void Handovers::begin(const Attempt& attempt, std::int32_t prefill) {
  Journey journey;
  journey.attempt = attempt;
  journey.order = begun_++;
  journey.prefill = prefill;
  Journey& kept = journeys_.insert_or_assign(attempt.request.id, std::move(journey)).first->second;
  if (pushes()) {
    attach_decode(kept);
  }
  fleet_.sent(prefill);
  if (pushes() && split().decode_first) {
    ++between_;
  } else {
    queue_prompt(kept);
  }
}

void Handovers::queue_prompt(Journey& journey) {
  journey.is_queued = true;
  control_.interrupt(journey.prefill, false);
  control_.lanes(journey.prefill)
      .front()
      .enqueue_prompt(journey.attempt.request, journey.attempt.retries, pushes());
  control_.look_for_work(journey.prefill);
}

void Handovers::attach_decode(Journey& journey) {
  if (fleet_.candidates(PoolRole::decode).empty()) {
    return;
  }
  journey.decode = fleet_.choose(PoolRole::decode, journey.attempt.request, control_.now());
  control_.interrupt(journey.decode, true);
  Replica& replica = control_.lanes(journey.decode).front();
  journey.at_decode = replica.expect(
      journey.attempt.request, {journey.order, split().first_token_from_decode, journey.attempt.retries});
  fleet_.sent(journey.decode);
  if (journey.is_delivered) {
    replica.store().prompt_computed(journey.at_decode, *journey.result);
  }
  control_.look_for_work(journey.decode);
}

void Handovers::prompt_done(const HandOver& done) {
  Journey& journey = journeys_.at(done.request_id);
  fleet_.left(journey.prefill, 1);
  ++between_;
  journey.at_prefill = done.sequence;
  journey.result = done.result;
  const Request& request = journey.attempt.request;
  const std::int64_t output = std::min(request.output.count(), longest_ - request.prompt.count());
  if (output == 1 && !split().first_token_from_decode) {
    finish_at_prefill(journey);
    return;
  }
  // No request is there when time ends.
  constexpr TimePoint kEnd(seconds(static_cast<std::int64_t>(kEndOfTimeSeconds)));
  if (split().abort_after && *split().abort_after < kEnd - control_.now()) {
    timers_.set(control_.now() + *split().abort_after, {Timer::Kind::abort, request.id, journey.order});
  }
  if (split().hop > Duration()) {
    timers_.set(control_.now() + split().hop, {Timer::Kind::deliver, request.id, journey.order});
  } else {
    deliver(journey);
  }
}

void Handovers::deliver(Journey& journey) {
  journey.is_delivered = true;
  journey.bytes_there = bytes_of(journey, journey.attempt.request.prompt.count());
  if (journey.decode < 0) {
    attach_decode(journey);
  } else {
    control_.lanes(journey.decode).front().store().prompt_computed(journey.at_decode, *journey.result);
    if (journey.has_blocks) {
      control_.load_changed(journey.decode);
    } else {
      control_.look_for_work(journey.decode);
    }
  }
  send(journey);
}

void Handovers::blocks_taken(const LoadStart& start) {
  Journey& journey = journeys_.at(start.request_id);
  INFEROMETER_CHECK(journey.at_decode == start.sequence, "blocks are taken for what is expected");
  journey.has_blocks = true;
  journey.bytes_sent = bytes_of(journey, start.cached_tokens);
  totals_.tokens_not_sent += start.cached_tokens;
  if (!journey.is_queued) {
    --between_;
    queue_prompt(journey);
  }
  send(journey);
}

void Handovers::blocks_taken_back(const LoadStart& taken) {
  Journey& journey = journeys_.at(taken.request_id);
  cancel_transfer(journey);
  journey.has_blocks = false;
  journey.bytes_sent = 0;
}

// The layers of a chunk are there one after the other while it is computed: all but the last are sent from
// the moment when the first is there, and the last one when the chunk, or the one after it, has come so far.
void Handovers::chunk_begun(const PushedChunk& chunk, Duration step) {
  const Journey& journey = journeys_.at(chunk.request_id);
  const std::int64_t layers = fleet_.pool(journey.prefill).layers;
  const std::int64_t last_layer = bytes_of(journey, chunk.tokens) / layers;
  timers_.set(control_.now() + Duration(step.count() / layers),
              {Timer::Kind::push, chunk.request_id, journey.order,
               bytes_of(journey, chunk.past + chunk.tokens) - last_layer});
}

void Handovers::send(Journey& journey) {
  if (!journey.has_blocks || journey.transfer) {
    return;
  }
  if (journey.bytes_there > journey.bytes_sent) {
    const Bytes bytes(journey.bytes_there - journey.bytes_sent);
    journey.bytes_sent = journey.bytes_there;
    ++totals_.transfers;
    totals_.transferred += bytes;
    journey.transfer =
        transfers_.start({TransferPurpose::Kind::handover, journey.attempt.request.id, journey.order},
                         {journey.prefill, fleet_.places(journey.prefill)},
                         {journey.decode, fleet_.places(journey.decode)}, bytes);
    if (journey.transfer) {
      return;
    }
  }
  if (journey.is_delivered) {
    arrive(journey);
  }
}

void Handovers::transfer_ended(const TransferPurpose& purpose) {
  Journey* const journey = find(purpose.key, purpose.value);
  INFEROMETER_CHECK(journey != nullptr, "a transfer that nobody needs is cancelled");
  journey->transfer.reset();
  send(*journey);
}

void Handovers::arrive(Journey& journey) {
  control_.interrupt(journey.decode, true);
  control_.lanes(journey.decode).front().store().loaded(journey.at_decode, control_.now());
  control_.look_for_work(journey.decode);
  release_prefill(journey);
  ++totals_.handed_over;
  totals_.discarded_tokens += split().first_token_from_decode ? 1 : 0;
  --between_;
  end(journey);
}

void Handovers::finish_at_prefill(Journey& journey) {
  const Request& request = journey.attempt.request;
  const PromptResult& result = *journey.result;
  control_.observer().on_finished(
      {.id = request.id,
       .session = request.session,
       .arrival = request.arrival,
       .admitted = result.admitted,
       .first_token = result.first_token,
       .finished = result.first_token,
       .prompt = request.prompt.count(),
       .output = 1,
       .preemptions = result.preemptions,
       .max_new = std::min(request.max_new.count(), longest_ - request.prompt.count()),
       .replica = journey.prefill,
       .prefill_replica = -1,
       .retries = journey.attempt.retries,
       .handover = Duration(),
       .prefill_end = result.first_token});
  ++totals_.completed;
  cancel_transfer(journey);
  forget_decode(journey);
  release_prefill(journey);
  --between_;
  control_.leave(request.id);
  end(journey);
}

void Handovers::timer(const Timer& timer) {
  Journey* const journey = find(timer.key, timer.value);
  if (journey == nullptr) {
    return;
  }
  if (timer.kind == Timer::Kind::deliver) {
    deliver(*journey);
  } else if (timer.kind == Timer::Kind::push) {
    journey->bytes_there = std::max(journey->bytes_there, timer.bytes);
    send(*journey);
  } else {
    abort(*journey);
  }
}

void Handovers::abort(Journey& journey) {
  ++totals_.aborts;
  const bool is_recomputed =
      split().on_abort == DisaggregationSetup::OnAbort::recompute && journey.decode >= 0;
  if (!is_recomputed) {
    lose(journey, "nobody fetched its KV cache in time");
    return;
  }
  cancel_transfer(journey);
  control_.interrupt(journey.decode, true);
  SequenceStore& store = control_.lanes(journey.decode).front().store();
  if (!journey.is_delivered) {
    store.prompt_computed(journey.at_decode, *journey.result);
  }
  store.recompute(journey.at_decode);
  totals_.discarded_tokens += split().first_token_from_decode ? 1 : 0;
  control_.look_for_work(journey.decode);
  release_prefill(journey);
  --between_;
  end(journey);
}

void Handovers::lose(Journey& journey, std::string_view reason) {
  const Request& request = journey.attempt.request;
  cancel_transfer(journey);
  forget_decode(journey);
  if (journey.is_queued) {
    release_prefill(journey);
    ++totals_.lost_tokens;
  } else {
    fleet_.left(journey.prefill, 1);
  }
  ++totals_.lost;
  --between_;
  control_.give_up(request, reason, true);
  end(journey);
}

std::vector<Attempt> Handovers::prefill_failed(std::int32_t replica) {
  std::vector<std::pair<std::int64_t, std::int64_t>> lost;  // order, request
  for (const auto& [id, journey] : journeys_) {
    if (journey.prefill == replica) {
      lost.emplace_back(journey.order, id);
    }
  }
  std::sort(lost.begin(), lost.end());
  std::vector<Attempt> attempts;
  for (const auto& [order, id] : lost) {
    Journey& journey = journeys_.at(id);
    cancel_transfer(journey);
    forget_decode(journey);
    between_ -= journey.result || !journey.is_queued ? 1 : 0;
    totals_.lost_tokens += journey.result ? 1 : 0;
    fleet_.left(replica, journey.result ? 0 : 1);
    attempts.push_back(journey.attempt);
    end(journey);
  }
  return attempts;
}

bool Handovers::decode_failed(std::int64_t request_id, std::int32_t replica) {
  const auto place = journeys_.find(request_id);
  if (place == journeys_.end() || place->second.decode != replica) {
    return false;
  }
  Journey& journey = place->second;
  cancel_transfer(journey);
  fleet_.left(replica, 1);
  journey.decode = -1;
  journey.at_decode = kNoSequence;
  journey.has_blocks = false;
  journey.bytes_sent = 0;
  if (pushes() || journey.is_delivered) {
    attach_decode(journey);
  }
  return true;
}

void Handovers::decode_available() {
  for (const std::int64_t request : unattached()) {
    attach_decode(journeys_.at(request));
  }
}

void Handovers::lose_unattached(std::string_view reason, const std::function<bool(std::int32_t)>& is_lost) {
  for (const std::int64_t request : unattached()) {
    Journey& journey = journeys_.at(request);
    if ((journey.is_delivered || !journey.is_queued) && is_lost(journey.prefill)) {
      lose(journey, reason);
    }
  }
}

std::vector<std::int64_t> Handovers::unattached() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> ordered;  // order, request
  for (const auto& [id, journey] : journeys_) {
    if (journey.decode < 0 && (pushes() || journey.is_delivered)) {
      ordered.emplace_back(journey.order, id);
    }
  }
  std::sort(ordered.begin(), ordered.end());
  std::vector<std::int64_t> requests;
  for (const auto& [order, id] : ordered) {
    requests.push_back(id);
  }
  return requests;
}

Handovers::Journey* Handovers::find(std::int64_t request_id, std::int64_t order) {
  const auto place = journeys_.find(request_id);
  return place != journeys_.end() && place->second.order == order ? &place->second : nullptr;
}

std::int64_t Handovers::bytes_of(const Journey& journey, std::int64_t tokens) const {
  return fleet_.pool(journey.prefill).kv_bytes_per_token.count() * tokens;
}

void Handovers::cancel_transfer(Journey& journey) {
  if (journey.transfer) {
    transfers_.cancel(*journey.transfer);
    journey.transfer.reset();
  }
}

void Handovers::release_prefill(const Journey& journey) {
  control_.interrupt(journey.prefill, true);
  control_.lanes(journey.prefill).front().store().release(journey.at_prefill);
  control_.look_for_work(journey.prefill);
}

void Handovers::forget_decode(Journey& journey) {
  if (journey.decode < 0) {
    return;
  }
  control_.interrupt(journey.decode, true);
  control_.lanes(journey.decode).front().store().forget(journey.at_decode);
  fleet_.left(journey.decode, 1);
  control_.look_for_work(journey.decode);
}

void Handovers::end(const Journey& journey) {
  journeys_.erase(journey.attempt.request.id);
}

}  // namespace inferometer
