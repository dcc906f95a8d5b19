#pragma once

#include <iosfwd>

#include "sim/metrics/recorder.hpp"

namespace inferometer {

/// Writes requests.csv: a header, then one row a request that finished or was rejected, by id. Times are
/// exact decimals of whole picoseconds (tpot_ms to the nearest). A rejected request has empty cells where it
/// has no value, as has tpot_ms of a request with one output token. O(n log n) for n requests; the rows are
/// streamed. Precondition: the recorder kept records.
///
///   id                    as in the trace, from 0 on
///   session               conversation it belongs to; empty without one, and when rejected
///   status                finished or rejected
///   arrival_s             seconds of simulated time
///   prompt_tokens, output_tokens
///   queue_ms              arrival to the start of the first step that ran it
///   ttft_ms, tpot_ms, e2el_ms
///   preemptions           how often it was
///
/// and of several replicas:
///
///   replica               that finished it
///   prefill_replica       that computed its prompt; empty when it was the same one
///   retries               how often it was begun anew, after failures
///   handover_ms           end of its prefill to its KV being on `replica`; empty without prefill_replica
void write_requests_csv(const MetricsRecorder& recorder, std::ostream& out);

}  // namespace inferometer
