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

std::string phase(std::string_view name, std::int64_t id, TimePoint begin, TimePoint end) {
  return begin < end ? slice('b', name, id, begin).text() + slice('e', name, id, end).text() : "";
}

/// Of a prompt that the decode replica computes once more in part, for its first token.
std::string decode_with_first_token(const FinishedRequest& request, TimePoint begin) {
  return slice('b', "decode", request.id, begin).text() +
         slice('n', "first token", request.id, request.first_token).text() +
         slice('e', "decode", request.id, request.finished).text();
}

}  // namespace

void RequestSlices::arrived(const Request& request) {
  if (!window_.is_past(request.arrival)) {
    under_way_.emplace(request.id, UnderWay{request.arrival, request.prompt.count()});
  }
}

void RequestSlices::write(std::int64_t id, TimePoint left, const std::string& events) {
  if (left != left_) {
    flush();
    left_ = left;
  }
  leaving_.emplace(id, events);
}

void RequestSlices::flush() {
  for (const auto& [id, events] : leaving_) {
    sink_.write(events);
  }
  leaving_.clear();
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
  const TimePoint decode = prefill_end + request.handover;
  std::string events = begin.text();
  events += phase("queue", request.id, request.arrival, request.admitted);
  events += phase("prefill", request.id, request.admitted, prefill_end);
  events += phase("handover", request.id, prefill_end, decode);
  events += request.first_token != prefill_end ? decode_with_first_token(request, decode)
                                               : phase("decode", request.id, decode, request.finished);
  events += slice('e', kName, request.id, request.finished).text();
  write(request.id, request.finished, events);
}

void RequestSlices::rejected(const RejectedRequest& request) {
  under_way_.erase(request.id);
  if (window_.touches(request.arrival, request.rejected)) {
    TraceEvent begin = begin_of(request.id, request.arrival, request.prompt);
    begin.argument(request.is_lost ? "lost" : "rejected", request.reason);
    write(request.id, request.rejected,
          begin.text() + slice('e', kName, request.id, request.rejected).text());
  }
}

void RequestSlices::finish(TimePoint end) {
  flush();
  for (const auto& [id, request] : under_way_) {
    if (window_.touches(request.arrival, end)) {
      TraceEvent begin = begin_of(id, request.arrival, request.prompt);
      begin.argument("unfinished", "the run ended before it did");
      sink_.write(begin.text() + slice('e', kName, id, end).text());
    }
  }
  under_way_.clear();
}

}  // namespace inferometer
