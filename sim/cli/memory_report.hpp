#pragma once

// What the `memory` command found, as text, CSV or JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/memory_footprint.hpp"

namespace inferometer {

/// One model on one kind of GPU.
struct MemoryRow {
  std::string model;
  std::string gpu;
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  std::int64_t attention_data_parallel = 1;
  std::int64_t expert_parallel = 1;
  std::string quantization = "none";    ///< of the layers' weights
  std::string kv_cache_dtype = "auto";  ///< of the KV cache
  double gpu_memory_utilization = 0.9;
  std::string kv_memory = "vllm";            ///< of kKvMemoryWords
  TokenCount context;                        ///< of the sequences that are counted
  std::int64_t max_positions = 0;            ///< longest context the model was made for
  std::optional<MemoryFootprint> footprint;  ///< nullopt: the model cannot be split so
  std::string cannot_split;                  ///< why, where it cannot
  /// tensor_parallel that holds the model and one such sequence; nullopt: none up to the GPUs of a node.
  std::optional<std::int64_t> smallest_fitting;
  std::optional<Parallelism> smallest_over_nodes;  ///< where there is none: what would do on more GPUs
};

/// One row in full: every part with its unit, then what fits into it.
std::string memory_text(const MemoryRow& row);
/// A line a row, aligned.
std::string memory_table(const std::vector<MemoryRow>& rows);
/// KV tokens with models down and GPUs across; the tensor_parallel that would fit where the given one does
/// not. Precondition: the rows are all pairs of some models and some GPUs, GPUs changing fastest.
std::string memory_matrix(const std::vector<MemoryRow>& rows);
/// RFC 4180 with a header; sizes in bytes; empty where there is no value.
std::string memory_csv(const std::vector<MemoryRow>& rows);
/// An array of objects with the names of the CSV header; null where there is no value.
std::string memory_json(const std::vector<MemoryRow>& rows);

}  // namespace inferometer
