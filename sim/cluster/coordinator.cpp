#include "sim/cluster/coordinator.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kTooLong = "the prompt leaves no room for a token in max_model_len";
constexpr std::string_view kNobodyThere = "no replica was there to take it";
constexpr std::string_view kFull = "the cluster had as many requests as admission allows";
constexpr std::string_view kTooLate = "its first token was foreseen to come later than admission allows";
constexpr std::string_view kReplicaFailed = "the replica that had it failed";

std::int32_t replicas_of(const ClusterSetup& setup) {
  std::int32_t replicas = 0;
  for (const PoolSetup& pool : setup.pools) {
    replicas += pool.replicas;
  }
  return replicas;
}

}  // namespace

Coordinator::Coordinator(std::shared_ptr<const ClusterSetup> setup, EngineControl& control)
    : setup_(std::move(setup)),
      control_(control),
      loads_(control, replicas_of(*setup_)),
      fleet_(*setup_, *this, *this),
      timers_(control),
      transfers_(setup_->make_network ? setup_->make_network() : nullptr, control),
      upkeep_(*setup_, control, fleet_, timers_, transfers_, totals_, *this) {
  if (setup_->disaggregation) {
    handovers_.emplace(*setup_, control, fleet_, timers_, transfers_, totals_);
  }
}

void Coordinator::begin() {
  for (std::int32_t replica = 0; replica < fleet_.replicas(); ++replica) {
    if (PrefixCache* const cache = control_.lanes(replica).front().store().pool.prefixes()) {
      fleet_.follow(replica, *cache);
    }
  }
  upkeep_.begin();
}

void Coordinator::arrive(const Request& request) {
  if (!has_begun_) {
    has_begun_ = true;
    fleet_.start_paying(control_.now());
  }
  upkeep_.request_came();
  place({request, 0});
}

void Coordinator::place(const Attempt& attempt) {
  if (missing_role()) {
    hold(attempt);
  } else if (handovers_) {
    place_split(attempt);
  } else {
    place_whole(attempt, fleet_.choose(PoolRole::mixed, attempt.request, control_.now()));
  }
}

void Coordinator::place_whole(const Attempt& attempt, std::int32_t replica) {
  const Request& request = attempt.request;
  const bool is_too_long = !control_.lanes(replica).front().accepts(request);
  const std::string_view refused = attempt.retries == 0 ? reason_to_refuse(request, replica) : "";
  if (is_too_long || !refused.empty()) {
    reject(request, is_too_long ? kTooLong : refused);
    return;
  }
  totals_.retries += attempt.retries > 0 ? 1 : 0;
  control_.interrupt(replica, false);
  control_.lanes(replica).front().enqueue(request, attempt.retries);
  fleet_.sent(replica);
  control_.look_for_work(replica);
}

void Coordinator::place_split(const Attempt& attempt) {
  const Request& request = attempt.request;
  const std::int32_t prefill = fleet_.choose(PoolRole::prefill, request, control_.now());
  // Whoever counts what the decode replica has cached has to choose it first.
  const bool counts_cached = setup_->disaggregation->counts_cached_tokens() && !request.content.empty();
  const std::int32_t decode = counts_cached ? fleet_.choose(PoolRole::decode, request, control_.now()) : -1;
  if (is_prefilled_locally(request, prefill, counts_cached ? control_.cached_tokens(decode, request) : 0)) {
    ++totals_.local_prefills;
    place_whole(attempt, counts_cached ? decode : fleet_.choose(PoolRole::decode, request, control_.now()));
    return;
  }
  if (const std::optional<std::int32_t> other = overflow(request)) {
    ++totals_.local_prefills;
    place_whole(attempt, *other);
    return;
  }
  const bool is_too_long =
      request.prompt.count() >= handovers_->longest() || !control_.lanes(prefill).front().accepts(request);
  const std::string_view refused = attempt.retries == 0 ? reason_to_refuse(request, prefill) : "";
  if (is_too_long || !refused.empty()) {
    reject(request, is_too_long ? kTooLong : refused);
    return;
  }
  totals_.retries += attempt.retries > 0 ? 1 : 0;
  handovers_->begin(attempt, prefill);
}

bool Coordinator::is_prefilled_locally(const Request& request, std::int32_t prefill,
                                       std::int64_t cached_tokens) const {
  using LocalPrefill = DisaggregationSetup::LocalPrefill;
  const DisaggregationSetup& split = *setup_->disaggregation;
  const std::int64_t prompt = request.prompt.count();
  const std::int64_t left = prompt - cached_tokens;
  const bool is_bounded = left < split.max_local_prefill_tokens &&
                          static_cast<double>(left) < split.local_share * static_cast<double>(prompt);
  const auto is_loaded = [&] { return load(prefill).prefill_tokens > split.prefill_load_tokens; };
  switch (split.local_prefill) {
    case LocalPrefill::never:
      return false;
    case LocalPrefill::short_prompt:
      return left <= split.max_local_prefill_tokens;
    case LocalPrefill::short_or_busy:
      return left <= split.max_local_prefill_tokens || load(prefill).waiting >= split.prefill_queue_limit;
    case LocalPrefill::isl_bounding:
      return is_bounded;
    case LocalPrefill::prefill_load:
      return is_loaded();
    case LocalPrefill::isl_or_load:
      return is_bounded || is_loaded();
  }
  return false;
}

// Splitwise: when every prefill replica has too much to do, the mixed pool helps out, and when that has, too,
// the decode replica with the least to do.
std::optional<std::int32_t> Coordinator::overflow(const Request& request) {
  const std::optional<std::int64_t> limit = setup_->disaggregation->overflow_tokens;
  const auto is_above = [&](std::int32_t replica) { return load(replica).prefill_tokens > *limit; };
  const auto all_above = [&](PoolRole role) {
    const auto replicas = fleet_.candidates(role);
    return std::all_of(replicas.begin(), replicas.end(), is_above);
  };
  if (!limit || !all_above(PoolRole::prefill)) {
    return std::nullopt;
  }
  if (!all_above(PoolRole::mixed)) {
    return fleet_.choose(PoolRole::mixed, request, control_.now());
  }
  const auto decode = fleet_.candidates(PoolRole::decode);
  return *std::min_element(decode.begin(), decode.end(), [&](std::int32_t a, std::int32_t b) {
    return load(a).prefill_tokens < load(b).prefill_tokens;
  });
}

std::optional<PoolRole> Coordinator::missing_role() const {
  if (!handovers_) {
    return fleet_.candidates(PoolRole::mixed).empty() ? std::optional(PoolRole::mixed) : std::nullopt;
  }
  for (const PoolRole role : {PoolRole::prefill, PoolRole::decode}) {
    if (fleet_.candidates(role).empty()) {
      return role;
    }
  }
  return std::nullopt;
}

std::string_view Coordinator::reason_to_refuse(const Request& request, std::int32_t replica) const {
  const AdmissionSetup& admission = setup_->admission;
  if (admission.max_outstanding) {
    const PoolRole role = handovers_ ? PoolRole::decode : PoolRole::mixed;
    const auto replicas = static_cast<std::int64_t>(fleet_.candidates(role).size());
    const std::int64_t others = control_.in_system() - 1;
    if (others >= *admission.max_outstanding * replicas) {
      return kFull;
    }
  }
  if (admission.ttft) {
    const std::int64_t tokens =
        load(replica).prefill_tokens + request.prompt.count() - cached_tokens(replica, request);
    const double foreseen = static_cast<double>(tokens) / fleet_.pool(replica).prefill_tokens_per_second;
    if (foreseen > to_seconds(*admission.ttft)) {
      return kTooLate;
    }
  }
  return "";
}

void Coordinator::hold(const Attempt& attempt) {
  held_.push_back(attempt);
  place_held();
}

void Coordinator::place_held() {
  while (!held_.empty()) {
    const std::optional<PoolRole> missing = missing_role();
    if (missing && upkeep_.may_come(*missing)) {
      return;
    }
    const Attempt attempt = std::move(held_.front());
    held_.pop_front();
    if (missing) {
      reject(attempt.request, kNobodyThere);
    } else {
      place(attempt);
    }
  }
}

// A replica that is to decode itself once it has drained would wait for ever for its prompts to be fetched.
void Coordinator::give_up_without_decode() {
  if (handovers_ && fleet_.candidates(PoolRole::decode).empty()) {
    const bool may_come = upkeep_.may_come(PoolRole::decode);
    handovers_->lose_unattached(
        kNobodyThere, [&](std::int32_t prefill) { return !may_come || upkeep_.goes_over(prefill); });
  }
}

void Coordinator::reject(const Request& request, std::string_view reason) {
  ++totals_.rejected;
  control_.give_up(request, reason, false);
}

void Coordinator::retry_or_lose(const Attempt& attempt, std::int64_t emitted) {
  totals_.lost_tokens += emitted;
  if (setup_->failures.retry) {
    place({attempt.request, attempt.retries + 1});
    return;
  }
  ++totals_.lost;
  control_.give_up(attempt.request, kReplicaFailed, true);
}

void Coordinator::steps_ended(std::int32_t replica, const Replica& lane) {
  loads_.changed(replica);
  if (!lane.departed().empty()) {
    fleet_.left(replica, static_cast<std::int64_t>(lane.departed().size()));
  }
  for (const HandOver& done : lane.handed_over()) {
    handovers_->prompt_done(done);
  }
  if (!lane.handed_over().empty()) {
    give_up_without_decode();
    upkeep_.look_at_draining();
  }
  upkeep_.look_at(replica);
}

void Coordinator::steps_begun(std::int32_t replica, const Replica& lane) {
  loads_.changed(replica);
  for (const LoadStart& taken : lane.taken_back()) {
    handovers_->blocks_taken_back(taken);
  }
  if (!lane.departed().empty()) {
    fleet_.left(replica, static_cast<std::int64_t>(lane.departed().size()));
  }
  for (const LoadStart& start : lane.load_starts()) {
    handovers_->blocks_taken(start);
  }
  for (const PushedChunk& chunk : lane.pushed()) {
    handovers_->chunk_begun(chunk, *lane.running_until() - control_.now());
  }
  if (!lane.load_starts().empty()) {
    upkeep_.look_at_draining();
  }
  if (!lane.departed().empty()) {
    upkeep_.look_at(replica);
  }
}

void Coordinator::timer(std::uint32_t number) {
  const Timer timer = timers_.take(number);
  switch (timer.kind) {
    case Timer::Kind::deliver:
    case Timer::Kind::push:
    case Timer::Kind::abort:
      handovers_->timer(timer);
      break;
    default:
      upkeep_.timer(timer);
      place_held();
      break;
  }
  give_up_without_decode();
  upkeep_.look_at_draining();
}

void Coordinator::transfers_ended() {
  for (const TransferPurpose& purpose : transfers_.ended(control_.now())) {
    if (purpose.kind == TransferPurpose::Kind::handover) {
      handovers_->transfer_ended(purpose);
    } else {
      upkeep_.weights_loaded(purpose);
    }
  }
  upkeep_.look_at_draining();
}

ReplicaLoad Coordinator::load(std::int32_t replica) const {
  ReplicaLoad load = loads_.load(replica);
  load.outstanding = fleet_.outstanding(replica);
  return load;
}

std::int64_t Coordinator::cached_tokens(std::int32_t replica, const Request& request) const {
  return control_.cached_tokens(replica, request);
}

void Coordinator::replica_failed(std::int32_t replica) {
  struct Loss {
    Attempt attempt;
    std::int64_t emitted = 0;
  };
  std::vector<Loss> losses;
  std::vector<Evacuated> evacuated = control_.fail(replica);
  if (handovers_) {
    std::erase_if(evacuated,
                  [&](const Evacuated& one) { return handovers_->decode_failed(one.request.id, replica); });
    std::vector<std::int64_t> begun;
    for (Attempt& attempt : handovers_->prefill_failed(replica)) {
      begun.push_back(attempt.request.id);
      losses.push_back({std::move(attempt), 0});
    }
    std::sort(begun.begin(), begun.end());
    std::erase_if(evacuated, [&](const Evacuated& one) {
      return std::binary_search(begun.begin(), begun.end(), one.request.id);
    });
  }
  fleet_.left(replica, static_cast<std::int64_t>(evacuated.size()));
  for (Evacuated& one : evacuated) {
    losses.push_back({{std::move(one.request), one.retries}, one.emitted});
  }
  std::sort(losses.begin(), losses.end(),
            [](const Loss& a, const Loss& b) { return a.attempt.request.id < b.attempt.request.id; });
  for (const Loss& loss : losses) {
    retry_or_lose(loss.attempt, loss.emitted);
  }
  place_held();
}

void Coordinator::replica_up(std::int32_t replica) {
  if (handovers_ && fleet_.role(replica) == PoolRole::decode) {
    handovers_->decode_available();
  }
  place_held();
}

std::int64_t Coordinator::held(PoolRole role) const {
  const bool is_needed = handovers_.has_value() == (role != PoolRole::mixed);
  const std::size_t arrived = is_needed ? held_.size() : 0;
  const bool may_lack = handovers_ && role == PoolRole::decode && fleet_.candidates(role).empty();
  return static_cast<std::int64_t>(arrived + (may_lack ? handovers_->unattached().size() : 0));
}

}  // namespace inferometer
