// The flags of `vllm serve`, of versions 0.6 to 0.15, December 2026:
// https://docs.vllm.ai/en/v0.6.3.post1/models/engine_args.html,
// .../v0.8.5/serving/engine_args.html, .../v0.16.0/configuration/engine_args/ and .../cli/serve/.

#include "sim/engine_arguments/engine_flag.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kVllmFlags =
    R"(--model | value | own | model, by its Hugging Face id, and engine.quantization as its name says |
--hf-config-path | value | own | model, as a path |
--quantization -q | value | own | engine.quantization |
--dtype | value | own | nothing: 16 bits are as the checkpoint |
--kv-cache-dtype | value | own | engine.kv_cache_dtype |
--max-model-len | value | own | engine.max_model_len |
--tensor-parallel-size -tp | value | count | hardware.tensor_parallel |
--pipeline-parallel-size -pp | value | count | hardware.pipeline_parallel |
--data-parallel-size -dp | value | own | hardware.attention_data_parallel of a mixture of experts, else cluster.pools.mixed.replicas |
--enable-expert-parallel -ep | toggle | own | hardware.expert_parallel: tensor_parallel * attention_data_parallel |
--max-num-seqs | value | rank_count | engine.max_num_seqs |
--max-num-batched-tokens | value | rank_count | engine.max_num_batched_tokens |
--gpu-memory-utilization | value | number | engine.gpu_memory_utilization |
--block-size | value | count | engine.block_size |
--num-gpu-blocks-override | value | rank_count | engine.num_gpu_blocks |
--kv-offloading-size | value | own | engine.kv_offload.cpu_memory: GiB of the engine over its GPUs |
--enable-prefix-caching | toggle | flag | engine.enable_prefix_caching |
--enable-chunked-prefill | toggle | flag | engine.enable_chunked_prefill |
--long-prefill-token-threshold | value | count | engine.long_prefill_token_threshold |
--scheduling-policy | value | own | engine.policy: fcfs is chunked_prefill, priority is priority |
--async-scheduling | toggle | flag | engine.async_scheduling |
--enforce-eager | toggle | own | cost_model.cuda_graphs: false |
--compilation-config -cc | json | own | cost_model.cuda_graphs, by cudagraph_mode |
--preemption-mode | value | own | engine.policy continuous, the engine V0 that had it, with engine.preemption_mode |
--swap-space | value | own | engine.swap_space with --preemption-mode swap; the engine V1 has no use for it |
--speculative-config | json | own | engine.speculation: method, model, num_speculative_tokens, disable_by_batch_size |
--speculative-model | value | own | engine.speculation.method and .model, as versions before 0.9 wrote it |
--num-speculative-tokens | value | own | engine.speculation.num_speculative_tokens, likewise |
--speculative-disable-by-batch-size | value | own | engine.speculation.disable_by_batch_size, likewise |
--hf-overrides | json | own | nothing; but for lengths and positions they are not modelled |
--config | value | own | nothing: an error, since the flags in a file of vLLM's are not read |
--optimization-level -O | value | own | nothing; levels below 2 are not modelled |
--cpu-offload-gb | value | not_modelled | weights in host memory are not modelled | 0 0.0
--kv-cache-memory-bytes | value | not_modelled | the KV cache is counted in blocks: engine.num_gpu_blocks |
--kv-transfer-config | json | not_modelled | prefill and decode apart are engine.policy disaggregated, KV kept in host memory is engine.kv_offload |
--ec-transfer-config | json | not_modelled | encoders of images are not modelled |
--kv-sharing-fast-prefill | toggle | not_modelled | layers that share a KV cache are not modelled |
--decode-context-parallel-size -dcp | value | not_modelled | the KV of one sequence lies on all GPUs of a tensor group or on one | 1
--prefill-context-parallel-size -pcp | value | not_modelled | prompts are not spread over further GPUs | 1
--enable-dbo | toggle | not_modelled | two micro-batches that overlap are not modelled |
--ubatch-size | value | not_modelled | micro-batches that overlap are not modelled | 0 1
--all2all-backend | value | not_modelled | how experts are reached is the cost model's choice |
--enable-eplb | toggle | not_modelled | experts that move to balance load are not modelled; hardware.expert_skew says how even they are |
--eplb-config | json | not_modelled | experts that move to balance load are not modelled |
--num-redundant-experts | value | not_modelled | copies of experts are not modelled | 0
--expert-placement-strategy | value | not_modelled | where an expert stands makes no difference here | linear
--disable-custom-all-reduce | toggle | not_modelled | all-reduces cost as they were measured with it |
--attention-backend | value | not_modelled | attention costs as its kernels were measured |
--attention-config -ac | json | not_modelled | attention costs as its kernels were measured |
--kernel-config | json | not_modelled | kernels cost as they were measured |
--moe-backend | value | not_modelled | experts cost as their kernels were measured | auto
--override-attention-dtype | value | not_modelled | attention costs as its kernels were measured |
--disable-sliding-window | toggle | not_modelled | windows are those of the model's config.json |
--max-num-partial-prefills | value | not_modelled | prompts are cut one after the other | 1
--max-long-partial-prefills | value | not_modelled | prompts are cut one after the other | 1
--scheduler-reserve-full-isl | toggle | not_modelled | it is engine.admission: full_isl or first_chunk |
--scheduler-cls | value | not_modelled | a scheduler of your own is a plugin: --plugin |
--scheduler-delay-factor | value | not_modelled | prompts do not wait for company | 0 0.0
--num-scheduler-steps | value | not_modelled | steps that are scheduled several at a time are not modelled | 1
--stream-interval | value | not_modelled | every token is sent as it is made | 1
--disable-async-output-proc | toggle | not_modelled | the host's time is cost_model.host_fixed and host_per_sequence |
--api-server-count -asc | value | not_modelled | how many processes take requests makes no difference here | 1
--cudagraph-capture-sizes --cuda-graph-sizes | list | not_modelled | decodes are padded to the sizes that vLLM captures by default |
--max-cudagraph-capture-size --max-seq-len-to-capture | value | not_modelled | decodes are padded to the sizes that vLLM captures by default |
--enable-lora | toggle | not_modelled | adapters take no memory and no time here |
--lora-modules | list | not_modelled | adapters take no memory and no time here |
--enable-prompt-adapter | toggle | not_modelled | adapters take no memory and no time here |
--model-impl | value | not_modelled | the model runs as vLLM implements it | auto vllm
--task | value | not_modelled | every request generates tokens | auto generate
--runner | value | not_modelled | every request generates tokens | auto generate
--convert | value | not_modelled | every request generates tokens | auto none
--device | value | not_modelled | it is what hardware.gpu says | auto cuda
--enable-sleep-mode | toggle | not_modelled | replicas that sleep are those of cluster.autoscaling |
--worker-cls --worker-extension-cls | value | not_modelled | what another worker does is not known | auto
--additional-config | json | not_modelled | what a platform's own settings do is not known |
--afd-config | json | not_modelled | attention and experts on GPUs of their own are not modelled |
--speculative-draft-tensor-parallel-size | value | not_modelled | a draft model is split as its target |
--host --port --uds --uvicorn-log-level --root-path --log-config-file --h11-max-incomplete-event-size --h11-max-header-count | value | none | |
--ssl-keyfile --ssl-certfile --ssl-ca-certs --ssl-cert-reqs --ssl-ciphers --chat-template --chat-template-content-format
--default-chat-template-kwargs --response-role --tool-call-parser --tool-parser-plugin --tool-server --reasoning-parser
--reasoning-parser-plugin --max-log-len --disable-access-log-for-endpoints
--tokenizer --tokenizer-mode --tokenizer-revision --revision --code-revision --seed --config-format --load-format --download-dir
--safetensors-load-strategy --pt-load-map-location --model-loader-extra-config --allowed-local-media-path --max-logprobs
--logprobs-mode --logits-processor-pattern --generation-config --io-processor-plugin --guided-decoding-backend
--distributed-executor-backend --master-addr --master-port --nnodes -n --node-rank -r --data-parallel-rank -dpn
--data-parallel-start-rank -dpr --data-parallel-size-local -dpl --data-parallel-address -dpa --data-parallel-rpc-port -dpp
--data-parallel-backend -dpb --dcp-kv-cache-interleave-size --cp-kv-cache-interleave-size --max-parallel-loading-workers
--prefix-caching-hash-algo --kv-offloading-backend --mamba-cache-dtype --mamba-ssm-cache-dtype --mamba-block-size
--mamba-cache-mode --mm-processor-cache-gb --mm-processor-cache-type --mm-shm-cache-max-object-size-mb --mm-encoder-tp-mode
--mm-encoder-attn-backend --video-pruning-rate --max-loras --max-lora-rank --lora-dtype --max-cpu-loras
--lora-extra-vocab-size --max-prompt-adapters --max-prompt-adapter-token --qlora-adapter-name-or-path
--show-hidden-metrics-for-version --otlp-traces-endpoint --collect-detailed-traces --kv-cache-metrics-sample --rope-theta
--quantization-param-path --tokenizer-pool-size --tokenizer-pool-type --num-lookahead-slots --ngram-prompt-lookup-max
--ngram-prompt-lookup-min --spec-decoding-acceptance-method --typical-acceptance-sampler-posterior-threshold
--typical-acceptance-sampler-posterior-alpha --speculative-model-quantization --speculative-max-model-len --shutdown-timeout
--engine-recovery-timeout --gloo-comm-timeout --ssl-refresh-interval
--dbo-decode-token-threshold --dbo-prefill-token-threshold
--trust-remote-code | toggle | none | |
--tokens-only --disable-uvicorn-metrics-access-log
--disable-log-stats --disable-log-requests --enable-log-requests --enable-log-outputs --enable-log-deltas
--aggregate-engine-logging --disable-fastapi-docs --disable-frontend-multiprocessing --headless --skip-tokenizer-init
--enable-auto-tool-choice --exclude-tools-when-tool-choice-none --enable-request-id-headers --enable-prompt-tokens-details
--enable-force-include-usage --enable-server-load-tracking --enable-tokenizer-info-endpoint --log-error-stack
--return-tokens-as-token-ids --trust-request-chat-template --enable-ssl-refresh --allow-credentials --enable-offline-docs
--use-tqdm-on-load --allow-deprecated-quantization --enable-return-routed-experts --disable-cascade-attn --enable-prompt-embeds
--enable-mm-embeds --mm-encoder-only --language-model-only --interleave-mm-strings --skip-mm-profiling
--disable-mm-preprocessor-cache --disable-chunked-mm-input --disable-hybrid-kv-cache-manager --calculate-kv-scales
--ray-workers-use-nsight --worker-use-ray --engine-use-ray --use-v2-block-manager --multi-step-stream-outputs
--data-parallel-hybrid-lb -dph --data-parallel-external-lb -dpe --disable-nccl-for-dp-synchronization --fully-sharded-loras
--enable-lora-bias --enable-tower-connector-lora --specialize-active-lora --kv-cache-metrics --cudagraph-metrics
--enable-layerwise-nvtx-tracing --enable-mfu-metrics --enable-logging-iteration-details --enable-reasoning
--guided-decoding-disable-fallback --guided-decoding-disable-any-whitespace --guided-decoding-disable-additional-properties
--speculative-disable-mqa-scorer --disable-logprobs-during-spec-decoding --enable-fault-tolerance --enable-flashinfer-autotune
--disable-uvicorn-access-log
--served-model-name | list | none | |
--api-key --allowed-origins --allowed-methods --allowed-headers --allowed-media-domains --middleware --ignore-patterns
--logits-processors --hf-token --long-lora-scaling-factors
--rope-scaling | json | none | |
--override-generation-config --pooler-config --override-pooler-config --override-neuron-config --structured-outputs-config
--profiler-config --kv-events-config --limit-mm-per-prompt --media-io-kwargs --mm-processor-kwargs --default-mm-loras
--tokenizer-pool-extra-config --weight-transfer-config --reasoning-config --observability-config)";

}  // namespace

const EngineProgram& vllm_program() {
  static const EngineProgram program = {
      .title = "vLLM",
      .option = "--vllm-args",
      .executable = "vllm",
      .subcommand = "serve",
      .modules = {"vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server",
                  "vllm.entrypoints.cli.main"},
      .flags = parse_flag_table(kVllmFlags),
  };
  return program;
}

}  // namespace inferometer
