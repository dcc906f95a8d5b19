#include "calibration/record/aiconfigurator_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "calibration/record/number_formats.hpp"

namespace inferometer {
namespace {

using Column = MeasurementCsv::Column;

/// `unknown gemm_dtype "fp9"; did you mean "fp8"? (known: ...)`
void refuse_unknown(MeasurementCsv& csv, const Column& column, std::string_view found,
                    const std::vector<std::string>& known) {
  csv.refuse(column, fmt::format("unknown {} {}{} (known: {})", column.name, quoted_excerpt(found),
                                 did_you_mean(found, known), join_alternatives(known, "and")));
}

/// The variant of a column of weight formats; false when the row has none.
bool read_weight_variant(MeasurementCsv& csv, const Column& column, FileContents& contents,
                         std::string& variant) {
  const std::optional<std::string_view> known = weight_variant(csv.text(column));
  if (!known) {
    refuse_unknown(csv, column, csv.text(column), weight_formats());
    return false;
  }
  if (known->empty()) {
    contents.leave_out(fmt::format("no variant stands for {}", csv.text(column)));
    return false;
  }
  variant = *known;
  return true;
}

AiconfiguratorRowReader gemm_reader(MeasurementCsv& csv, FileContents& contents) {
  return [&csv, &contents, format = csv.require("gemm_dtype"), m = csv.require("m"), n = csv.require("n"),
          k = csv.require("k")](KernelCall& call) {
    call.family = KernelFamily::gemm;
    call.axes = {csv.count(m), csv.count(n), csv.count(k)};
    return read_weight_variant(csv, format, contents, call.variant);
  };
}

/// What both phases of attention have.
struct AttentionColumns {
  explicit AttentionColumns(MeasurementCsv& csv)
      : batch(csv.require("batch_size")),
        isl(csv.require("isl")),
        step(csv.require("step")),
        heads(csv.require("num_heads")),
        kv_heads(csv.require("num_key_value_heads")),
        head_dim(csv.require("head_dim")),
        computed(csv.require("attn_dtype")),
        cached(csv.require("kv_cache_dtype")),
        window(csv.find("window_size")),
        beams(csv.find("beam_width")) {}

  Column batch, isl, step, heads, kv_heads, head_dim, computed, cached;
  std::optional<Column> window, beams;
};

bool read_attention_variant(MeasurementCsv& csv, const AttentionColumns& columns, KernelCall& call) {
  const std::string_view computed = csv.text(columns.computed);
  const std::string_view cached = csv.text(columns.cached);
  const std::optional<std::string_view> variant = attention_variant(computed, cached);
  if (!variant) {
    csv.refuse(columns.cached, fmt::format("unknown attn_dtype {} over kv_cache_dtype {} (known: {})",
                                           quoted_excerpt(computed), quoted_excerpt(cached),
                                           join_alternatives(attention_formats(), "and")));
    return false;
  }
  call.variant = *variant;
  return true;
}

/// Heads, KV heads (0 in the table: as many as heads), head size and window.
struct HeadShape {
  HeadShape(MeasurementCsv& csv, const AttentionColumns& columns)
      : heads(csv.count(columns.heads)),
        kv_heads(csv.count(columns.kv_heads, 0)),
        head_dim(csv.count(columns.head_dim)),
        window(columns.window ? csv.count(*columns.window, 0) : 0) {
    kv_heads = kv_heads == 0 ? heads : kv_heads;
    if (kv_heads > heads) {
      csv.refuse(
          columns.kv_heads,
          fmt::format("expected num_key_value_heads to be at most num_heads {}, found {}", heads, kv_heads));
    }
  }
  double heads, kv_heads, head_dim, window;
};

bool has_one_beam(MeasurementCsv& csv, const AttentionColumns& columns, FileContents& contents) {
  if (columns.beams && csv.count(*columns.beams) != 1) {
    contents.leave_out("beam search");
    return false;
  }
  return true;
}

AiconfiguratorRowReader prefill_reader(MeasurementCsv& csv, FileContents& contents) {
  return [&csv, &contents, columns = AttentionColumns(csv)](KernelCall& call) {
    const HeadShape shape(csv, columns);
    call.family = KernelFamily::prefill_attention;
    call.axes = {csv.count(columns.batch),
                 csv.count(columns.isl),
                 csv.count(columns.step, 0),
                 shape.heads,
                 shape.kv_heads,
                 shape.head_dim,
                 shape.window};
    return has_one_beam(csv, columns, contents) && read_attention_variant(csv, columns, call);
  };
}

AiconfiguratorRowReader decode_reader(MeasurementCsv& csv, FileContents& contents) {
  return [&csv, &contents, columns = AttentionColumns(csv)](KernelCall& call) {
    const HeadShape shape(csv, columns);
    call.family = KernelFamily::decode_attention;
    // `step` tokens are in the cache already; the new one attends itself as well.
    call.axes = {csv.count(columns.batch),
                 csv.count(columns.step, 0) + 1,
                 shape.heads,
                 shape.kv_heads,
                 shape.head_dim,
                 shape.window};
    if (csv.count(columns.isl) != 1) {
      contents.leave_out("several new tokens in a decode");
      return false;
    }
    return has_one_beam(csv, columns, contents) && read_attention_variant(csv, columns, call);
  };
}

/// What both phases of latent attention have. Which GPUs of how many (tp_size) does not matter: num_heads are
/// those of one.
struct MlaColumns {
  explicit MlaColumns(MeasurementCsv& csv)
      : batch(csv.require("batch_size")),
        isl(csv.require("isl")),
        step(csv.require("step")),
        heads(csv.require("num_heads")),
        computed(csv.require("mla_dtype")),
        cached(csv.require("kv_cache_dtype")),
        parallel(csv.find("tp_size")),
        kernel(csv.find("kernel_source")) {}

  Column batch, isl, step, heads, computed, cached;
  std::optional<Column> parallel, kernel;
};

/// vLLM's rows are of whole layers with their projections, launched one by one: 0.3 ms for a single token.
bool is_attention_alone(MeasurementCsv& csv, const MlaColumns& columns, FileContents& contents) {
  if (columns.kernel && csv.text(*columns.kernel) == "vllm_triton_mla") {
    contents.leave_out("latent attention with its projections");
    return false;
  }
  return true;
}

bool read_mla_variant(MeasurementCsv& csv, const MlaColumns& columns, KernelCall& call) {
  const std::string_view computed = csv.text(columns.computed);
  const std::string_view cached = csv.text(columns.cached);
  const std::optional<std::string_view> variant = mla_variant(computed, cached);
  if (!variant) {
    csv.refuse(columns.cached, fmt::format("unknown mla_dtype {} over kv_cache_dtype {} (known: {})",
                                           quoted_excerpt(computed), quoted_excerpt(cached),
                                           join_alternatives(mla_formats(), "and")));
    return false;
  }
  call.variant = *variant;
  return true;
}

AiconfiguratorRowReader mla_prefill_reader(MeasurementCsv& csv, FileContents& contents) {
  return [&csv, &contents, columns = MlaColumns(csv)](KernelCall& call) {
    call.family = KernelFamily::mla_prefill;
    call.axes = {csv.count(columns.batch), csv.count(columns.isl), csv.count(columns.step, 0),
                 csv.count(columns.heads)};
    return is_attention_alone(csv, columns, contents) && read_mla_variant(csv, columns, call);
  };
}

AiconfiguratorRowReader mla_decode_reader(MeasurementCsv& csv, FileContents& contents) {
  return [&csv, &contents, columns = MlaColumns(csv)](KernelCall& call) {
    call.family = KernelFamily::mla_decode;
    // `step` tokens are in the cache already; the new one attends itself as well.
    call.axes = {csv.count(columns.batch), csv.count(columns.step, 0) + 1, csv.count(columns.heads)};
    if (csv.count(columns.isl) != 1) {
      contents.leave_out("several new tokens in a decode");
      return false;
    }
    return is_attention_alone(csv, columns, contents) && read_mla_variant(csv, columns, call);
  };
}

/// "balanced" -> 0, "power_law_1.2" -> 1.2
std::optional<double> skew_of(std::string_view distribution) {
  constexpr std::string_view kPowerLaw = "power_law_";
  if (distribution == "balanced") {
    return 0;
  }
  if (!distribution.starts_with(kPowerLaw)) {
    return std::nullopt;
  }
  distribution.remove_prefix(kPowerLaw.size());
  double skew = 0;
  const char* const end = distribution.data() + distribution.size();
  const auto [stop, code] = std::from_chars(distribution.data(), end, skew);
  constexpr double kMostSkew = 10;
  const bool is_good = code == std::errc() && stop == end && skew > 0 && skew <= kMostSkew;
  return is_good ? std::optional(skew) : std::nullopt;
}

struct MoeColumns {
  explicit MoeColumns(MeasurementCsv& csv)
      : format(csv.require("moe_dtype")),
        tokens(csv.require("num_tokens")),
        hidden(csv.require("hidden_size")),
        ffn(csv.require("inter_size")),
        experts(csv.require("num_experts")),
        top_k(csv.require("topk")),
        tensor_parallel(csv.require("moe_tp_size")),
        expert_parallel(csv.require("moe_ep_size")),
        distribution(csv.require("distribution")),
        kernel(csv.find("kernel_source")) {}

  Column format, tokens, hidden, ffn, experts, top_k, tensor_parallel, expert_parallel, distribution;
  std::optional<Column> kernel;
};

/// Layers of the Nemotron 3 models, whose experts have no gate. TensorRT-LLM's tables say so by row (but for
/// the last, which they lack), vLLM's do not: there they take two thirds of the time that reading three
/// matrices takes.
bool is_known_without_gate(const KernelCall& call) {
  constexpr std::array<std::array<double, 4>, 4> kWithoutGate = {
      {{2688, 1856, 128, 6}, {2048, 5120, 512, 22}, {8192, 5120, 512, 22}, {1024, 2688, 512, 22}}};
  return std::any_of(kWithoutGate.begin(), kWithoutGate.end(), [&](const std::array<double, 4>& layer) {
    return std::equal(layer.begin(), layer.end(), call.axes.begin() + 1);
  });
}

/// Why rows of a kernel are not read; nothing for those that are.
std::optional<std::string> left_out_kernel(std::string_view kernel) {
  const auto names = [kernel](std::string_view part) { return kernel.find(part) != std::string_view::npos; };
  if (names("nongated")) {
    return "experts without a gate";
  }
  // vLLM runs gpt-oss by a Triton kernel, which the other rows of the format are of, and checkpoints with
  // quantised inputs by Marlin, which takes up to two and a half times as long: two kernels, one format. Of
  // Marlin's there is one layer, from which nothing follows for others.
  if (names("w4a4mxfp4") && names("marlin")) {
    return "mxfp4 experts run by Marlin";
  }
  return std::nullopt;
}

AiconfiguratorRowReader moe_reader(MeasurementCsv& csv, FileContents& contents) {
  return [&csv, &contents, columns = MoeColumns(csv)](KernelCall& call) {
    if (const auto why = columns.kernel ? left_out_kernel(csv.text(*columns.kernel)) : std::nullopt) {
      contents.leave_out(*why);
      return false;
    }
    const std::optional<double> skew = skew_of(csv.text(columns.distribution));
    if (!skew) {
      csv.refuse(columns.distribution,
                 fmt::format("expected distribution to be balanced or power_law_EXPONENT, found {}",
                             quoted_excerpt(csv.text(columns.distribution))));
    }
    const double experts = csv.count(columns.experts);
    const double top_k = csv.count(columns.top_k);
    if (top_k > experts) {
      csv.refuse(columns.top_k,
                 fmt::format("expected topk to be at most num_experts {}, found {}", experts, top_k));
    }
    call.family = KernelFamily::moe;
    call.axes = {csv.count(columns.tokens),
                 csv.count(columns.hidden),
                 csv.count(columns.ffn),
                 experts,
                 top_k,
                 csv.count(columns.tensor_parallel),
                 csv.count(columns.expert_parallel),
                 skew.value_or(0)};
    if (is_known_without_gate(call)) {
      contents.leave_out("experts without a gate");
      return false;
    }
    return read_weight_variant(csv, columns.format, contents, call.variant);
  };
}

/// gpus and bytes of a collective whose sizes are in elements of the format in `format`.
void read_collective_axes(MeasurementCsv& csv, const Column& format, const Column& gpus, const Column& size,
                          KernelCall& call) {
  const std::optional<double> bytes = element_bytes(csv.text(format));
  if (!bytes) {
    refuse_unknown(csv, format, csv.text(format), element_formats());
  }
  call.family = KernelFamily::collective;
  call.axes = {csv.count(gpus, 2), csv.count(size) * bytes.value_or(1)};
}

AiconfiguratorRowReader nccl_reader(std::string variant, MeasurementCsv& csv) {
  return [&csv, variant = std::move(variant), format = csv.require("nccl_dtype"),
          gpus = csv.require("num_gpus"), size = csv.require("message_size")](KernelCall& call) {
    read_collective_axes(csv, format, gpus, size, call);
    call.variant = variant;
    return true;
  };
}

AiconfiguratorRowReader all_reduce_reader(MeasurementCsv& csv) {
  return [&csv, format = csv.require("allreduce_dtype"), gpus = csv.require("num_gpus"),
          size = csv.require("message_size"), backend = csv.find("backend"),
          kernel = csv.find("kernel_source")](KernelCall& call) {
    read_collective_axes(csv, format, gpus, size, call);
    const auto says = [&](const std::optional<Column>& column, std::string_view word) {
      return column && csv.text(*column).find(word) != std::string_view::npos;
    };
    call.variant = says(backend, "eager") || says(kernel, "eager") ? "all_reduce_eager" : "all_reduce";
    return true;
  };
}

AiconfiguratorRowReader no_family_reader(std::string_view operation, FileContents& contents) {
  return [&contents, reason = fmt::format("no family for the operation {}", operation)](KernelCall&) {
    contents.leave_out(reason);
    return false;
  };
}

}  // namespace

AiconfiguratorRowReader aiconfigurator_row_reader(std::string_view operation, MeasurementCsv& csv,
                                                  FileContents& contents) {
  if (operation == "gemm") {
    return gemm_reader(csv, contents);
  }
  if (operation == "context_attention") {
    return prefill_reader(csv, contents);
  }
  if (operation == "generation_attention") {
    return decode_reader(csv, contents);
  }
  if (operation == "moe") {
    return moe_reader(csv, contents);
  }
  // The name of the operation differs between libraries.
  if (operation == "mla_context" || operation == "context_mla") {
    return mla_prefill_reader(csv, contents);
  }
  if (operation == "mla_generation" || operation == "generation_mla") {
    return mla_decode_reader(csv, contents);
  }
  if (csv.find("nccl_dtype")) {
    constexpr std::pair<std::string_view, std::string_view> kCollectives[] = {
        {"all_reduce", "nccl_all_reduce"},
        {"all_gather", "all_gather"},
        {"reduce_scatter", "reduce_scatter"},
        {"alltoall", "all_to_all"}};
    for (const auto& [name, variant] : kCollectives) {
      if (name == operation) {
        return nccl_reader(std::string(variant), csv);
      }
    }
  } else if (operation == "all_reduce") {
    return all_reduce_reader(csv);
  }
  return no_family_reader(operation, contents);
}

}  // namespace inferometer
