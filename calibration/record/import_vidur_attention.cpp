#include <string>

#include "base/text.hpp"
#include "calibration/record/importers.hpp"
#include "calibration/record/vidur_table.hpp"

namespace inferometer {

void import_vidur_attention(LineSource& lines, FileContents& contents, RowErrors& errors) {
  MeasurementCsv csv(lines, {}, errors);
  const auto prefill = csv.require("time_stats.attn_prefill.median");
  const auto decode = csv.require("time_stats.attn_decode.median");
  const auto hidden = csv.require("n_embd");
  const auto heads = csv.require("n_q_head");
  const auto kv_heads = csv.require("n_kv_head");
  const auto workers = csv.require("num_tensor_parallel_workers");
  const auto batch = csv.require("batch_size");
  const auto tokens = csv.require("prefill_chunk_size");
  const auto past = csv.require("kv_cache_size");
  const auto is_prefill = csv.require("is_prefill");
  const auto backend = csv.find("attention_backend");
  if (errors.count() > 0) {
    return;
  }
  Measurements& set = vidur_set(contents);
  while (csv.next()) {
    const std::string_view phase = csv.text(is_prefill);
    if (phase != "True" && phase != "False") {
      csv.refuse(is_prefill, "expected is_prefill to be True or False, found " + quoted_excerpt(phase));
      continue;
    }
    const double worker_count = csv.count(workers);
    const double head_dim = share(csv, hidden, csv.count(heads));
    const double own_heads = share(csv, heads, worker_count);
    const double own_kv_heads = share(csv, kv_heads, worker_count);
    if (own_kv_heads > own_heads) {
      csv.refuse(kv_heads, "expected n_kv_head to be at most n_q_head");
      continue;
    }
    const bool prefills = phase == "True";
    KernelCall call;
    call.variant = "bf16";
    if (prefills) {
      call.family = KernelFamily::prefill_attention;
      call.axes = {
          csv.count(batch), csv.count(tokens), csv.count(past, 0), own_heads, own_kv_heads, head_dim, 0};
    } else {
      // The new token attends itself as well.
      call.family = KernelFamily::decode_attention;
      call.axes = {csv.count(batch), csv.count(past, 0) + 1, own_heads, own_kv_heads, head_dim, 0};
    }
    add_rounded_point(std::move(call), backend ? csv.text(*backend) : std::string_view(), csv,
                      prefills ? prefill : decode, contents, set);
  }
}

}  // namespace inferometer
