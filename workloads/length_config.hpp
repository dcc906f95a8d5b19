#pragma once

// `prompt:` and `output:` of a scenario's workload: {distribution: log_normal, median: 500, sigma: 1}.

#include <memory>
#include <string>

#include "base/config/table.hpp"
#include "base/config/values.hpp"
#include "base/error.hpp"
#include "workloads/lengths.hpp"

namespace inferometer {

/// The table of one length distribution; `name` is its key, such as "prompt", `plural` says what has such
/// lengths.
Table length_table(const std::string& name, const std::string& plural);

/// The distribution a section describes; nullptr after adding what is wrong with it to `diagnostics`.
std::shared_ptr<const LengthDistribution> make_length(const Values& section, Diagnostics& diagnostics);

}  // namespace inferometer
