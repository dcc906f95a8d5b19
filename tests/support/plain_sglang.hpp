#pragma once

// SGLang's loop, written plainly: prompts first, a latch that closes the batch, retraction.

#include "tests/support/plain_scheduler.hpp"

namespace inferometer::testing {

/// Runs the workload to its end; without a prefix cache. Precondition: the policy is sglang.
PlainOutcome run_sglang_plainly(const PlainEngine& engine, Workload& workload);

}  // namespace inferometer::testing
