#include "sim/report/trace/request_slices.hpp"

#include "sim/report/trace/trace_event.hpp"
#include "sim/report/trace/trace_replica.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kCategory = "request";
// All have one name, as viewers make a group of tracks for each.
constexpr std::string_view kName = "request";

TraceEvent slice(char phase, std::string_view name, std::int64_t id, TimePoint time) {
  return TraceEvent(phase, kRequestsThread, name).at(time).in(kCategory, id);
}

TraceEvent begin_of(std::int64_t id, TimePoint arrival, std::int64_t prompt) {
  return slice('b', kName, id, arrival).argument("id", id).argument("prompt_tokens", prompt);
}

}  // namespace

void RequestSlices::arrived(const Request& request) {
  if (!window_.is_past(request.arrival)) {
    under_way_.emplace(request.id, UnderWay{request.arrival, request.prompt.count()});
  }
}

void RequestSlices::phase(std::string_view name, std::int64_t id, TimePoint begin, TimePoint end) {
  if (begin < end) {
    sink_.write(slice('b', name, id, begin).text());
    sink_.write(slice('e', name, id, end).text());
  }
}

void RequestSlices::finished(const FinishedRequest& request) {
  under_way_.erase(request.id);
  if (!window_.touches(request.arrival, request.finished)) {
    return;
  }
  const bool is_handed_over = request.prefill_replica >= 0;
  const TimePoint prefill_end = is_handed_over ? request.prefill_end : request.first_token;
  TraceEvent begin = begin_of(request.id, request.arrival, request.prompt);
  begin.argument("output_tokens", request.output)
      .argument("preemptions", request.preemptions)
      .argument("retries", request.retries)
      .argument("replica", name(request.replica));
  if (is_handed_over) {
    begin.argument("prefill_replica", name(request.prefill_replica));
  }
  sink_.write(begin.text());
  phase("queue", request.id, request.arrival, request.admitted);
  phase("prefill", request.id, request.admitted, prefill_end);
  phase("handover", request.id, prefill_end, prefill_end + request.handover);
  // What the decode replica computes again comes first in its phase.
  if (request.first_token != prefill_end) {
    const TimePoint decode = prefill_end + request.handover;
    sink_.write(slice('b', "decode", request.id, decode).text());
    sink_.write(slice('n', "first token", request.id, request.first_token).text());
    sink_.write(slice('e', "decode", request.id, request.finished).text());
  } else {
    phase("decode", request.id, prefill_end + request.handover, request.finished);
  }
  sink_.write(slice('e', kName, request.id, request.finished).text());
}

void RequestSlices::rejected(const RejectedRequest& request) {
  under_way_.erase(request.id);
  if (window_.touches(request.arrival, request.rejected)) {
    sink_.write(begin_of(request.id, request.arrival, request.prompt)
                    .argument(request.is_lost ? "lost" : "rejected", request.reason)
                    .text());
    sink_.write(slice('e', kName, request.id, request.rejected).text());
  }
}

void RequestSlices::finish(TimePoint end) {
  for (const auto& [id, request] : under_way_) {
    if (window_.touches(request.arrival, end)) {
      sink_.write(begin_of(id, request.arrival, request.prompt)
                      .argument("unfinished", "the run ended before it did")
                      .text());
      sink_.write(slice('e', kName, id, end).text());
    }
  }
  under_way_.clear();
}

}  // namespace inferometer
