#pragma once

// What others call the models and GPUs that are built in. Who uses it: readers of measured runs.
//
// Names are normalised, not listed: owner, case, separators, and words that say nothing about the
// architecture (Instruct, chat, hf, FP8, dates and version numbers at the end) do not count.
// "meta-llama/Llama-3.1-70B-Instruct-FP8", "Meta-Llama-3.1-70B" and "llama3-1-70b" are all llama-3.1-70b.

#include <optional>
#include <string>
#include <string_view>

namespace inferometer {

/// The built-in model of that Hugging Face id, path or short name; nothing when there is none of that
/// architecture. O(built-in models * length).
std::optional<std::string> known_model(std::string_view id);

/// The built-in GPU of that name, such as "H100", "h100_sxm", "NVIDIA H100 80GB HBM3" or "8xA100-SXM4-80GB".
/// Where the name leaves the form open it is SXM, and the larger memory. Nothing for other GPUs.
std::optional<std::string> known_gpu(std::string_view name);

/// The word for engine.quantization that a model's name implies: "fp8" for ...-FP8, "int4" for ...-AWQ;
/// nothing when it implies none.
std::optional<std::string> quantization_in_name(std::string_view id);

/// The word for engine.quantization that a tool's word for a precision means: "none" for "bf16" or "", "fp8",
/// "int4" for "int4_wo", ... A word that means none of ours is returned as it is, for the scenario to refuse.
std::string quantization_of(std::string_view precision);

}  // namespace inferometer
