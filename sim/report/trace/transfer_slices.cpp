#include "sim/report/trace/transfer_slices.hpp"

#include <algorithm>
#include <tuple>

#include "sim/report/trace/trace_event.hpp"
#include "sim/report/trace/trace_replica.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kCategory = "transfer";

std::string_view name_of(const TransferRecord& transfer) {
  return transfer.kind == TransferRecord::Kind::handover ? "KV handover" : "weights";
}

}  // namespace

void TransferSlices::ended(const TransferRecord& transfer) {
  if (network_ != nullptr && transfer.end - looked_ >= kLinkPeriod) {
    look_at_links(transfer.end);
  }
  if (!ended_.empty() && ended_.front().end != transfer.end) {
    flush();
  }
  ended_.push_back(transfer);
}

void TransferSlices::flush() {
  const auto key = [](const TransferRecord& one) {
    return std::tuple(one.start, one.kind, one.request, one.from, one.to, one.bytes, one.is_cancelled);
  };
  std::sort(ended_.begin(), ended_.end(),
            [&](const TransferRecord& a, const TransferRecord& b) { return key(a) < key(b); });
  for (const TransferRecord& transfer : ended_) {
    show(transfer);
  }
  ended_.clear();
}

void TransferSlices::show(const TransferRecord& transfer) {
  const std::int64_t id = transfers_++;
  if (!window_.touches(transfer.start, transfer.end)) {
    return;
  }
  name_process();
  const auto replica = [&](std::int32_t number) -> std::string_view {
    return number < 0 ? "storage" : std::string_view(replicas_[static_cast<std::size_t>(number)]);
  };
  TraceEvent begin('b', kTransfersThread, name_of(transfer));
  begin.at(transfer.start).in(kCategory, id);
  if (transfer.request >= 0) {
    begin.argument("request", transfer.request);
  }
  begin.argument("from", replica(transfer.from)).argument("to", replica(transfer.to));
  begin.argument("bytes", transfer.bytes.count());
  if (transfer.is_cancelled) {
    begin.argument("cancelled", "before all of it was there");
  }
  sink_.write(begin.text());
  sink_.write(TraceEvent('e', kTransfersThread, name_of(transfer)).at(transfer.end).in(kCategory, id).text());
}

void TransferSlices::name_process() {
  if (!is_named_) {
    is_named_ = true;
    sink_.write(name_event("process_name", kTransfersThread, "transfers"));
    sink_.write(order_event(kTransfersThread));
    sink_.write(name_event("thread_name", kTransfersThread, "transfers"));
  }
}

void TransferSlices::look_at_links(TimePoint now) {
  const std::vector<LinkUse> uses = network_->link_use(now);
  links_.resize(uses.size());
  const double seconds = to_seconds(now - looked_);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    Carried& link = links_[i];
    const std::int64_t bytes = uses[i].bytes.count() - link.bytes;
    link.bytes = uses[i].bytes.count();
    if (window_.touches(looked_, now) && (bytes > 0 || link.is_shown)) {
      link.is_shown = bytes > 0;
      link.name = uses[i].name;
      show_link(looked_, link.name, static_cast<double>(bytes) / (uses[i].capacity.count() * seconds));
    }
  }
  looked_ = now;
}

void TransferSlices::show_link(TimePoint time, const std::string& name, double share) {
  name_process();
  sink_.write(TraceEvent('C', kTransfersThread, name + ", %").at(time).percentage("used", share).text());
}

void TransferSlices::finish(TimePoint end) {
  flush();
  if (network_ != nullptr && transfers_ > 0 && end > looked_) {
    look_at_links(end);
  }
  for (const Carried& link : links_) {
    if (link.is_shown && !window_.is_past(end)) {
      show_link(end, link.name, 0);
    }
  }
}

}  // namespace inferometer
