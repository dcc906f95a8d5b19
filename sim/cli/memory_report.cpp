#include "sim/cli/memory_report.hpp"

#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace inferometer {
namespace {

std::string advice(const MemoryRow& row) {
  if (row.smallest_fitting) {
    return fmt::format("tensor_parallel {} would hold one", *row.smallest_fitting);
  }
  std::string none = "no tensor_parallel up to the 8 GPUs of a node holds one";
  if (row.smallest_over_nodes) {
    none += fmt::format(", but tensor_parallel {}, pipeline_parallel {} would",
                        row.smallest_over_nodes->tensor, row.smallest_over_nodes->pipeline);
  }
  return none;
}

/// "tensor_parallel 8, pipeline_parallel 2"
std::string split_of(const MemoryRow& row) {
  std::string text = fmt::format("tensor_parallel {}", row.tensor_parallel);
  if (row.pipeline_parallel > 1) {
    text += fmt::format(", pipeline_parallel {}", row.pipeline_parallel);
  }
  if (row.attention_data_parallel > 1) {
    text += fmt::format(", attention_data_parallel {}", row.attention_data_parallel);
  }
  if (row.expert_parallel > 1) {
    text += fmt::format(", expert_parallel {}", row.expert_parallel);
  }
  return text;
}

std::string verdict(const MemoryRow& row) {
  if (!row.footprint) {
    return row.cannot_split;
  }
  if (!row.footprint->fits()) {
    return fmt::format("does not fit, {} too little on each GPU; for sequences of {} tokens, {}",
                       gigabytes(row.footprint->shortfall()), row.context.count(), advice(row));
  }
  if (row.footprint->sequences_at(row.context) == 0) {
    return fmt::format("fits, but not one sequence of {} tokens; {}", row.context.count(), advice(row));
  }
  return "fits";
}

/// ", quantization fp8, kv_cache_dtype fp8": what is not as in the checkpoint.
std::string formats_of(const MemoryRow& row) {
  std::string text;
  if (row.quantization != "none") {
    text += ", quantization " + row.quantization;
  }
  if (row.kv_cache_dtype != "auto") {
    text += ", kv_cache_dtype " + row.kv_cache_dtype;
  }
  return text;
}

/// What the engine takes, by whose arithmetic.
std::string share_of(const MemoryRow& row) {
  const double share = row.gpu_memory_utilization;
  if (row.kv_memory == "trtllm") {
    return fmt::format("  engine's, KV {} of what is left", share);
  }
  return row.kv_memory == "sglang" ? fmt::format("  weights and KV, at most {} of it", share)
                                   : fmt::format("  engine's share, {} of it", share);
}

using Json = nlohmann::ordered_json;

/// The one list of what a row says, for CSV and JSON.
Json values_of(const MemoryRow& row) {
  Json values;
  values["model"] = row.model;
  values["gpu"] = row.gpu;
  values["tensor_parallel"] = row.tensor_parallel;
  values["pipeline_parallel"] = row.pipeline_parallel;
  values["attention_data_parallel"] = row.attention_data_parallel;
  values["expert_parallel"] = row.expert_parallel;
  values["quantization"] = row.quantization;
  values["kv_cache_dtype"] = row.kv_cache_dtype;
  values["gpu_memory_utilization"] = row.gpu_memory_utilization;
  values["kv_memory"] = row.kv_memory;
  const auto put = [&values, &row](const char* key, auto value_of) {
    values[key] = row.footprint ? Json(value_of(*row.footprint)) : Json(nullptr);
  };
  put("fits", [](const MemoryFootprint& f) { return f.fits(); });
  put("stage", [](const MemoryFootprint& f) { return f.stage + 1; });
  put("usable_bytes", [](const MemoryFootprint& f) { return f.usable.count(); });
  put("budget_bytes", [](const MemoryFootprint& f) { return f.budget.count(); });
  put("weights_bytes", [](const MemoryFootprint& f) { return f.weights.count(); });
  put("activations_bytes", [](const MemoryFootprint& f) { return f.activations.count(); });
  put("other_bytes", [](const MemoryFootprint& f) { return f.other.count(); });
  put("kv_cache_bytes", [](const MemoryFootprint& f) { return f.kv_cache.count(); });
  put("kv_bytes_per_token", [](const MemoryFootprint& f) { return f.kv_bytes_per_token.count(); });
  put("block_size_tokens", [](const MemoryFootprint& f) { return f.block_size; });
  put("kv_blocks", [](const MemoryFootprint& f) { return f.blocks.count(); });
  put("kv_tokens", [](const MemoryFootprint& f) { return f.tokens().count(); });
  values["context_tokens"] = row.context.count();
  put("sequences", [&row](const MemoryFootprint& f) { return f.sequences_at(row.context); });
  put("shortfall_bytes", [](const MemoryFootprint& f) { return f.shortfall().count(); });
  values["smallest_fitting_tensor_parallel"] =
      row.smallest_fitting ? Json(*row.smallest_fitting) : Json(nullptr);
  return values;
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) {
    return "";
  }
  if (!value.is_string()) {
    return value.dump();
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

}  // namespace

std::string memory_text(const MemoryRow& row) {
  std::string text =
      fmt::format("{} on {}, {}{}: {}\n", row.model, row.gpu, split_of(row), formats_of(row), verdict(row));
  if (!row.footprint) {
    return text;
  }
  const MemoryFootprint& memory = *row.footprint;
  text += memory.pipeline_parallel == 1 ? "\nOn each GPU\n"
                                        : fmt::format("\nOn each GPU of stage {} of {}, the fullest\n",
                                                      memory.stage + 1, memory.pipeline_parallel);
  std::vector<std::vector<std::string>> parts = {{"  usable memory", gigabytes(memory.usable)},
                                                 {share_of(row), gigabytes(memory.budget)},
                                                 {"    weights", gigabytes(memory.weights)}};
  if (row.kv_memory != "sglang") {
    parts.push_back({"    activations at their peak", gigabytes(memory.activations)});
  }
  parts.push_back({"    CUDA context, buffers, other", gigabytes(memory.other)});
  parts.push_back({"    left for KV cache", gigabytes(memory.kv_cache)});
  text += align_columns(parts, 1);
  text += "\nKV cache\n";
  text += align_columns({{"  a token", fmt::format("{} B", memory.kv_bytes_per_token.count())},
                         {"  a block", fmt::format("{} tokens", memory.block_size)},
                         {memory.attention_data_parallel == 1 ? "  blocks" : "  blocks of all ranks",
                          fmt::format("{}", memory.blocks.count())},
                         {"  tokens", fmt::format("{}", memory.tokens().count())},
                         {fmt::format("  sequences of {} tokens", row.context.count()),
                          fmt::format("{}", memory.sequences_at(row.context))}},
                        1);
  if (row.context.count() > row.max_positions) {
    text += fmt::format("\nThe model was made for contexts of up to {} tokens.\n", row.max_positions);
  }
  return text;
}

std::string memory_table(const std::vector<MemoryRow>& rows) {
  std::vector<std::vector<std::string>> lines = {{"model", "gpu", "tp", "weights", "activations", "other",
                                                  "KV cache", "B/token", "blocks", "tokens", "context",
                                                  "sequences"}};
  std::string remarks;
  for (const MemoryRow& row : rows) {
    std::vector<std::string> cells = {row.model, row.gpu, fmt::format("{}", row.tensor_parallel)};
    if (row.footprint) {
      const MemoryFootprint& memory = *row.footprint;
      std::vector<std::string> figures = {gigabytes(memory.weights),
                                          gigabytes(memory.activations),
                                          gigabytes(memory.other),
                                          gigabytes(memory.kv_cache),
                                          fmt::format("{}", memory.kv_bytes_per_token.count()),
                                          fmt::format("{}", memory.blocks.count()),
                                          fmt::format("{}", memory.tokens().count()),
                                          fmt::format("{}", row.context.count()),
                                          fmt::format("{}", memory.sequences_at(row.context))};
      std::move(figures.begin(), figures.end(), std::back_inserter(cells));
    } else {
      cells.resize(lines.front().size(), "-");
    }
    lines.push_back(std::move(cells));
    if (const std::string remark = verdict(row); remark != "fits") {
      remarks += fmt::format("{} on {}: {}\n", row.model, row.gpu, remark);
    }
  }
  std::string settings = formats_of(rows.front());
  if (rows.front().pipeline_parallel > 1) {
    settings = fmt::format(", pipeline_parallel {}", rows.front().pipeline_parallel) + settings;
  }
  if (!settings.empty()) {
    remarks = "With" + settings.substr(1) + ".\n" + remarks;
  }
  return align_columns(lines, 2) + (remarks.empty() ? "" : "\n" + remarks);
}

std::string memory_matrix(const std::vector<MemoryRow>& rows) {
  std::vector<std::vector<std::string>> lines = {{"KV tokens"}};
  std::string remarks;  // what keeps a model from being split so is the same on every GPU
  for (const MemoryRow& row : rows) {
    if (row.model == rows.front().model) {
      lines.front().push_back(row.gpu);
    }
    if (lines.back().front() != row.model) {
      lines.push_back({row.model});
    }
    std::string cell = row.smallest_fitting ? fmt::format("tp {}", *row.smallest_fitting) : "-";
    if (row.footprint && row.footprint->fits()) {
      cell = fmt::format("{}", row.footprint->tokens().count());
    }
    lines.back().push_back(std::move(cell));
    if (!row.footprint && row.gpu == rows.front().gpu) {
      remarks += fmt::format("{}: {}\n", row.model, row.cannot_split);
    }
  }
  const std::string legend = fmt::format(
      "\nAt {}{}. \"tp N\": does not fit so; N GPUs would hold it and one sequence of its "
      "context. "
      "\"-\": not the 8 GPUs of a node.\n",
      split_of(rows.front()), formats_of(rows.front()));
  return align_columns(lines, 1) + legend + (remarks.empty() ? "" : "\n" + remarks);
}

std::string memory_csv(const std::vector<MemoryRow>& rows) {
  std::string text;
  for (const MemoryRow& row : rows) {
    const Json values = values_of(row);
    if (text.empty()) {
      for (const auto& [key, value] : values.items()) {
        text += (text.empty() ? "" : ",") + key;
      }
      text += "\n";
    }
    std::string line;
    const char* separator = "";
    for (const auto& [key, value] : values.items()) {
      line += separator + csv_cell(value);
      separator = ",";
    }
    text += line + "\n";
  }
  return text;
}

std::string memory_json(const std::vector<MemoryRow>& rows) {
  Json list = Json::array();
  for (const MemoryRow& row : rows) {
    list.push_back(values_of(row));
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace inferometer
