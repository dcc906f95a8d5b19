#pragma once

// What a prompt consists of, as JSON lines write it. Neither function allocates on the way that succeeds,
// once `content` has grown.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/request.hpp"

namespace inferometer {

/// "[0, 1, 2]": the id of each `block_tokens` tokens of the prompt, whole numbers from 0 to 2^64 - 2. An id
/// becomes one run, whose number is one more (a run's is never 0); the last run has what the prompt has left.
/// No ids at all leave `content` empty. Returns what is wrong, "" when nothing is: ids that cannot be read,
/// or another number of them than ceil(prompt_tokens / block_tokens).
std::string read_hash_ids(std::string_view text, std::int64_t prompt_tokens, std::int64_t block_tokens,
                          std::vector<ContentRun>& content);

/// "[[7, 100], [9, 28]]": runs as Request::content has them, number and tokens, which add up to the prompt.
/// Returns what is wrong, "" when nothing is.
std::string read_content_runs(std::string_view text, std::int64_t prompt_tokens,
                              std::vector<ContentRun>& content);

/// The opposite of read_hash_ids(): appends the ids to `text` when the prompt consists of such blocks, and
/// returns whether it does.
bool append_hash_ids(const std::vector<ContentRun>& content, std::int64_t block_tokens, std::string& text);

/// The opposite of read_content_runs().
void append_content_runs(const std::vector<ContentRun>& content, std::string& text);

}  // namespace inferometer
