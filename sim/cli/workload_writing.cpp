#include "sim/cli/workload_writing.hpp"

#include <cstdio>
#include <string>

#include "workloads/content_fields.hpp"

namespace inferometer {
namespace {

/// What the file written cannot hold.
class Losses {
 public:
  explicit Losses(TraceFileKind kind) : kind_(kind) {}

  void add(const Request& request) {
    const bool has_content = !request.content.empty() || request.output_content != 0;
    if (kind_ == TraceFileKind::inferometer_csv) {
      contents_ = contents_ || has_content;
    }
    if (kind_ == TraceFileKind::mooncake) {
      contents_ = contents_ || (has_content && !are_blocks(request));
      limits_ = limits_ || request.max_new != request.output;
      classes_ = classes_ || request.service_class != 0;
      priorities_ = priorities_ || request.priority != 0;
    }
  }

  void print() const {
    if (contents_ && kind_ == TraceFileKind::inferometer_csv) {
      say("what prompts consist of (--to jsonl keeps it)");
    } else if (contents_) {
      say("what prompts consist of other than blocks of 512 tokens (--to jsonl keeps it)");
    }
    if (limits_) {
      say("max_new_tokens (a Mooncake trace has no such member)");
    }
    if (classes_) {
      say("class (a Mooncake trace has no such member)");
    }
    if (priorities_) {
      say("priority (a Mooncake trace has no such member)");
    }
  }

 private:
  bool are_blocks(const Request& request) {
    ids_.clear();
    return request.output_content == 0 && append_hash_ids(request.content, kMooncakeBlockTokens, ids_);
  }

  static void say(const char* what) { std::fprintf(stderr, "left out: %s\n", what); }

  TraceFileKind kind_;
  std::string ids_;
  bool contents_ = false;
  bool limits_ = false;
  bool classes_ = false;
  bool priorities_ = false;
};

}  // namespace

std::int64_t write_requests(Workload& workload, TraceWriter& writer, TraceFileKind kind) {
  Losses losses(kind);
  Request request;
  std::int64_t count = 0;
  for (; workload.next_arrival(); ++count) {
    workload.take(request);
    writer.add(request, workload.delay());
    losses.add(request);
    workload.finished(request.id, request.arrival);
  }
  writer.finish();
  losses.print();
  return count;
}

}  // namespace inferometer
