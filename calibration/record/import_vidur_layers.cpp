#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "calibration/record/importers.hpp"
#include "calibration/record/vidur_table.hpp"

namespace inferometer {
namespace {

using Column = MeasurementCsv::Column;

/// A row's model and share, in elements.
struct LayerShape {
  double tokens = 0;
  double hidden = 0;
  double query_width = 0;  ///< of this GPU's heads
  double kv_width = 0;     ///< of this GPU's keys; its values are as wide
  double ffn = 0;          ///< this GPU's share
  bool is_gated = false;
};

class LayerShapes {
 public:
  explicit LayerShapes(MeasurementCsv& csv)
      : csv_(csv),
        tokens_(csv.require("num_tokens")),
        workers_(csv.require("num_tensor_parallel_workers")),
        heads_(csv.require("n_head")),
        kv_heads_(csv.require("n_kv_head")),
        hidden_(csv.require("n_embd")),
        ffn_(csv.require("n_expanded_embd")),
        gated_(csv.require("use_gated_mlp")) {}

  LayerShape read() {
    const double workers = csv_.count(workers_);
    const double head_dim = share(csv_, hidden_, csv_.count(heads_));
    const std::string_view gated = csv_.text(gated_);
    if (gated != "True" && gated != "False") {
      csv_.refuse(gated_, "expected use_gated_mlp to be True or False, found \"" + std::string(gated) + "\"");
    }
    return {.tokens = csv_.count(tokens_),
            .hidden = csv_.count(hidden_),
            .query_width = share(csv_, heads_, workers) * head_dim,
            .kv_width = share(csv_, kv_heads_, workers) * head_dim,
            .ffn = share(csv_, ffn_, workers),
            .is_gated = gated == "True"};
  }

 private:
  MeasurementCsv& csv_;
  Column tokens_, workers_, heads_, kv_heads_, hidden_, ffn_, gated_;
};

KernelCall gemm(double m, double n, double k) {
  return {KernelFamily::gemm, "bf16", {m, n, k}};
}

KernelCall elementwise(const char* variant, double tokens, double width) {
  return {KernelFamily::elementwise, variant, {tokens, width}};
}

/// An operator's name and what it is in a layer of that shape; nothing when no variant stands for it.
struct LayerOperator {
  std::string_view name;
  std::optional<KernelCall> (*call)(const LayerShape& shape);
};

using Call = std::optional<KernelCall>;
using Shape = LayerShape;

constexpr LayerOperator kOperators[] = {
    {"emb", [](const Shape& s) -> Call { return elementwise("embedding", s.tokens, s.hidden); }},
    {"input_layernorm", [](const Shape& s) -> Call { return elementwise("norm", s.tokens, s.hidden); }},
    {"attn_pre_proj",
     [](const Shape& s) -> Call { return gemm(s.tokens, s.query_width + 2 * s.kv_width, s.hidden); }},
    {"attn_rope",
     [](const Shape& s) -> Call { return elementwise("rope", s.tokens, s.query_width + s.kv_width); }},
    {"attn_post_proj", [](const Shape& s) -> Call { return gemm(s.tokens, s.hidden, s.query_width); }},
    {"post_attention_layernorm",
     [](const Shape& s) -> Call { return elementwise("norm", s.tokens, s.hidden); }},
    {"mlp_up_proj",
     [](const Shape& s) -> Call { return gemm(s.tokens, (s.is_gated ? 2 : 1) * s.ffn, s.hidden); }},
    {"mlp_act",
     [](const Shape& s) -> Call {
       return s.is_gated ? Call(elementwise("silu_mul", s.tokens, s.ffn)) : std::nullopt;
     }},
    {"mlp_down_proj", [](const Shape& s) -> Call { return gemm(s.tokens, s.hidden, s.ffn); }},
    {"add", [](const Shape& s) -> Call { return elementwise("add", s.tokens, s.hidden); }},
};

void note_unused_medians(const MeasurementCsv& csv, FileContents& contents) {
  std::vector<std::string> unused = csv.unused_columns();
  std::erase_if(unused, [](const std::string& name) { return !name.ends_with(".median"); });
  if (!unused.empty()) {
    contents.note("columns not used: " + join_alternatives(unused, "and"));
  }
}

}  // namespace

void import_vidur_layers(LineSource& lines, FileContents& contents, RowErrors& errors) {
  MeasurementCsv csv(lines, {}, errors);
  LayerShapes shapes(csv);
  std::vector<std::pair<const LayerOperator*, Column>> timed;
  for (const LayerOperator& candidate : kOperators) {
    if (const auto column = csv.find("time_stats." + std::string(candidate.name) + ".median")) {
      timed.emplace_back(&candidate, *column);
    }
  }
  if (timed.empty()) {
    csv.require("time_stats.mlp_up_proj.median");
  }
  note_unused_medians(csv, contents);
  if (errors.count() > 0) {
    return;
  }
  Measurements& set = vidur_set(contents);
  while (csv.next()) {
    const LayerShape shape = shapes.read();
    for (const auto& [operation, time] : timed) {
      if (std::optional<KernelCall> call = operation->call(shape)) {
        add_rounded_point(*std::move(call), operation->name, csv, time, contents, set);
      } else {
        contents.leave_out("an activation without a gate, for which no variant stands");
      }
    }
  }
}

}  // namespace inferometer
