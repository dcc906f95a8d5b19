#pragma once

#include <memory>

#include "base/units.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

/// The same requests, each of which arrives `delay` (>= 0) after it was sent: what a server's front end takes
/// before its engine hears of them. Clients of a closed loop send when an answer is there, as before.
std::unique_ptr<Workload> delayed(std::unique_ptr<Workload> workload, Duration delay);

}  // namespace inferometer
