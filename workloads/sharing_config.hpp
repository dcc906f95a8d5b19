#pragma once

// `shared_prefix`, `sessions` and `classes` of a scenario's generator: what its requests have in common, how
// they follow each other, and which the service tells apart.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/config/table.hpp"
#include "base/config/values.hpp"
#include "base/error.hpp"
#include "workloads/request_bodies.hpp"
#include "workloads/session_scripts.hpp"

namespace inferometer {

/// Keys of the section `workload`.
Key shared_prefix_key();
Key sessions_key();
Key classes_key();

/// Lays what `workload` says of shared prefixes and classes over `bodies`. Mistakes go to `diagnostics`; each
/// key may be absent.
void share_and_divide(const Values& workload, std::uint64_t seed, RequestBodies& bodies,
                      Diagnostics& diagnostics);

/// The sessions that `workload`, which has them, describes. `lengths`: of prompts and outputs as for single
/// requests; `bodies` has them too. Empty after a mistake.
std::optional<SessionScripts> make_session_scripts(const Values& workload, std::uint64_t seed,
                                                   const RequestBodies& bodies, const LengthPair& lengths,
                                                   Diagnostics& diagnostics);

}  // namespace inferometer
