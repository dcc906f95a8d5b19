#pragma once

// The names of number formats in published tables, as our variants.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inferometer {

/// "bfloat16" -> "bf16"; "" for a format that is known and that no variant stands for; nothing for an unknown
/// one.
std::optional<std::string_view> weight_variant(std::string_view format);
/// The formats that weight_variant() knows.
std::vector<std::string> weight_formats();

/// Of what attention computes in and what its cache holds; both in the names of the tables. Nothing for an
/// unknown format or for a pair that no variant stands for.
std::optional<std::string_view> attention_variant(std::string_view computed, std::string_view cached);
/// What attention_variant() knows, as in "bfloat16 over fp8".
std::vector<std::string> attention_formats();

/// The same of latent attention.
std::optional<std::string_view> mla_variant(std::string_view computed, std::string_view cached);
std::vector<std::string> mla_formats();

/// Bytes of an element of a collective's array; nothing for an unknown format.
std::optional<double> element_bytes(std::string_view format);
std::vector<std::string> element_formats();

}  // namespace inferometer
