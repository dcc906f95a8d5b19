#pragma once

#include "base/config/table.hpp"

namespace inferometer {

/// The section `kv_offload` of an engine: host memory for KV that GPUs lose.
Table kv_offload_table();

}  // namespace inferometer
