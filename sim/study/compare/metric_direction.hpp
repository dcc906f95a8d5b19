#pragma once

// Which way a metric is better. Who uses it: the verdicts of comparisons, and their reports.

#include <string_view>

namespace inferometer {

enum class Direction { lower_is_better, higher_is_better, neither };

/// Of a metric of study_metric_names(). Neither: more of it may be good or bad, such as a fuller KV cache.
Direction direction_of(std::string_view metric);

/// Whether it grows with the length of the run while the queue does: TTFT, E2E and queue delay.
bool grows_with_queue(std::string_view metric);

}  // namespace inferometer
