// The published traces, where they are on this machine: counts and sums counted by another program.

#include <cstdio>

#include "tests/support/catch.hpp"
#include "tests/unit/workloads/trace_test_support.hpp"
#include "workloads/trace_statistics.hpp"

using namespace inferometer;
using inferometer::test::TemporaryDirectory;

namespace {

const std::string kTraces = INFEROMETER_SHARED_DATA "/traces/";

bool is_missing(const std::string& path) {
  if (std::filesystem::exists(path)) {
    return false;
  }
  std::printf("skipped: no %s on this machine\n", path.c_str());
  return true;
}

struct Sums {
  std::int64_t requests = 0, prompt = 0, output = 0, hashes = 0;
  Duration last;
};

Sums sums_of(const std::string& path, const TraceOptions& options = {}) {
  const auto trace = open_trace(path, options);
  Sums sums;
  Request request;
  while (trace->next_arrival()) {
    trace->take(request);
    ++sums.requests;
    sums.prompt += request.prompt.count();
    sums.output += request.output.count();
    sums.hashes += static_cast<std::int64_t>(request.content.size());
    sums.last = request.arrival.since_start();
  }
  return sums;
}

}  // namespace

TEST_CASE("the Azure conversation trace of 2023", "[trace][shared]") {
  const std::string path = kTraces + "AzureLLMInferenceTrace_conv_2023.csv";
  if (is_missing(path)) {
    return;
  }
  const Sums sums = sums_of(path);
  CHECK(sums.requests == 19'366);
  CHECK(sums.prompt == 22'361'870);
  CHECK(sums.output == 4'088'665);
  // 18:15:46.6805900 to 19:14:08.4025270
  CHECK(sums.last == picoseconds(3'501'721'937'000'000));

  TraceOptions options;
  options.window_start = seconds(600);
  options.window_end = seconds(1'200);
  CHECK(sums_of(path, options).requests == 3'118);
}

TEST_CASE("the Mooncake conversation trace", "[trace][shared]") {
  const std::string path = kTraces + "mooncake_conversation_trace.jsonl";
  if (is_missing(path)) {
    return;
  }
  const Sums sums = sums_of(path);
  CHECK(sums.requests == 12'031);
  CHECK(sums.prompt == 144'793'823);
  CHECK(sums.output == 4'122'048);
  CHECK(sums.hashes == 288'500);
  const auto trace = open_trace(path, {});
  const TraceStatistics statistics = gather_statistics(*trace, trace->hash_block_tokens());
  const PrefixReuse& reuse = statistics.reuse;
  CHECK(reuse.references == 288'500);
  CHECK(reuse.references_seen == 105'710);
  CHECK(reuse.distinct == 182'790);
  CHECK(reuse.full_references == 276'491);
  CHECK(reuse.full_references_seen == 105'592);
  CHECK(sums.last == milliseconds(3'536'999));
}

TEST_CASE("the ShareGPT length pairs", "[trace][shared]") {
  const std::string path = kTraces + "nanoflow_sharegpt.csv";
  if (is_missing(path)) {
    return;
  }
  TraceOptions options;
  options.rate = PerSecond(10);
  const Sums sums = sums_of(path, options);
  CHECK(sums.requests == 58'787);
  CHECK(sums.prompt == 17'565'463);
  CHECK(sums.output == 19'030'929);
}
