#include "sim/report/trace/timeline_writer.hpp"

#include <string>
#include <utility>

#include "sim/report/trace/trace_event.hpp"
#include "sim/report/trace/trace_sink.hpp"

namespace inferometer {
namespace {

// Tracks in the order in which they stand in the file.
constexpr std::size_t kRequests = 0;
constexpr std::size_t kTransfers = 1;
constexpr std::size_t kFirstReplica = 2;

// All other events begin with a comma.
constexpr std::string_view kHead =
    "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"requests\"}}";
constexpr std::string_view kFoot = "\n]}\n";

std::vector<std::string> names_of(const std::vector<TraceReplica>& replicas) {
  std::vector<std::string> names;
  for (const TraceReplica& replica : replicas) {
    names.push_back(replica.name);
  }
  return names;
}

}  // namespace

TimelineWriter::TimelineWriter(const std::filesystem::path& file, std::vector<TraceReplica> replicas,
                               const TraceWindow& window)
    : file_(file),
      spool_(file, kFirstReplica + replicas.size()),
      events_(1),
      requests_(names_of(replicas), window, TraceSink(spool_, kRequests, events_)),
      transfers_(names_of(replicas), window, TraceSink(spool_, kTransfers, events_)) {
  TraceSink sink(spool_, kRequests, events_);
  sink.write(order_event(kRequestsThread));
  sink.write(name_event("thread_name", kRequestsThread, "requests"));
  replicas_.reserve(replicas.size());
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    replicas_.emplace_back(static_cast<std::int64_t>(i), std::move(replicas[i]), window,
                           TraceSink(spool_, kFirstReplica + i, events_));
  }
}

void TimelineWriter::on_arrival(const Request& request, std::int64_t /*waiting*/) {
  requests_.arrived(request);
}

void TimelineWriter::on_steps(const StepRecord& steps) {
  replicas_[static_cast<std::size_t>(steps.replica)].ran(steps);
}

void TimelineWriter::on_idle(const IdleRecord& idle) {
  replicas_[static_cast<std::size_t>(idle.replica)].idle(idle);
}

void TimelineWriter::finish(TimePoint end) {
  requests_.finish(end);
  transfers_.finish(end);
  for (ReplicaTrack& replica : replicas_) {
    replica.finish(end);
  }
  file_.stream() << kHead;
  spool_.write_to(file_.stream());
  file_.stream() << kFoot;
  file_.commit();
}

}  // namespace inferometer
