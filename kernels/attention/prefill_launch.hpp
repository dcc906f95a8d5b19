#pragma once

// The launchers behind prefill_attention(), one for each generation of tensor cores. Preconditions: a shape
// that prefill_attention() does not refuse, a device of compute capability 8.0 or above, or 9.0.

#include "kernels/attention/prefill_attention.hpp"

namespace inferometer::kernels {

LaunchResult prefill_attention_sm80(const PrefillAttentionShape& shape,
                                    const PrefillAttentionBuffers& buffers, Stream stream);
LaunchResult prefill_attention_sm90(const PrefillAttentionShape& shape,
                                    const PrefillAttentionBuffers& buffers, Stream stream);

}  // namespace inferometer::kernels
