#pragma once

#include <cstdint>
#include <memory>

#include "workloads/workload.hpp"

namespace inferometer {

/// The same clients before a system whose clock runs slower: what took it a second by its own clock takes
/// `millionths` of a million (> 0) seconds of theirs. Requests arrive, by the system's clock, that much
/// sooner after each other; answers reach the clients of a closed loop by theirs. So a run on unchanged
/// prices, its times multiplied afterwards, is a run in which all steps take longer by one factor: exactly,
/// for any policy.
std::unique_ptr<Workload> before_slower_clock(std::unique_ptr<Workload> workload, std::int64_t millionths);

}  // namespace inferometer
