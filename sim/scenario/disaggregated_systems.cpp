// Where nothing else is said, a setting is that of the system's source code as of late 2026. The hop, from
// the end of a prefill to the decode engine's queue, is nobody's published figure: 1 ms, a request to a
// process on another machine, is assumed where a proxy or a coordinator stands between the two, 0 where one
// process holds both ends.

#include "sim/scenario/disaggregation.hpp"

namespace inferometer {
namespace {

/// NixlConnector and its toy proxy: the prefill engine is asked for one token, which is thrown away; its
/// blocks wait until the decode engine has read them, 480 s at most (VLLM_NIXL_ABORT_REQUEST_TIMEOUT, 120 at
/// first). A decode engine that holds the whole prompt steps back by one token and computes it again.
DisaggregatedSystem vllm_nixl() {
  return {"vllm-nixl",
          "vLLM with NixlConnector: the decode engine reads the blocks of a finished prompt and computes the "
          "first token "
          "itself",
          {{"first_token_from", "decode"},
           {"kv_transfer", "pull"},
           {"hop", "1 ms"},
           {"abort_after", "480 s"},
           {"on_abort", "recompute"},
           {"local_prefill", "never"}}};
}

/// OSDI 2024 and its repository: the context engine emits the first token; a request migrates once the
/// decoding engine accepts it, blocks first.
DisaggregatedSystem distserve() {
  return {
      "distserve",
      "DistServe: the context engine emits the first token, the decoding engine fetches the blocks when it "
      "has room",
      {{"first_token_from", "prefill"},
       {"kv_transfer", "pull"},
       {"hop", "0 ms"},
       {"on_abort", "recompute"},
       {"local_prefill", "never"}}};
}

/// ISCA 2024: machines for prompt and token are assigned together, the KV cache goes over layer by layer
/// while the prompt is computed. Above 8,192 pending prompt tokens (prompt_max_pending_batch_tokens of
/// splitwise-sim's mixed pool) a prompt goes to the mixed pool.
DisaggregatedSystem splitwise() {
  return {
      "splitwise",
      "Splitwise: both machines are chosen on arrival, KV goes over layer by layer, crowded prompt machines "
      "overflow into a mixed pool",
      {{"first_token_from", "prefill"},
       {"kv_transfer", "push"},
       {"decode_first", "false"},
       {"hop", "0 ms"},
       {"on_abort", "recompute"},
       {"local_prefill", "never"},
       {"overflow_tokens", "8192"}}};
}

/// The decode worker gets the request, allocates blocks and queues a remote prefill that writes into
/// them,
/// but for prompts of up to max_local_prefill_length (1000) or when 2 prefills are queued already
/// (max_prefill_queue_size); like vLLM it computes the last prompt token again.
DisaggregatedSystem dynamo() {
  return {
      "dynamo",
      "NVIDIA Dynamo: the decode worker holds blocks first and the prefill worker writes into them; short "
      "prompts, and those that would queue, are computed where they are decoded",
      {{"first_token_from", "decode"},
       {"kv_transfer", "push"},
       {"decode_first", "true"},
       {"hop", "1 ms"},
       {"on_abort", "recompute"},
       {"local_prefill", "short_or_busy"},
       {"max_local_prefill_tokens", "1000"},
       {"prefill_queue_limit", "2"}}};
}

/// FAST 2025: the conductor chooses a pair, the prefill node streams each layer's KV to the decode node.
DisaggregatedSystem mooncake() {
  return {
      "mooncake",
      "Mooncake: a conductor chooses both nodes on arrival and each layer's KV streams over while the next "
      "is "
      "computed",
      {{"first_token_from", "prefill"},
       {"kv_transfer", "push"},
       {"decode_first", "false"},
       {"hop", "1 ms"},
       {"on_abort", "recompute"},
       {"local_prefill", "never"}}};
}

/// The context server answers with the first token and what the generation server needs to fetch the KV.
/// max_local_prefill_length is 0: every prompt without a cached part is computed remotely.
DisaggregatedSystem tensorrt_llm() {
  return {"tensorrt-llm",
          "TensorRT-LLM: the context server emits the first token, the generation server then fetches the KV "
          "cache",
          {{"first_token_from", "prefill"},
           {"kv_transfer", "pull"},
           {"hop", "1 ms"},
           {"on_abort", "recompute"},
           {"local_prefill", "never"}}};
}

}  // namespace

const std::vector<DisaggregatedSystem>& disaggregated_systems() {
  static const std::vector<DisaggregatedSystem> systems = {vllm_nixl(), distserve(), splitwise(),
                                                           dynamo(),    mooncake(),  tensorrt_llm()};
  return systems;
}

}  // namespace inferometer
