#include "sim/scenario/disaggregation.hpp"

#include <string>
#include <vector>

#include "sim/scenario/deployment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

using Transfer = DisaggregationSetup::Transfer;
using LocalPrefill = DisaggregationSetup::LocalPrefill;
using OnAbort = DisaggregationSetup::OnAbort;

DisaggregationSetup setup_of(const std::vector<std::string>& changes) {
  const std::string text =
      "model: llama-3-8b\nhardware: {gpu: h100-sxm}\n"
      "engine: {policy: disaggregated}\n"
      "cluster: {pools: {prefill: {engine: {max_num_batched_tokens: 4096}}, decode: {}}}\n"
      "workload: {preset: azure-conversation, rate: 1 req/s, requests: 10}\n";
  return *make_deployment(load_scenario_text(text, "a.yaml", {changes, {}})).cluster->disaggregation;
}

std::string mistake_of(const std::vector<std::string>& changes) {
  try {
    setup_of(changes);
  } catch (const ConfigError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    return error.diagnostics().front().message;
  }
  return "";
}

// Part 1.7 of the specification: who emits the first token, how KV goes, when a prompt stays.
TEST_CASE("each system does as it is known to do") {
  struct Known {
    std::string system;
    bool first_from_decode;
    Transfer transfer;
    bool decode_first;
    LocalPrefill local;
  };
  for (const Known& known : {Known{"vllm-nixl", true, Transfer::pull, false, LocalPrefill::never},
                             Known{"distserve", false, Transfer::pull, false, LocalPrefill::never},
                             Known{"splitwise", false, Transfer::push, false, LocalPrefill::never},
                             Known{"dynamo", true, Transfer::push, true, LocalPrefill::short_or_busy},
                             Known{"mooncake", false, Transfer::push, false, LocalPrefill::never},
                             Known{"tensorrt-llm", false, Transfer::pull, false, LocalPrefill::never}}) {
    const DisaggregationSetup setup = setup_of({"engine.system=" + known.system});
    CAPTURE(known.system);
    CHECK(setup.first_token_from_decode == known.first_from_decode);
    CHECK(setup.transfer == known.transfer);
    CHECK(setup.decode_first == known.decode_first);
    CHECK(setup.local_prefill == known.local);
    CHECK(setup.on_abort == OnAbort::recompute);
    CHECK(setup.overflow_tokens.has_value() == (known.system == "splitwise"));
    CHECK(setup.abort_after.has_value() == (known.system == "vllm-nixl"));
  }
  CHECK(disaggregated_systems().size() == 6);
  CHECK(setup_of({}).abort_after == seconds(480));  // VLLM_NIXL_ABORT_REQUEST_TIMEOUT; vLLM is the default
  CHECK(setup_of({"engine.system=splitwise"}).overflow_tokens == 8192);
  const DisaggregationSetup dynamo = setup_of({"engine.system=dynamo"});
  CHECK(dynamo.max_local_prefill_tokens == 1000);
  CHECK(dynamo.prefill_queue_limit == 2);
}

TEST_CASE("what is written goes over the system") {
  const DisaggregationSetup setup =
      setup_of({"engine.system=dynamo", "engine.kv_transfer=pull", "engine.first_token_from=prefill",
                "engine.hop=3 ms", "engine.abort_after=5 s", "engine.on_abort=lose",
                "engine.max_local_prefill_tokens=7", "engine.overflow_tokens=11"});
  CHECK(setup.transfer == Transfer::pull);
  CHECK_FALSE(setup.decode_first);  // the system's belongs to its push
  CHECK_FALSE(setup.first_token_from_decode);
  CHECK(setup.hop == milliseconds(3));
  CHECK(setup.abort_after == seconds(5));
  CHECK(setup.on_abort == OnAbort::lose);
  CHECK(setup.local_prefill == LocalPrefill::short_or_busy);
  CHECK(setup.max_local_prefill_tokens == 7);
  CHECK(setup.prefill_queue_limit == 2);
  CHECK(setup.overflow_tokens == 11);
}

TEST_CASE("each way to keep a prompt has its usual parameters, and no others") {
  const auto local = [](const std::string& mode) { return setup_of({"engine.local_prefill=" + mode}); };
  CHECK(local("short_prompt").max_local_prefill_tokens == 1000);
  CHECK(local("isl_bounding").max_local_prefill_tokens == 2048);
  CHECK(local("isl_bounding").local_share == 0.7);
  CHECK(local("prefill_load").prefill_load_tokens == 4096);  // one step of the prefill pool
  CHECK(local("isl_or_load").prefill_load_tokens == 4096);
  CHECK(setup_of({"engine.local_prefill=prefill_load", "engine.prefill_load_threshold=1.5"})
            .prefill_load_tokens == 6144);
  // Another way than Dynamo's takes none of Dynamo's numbers.
  CHECK(setup_of({"engine.system=dynamo", "engine.local_prefill=isl_bounding"}).max_local_prefill_tokens ==
        2048);
  CHECK(mistake_of({"engine.local_prefill=short_prompt", "engine.local_share=0.5"}) ==
        "\"engine.local_share\" goes with local_prefill isl_bounding or isl_or_load, not with short_prompt");
  CHECK(
      mistake_of({"engine.local_prefill=never", "engine.max_local_prefill_tokens=5"}) ==
      "\"engine.max_local_prefill_tokens\" goes with local_prefill short_prompt, short_or_busy, isl_bounding "
      "or isl_or_load, not with never");
}

TEST_CASE("blocks cannot be held first where the decode replica is chosen last") {
  check_says(mistake_of({"engine.decode_first=true"}), {"decode_first", "kv_transfer push"});
  CHECK(setup_of({"engine.decode_first=true", "engine.kv_transfer=push"}).decode_first);
}

}  // namespace
}  // namespace inferometer
