// Offline throughput of TensorRT-LLM's performance overview: all requests are there at the start, lengths are
// fixed.

#include <fmt/format.h>

#include "sim/validation/formats/run_formats.hpp"
#include "sim/validation/run_settings.hpp"

namespace inferometer {
namespace {

MeasuredRun read_row(CsvRows& row) {
  MeasuredRun run;
  const std::string model = row.needed_text("model");
  const std::string gpu = row.needed_text("gpu");
  const std::string precision = row.text("precision");
  const std::int64_t tp = row.count("tp").value_or(1);
  const std::int64_t prompt = row.needed_count("isl");
  const std::int64_t output = row.needed_count("osl");
  const std::int64_t requests = row.needed_count("num_requests");
  run.engine = {"trtllm", row.text("trtllm_version"), ""};
  run.group = fmt::format("trtllm {} offline", run.engine.version);
  run.name = fmt::format("{} {} tp{} {} {}x{}", model, gpu, tp, precision, prompt, output);
  run.source = row.source();
  set_model(run, model);
  set_gpu(run, gpu);
  set_parallel(run, "tensor_parallel", tp);
  set_parallel(run, "pipeline_parallel", row.count("pp").value_or(1));
  set_precision(run, precision);
  if (quantization_is_fp8(run)) {
    // trtllm-bench quantises the checkpoint with both: `--quantization FP8` sets quant_algo and
    // kv_cache_quant_algo.
    set(run, "engine.kv_cache_dtype", "fp8");
  }
  set_fixed(run, "prompt", prompt);
  set_fixed(run, "output", output);
  // trtllm-bench serves what its dataset needs (tensorrt_llm/bench: max_seq_len from the dataset).
  set(run, "engine.max_model_len", prompt + output);
  set_all_at_once(run, requests);
  run.values.push_back({"output_throughput", row.needed_positive("output_tokens_per_s")});
  return run;
}

}  // namespace

CsvRunFormat trtllm_offline_format() {
  return {"TensorRT-LLM offline throughput",
          {"trtllm_version", "model", "gpu", "isl", "osl", "num_requests", "output_tokens_per_s"},
          [](CsvRows& rows, const std::string&, Diagnostics&) {
            std::vector<MeasuredRun> runs;
            while (rows.next()) {
              runs.push_back(read_row(rows));
            }
            return runs;
          }};
}

}  // namespace inferometer
