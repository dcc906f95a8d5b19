#pragma once

// What host_kernels.cpp does wrong on purpose, to see that the runners' checks notice.

namespace inferometer::testing {

enum class Fault {
  none,
  leaves_last_output,     ///< the last element of the output is not written
  leaves_inner_output,    ///< one that no sample has: only a scan of the whole output finds it
  five_percent_off,       ///< all outputs times 1.05
  forgets_scale,          ///< fp8 without the weights' or the values' scale
  drops_newest_key,       ///< attention does not see the new token itself
  window_too_wide,        ///< by one key
  confuses_kv_heads,      ///< head modulo KV heads, instead of groups side by side
  ignores_block_table,    ///< pages in order
  keeps_residual,         ///< the residual stream is not updated
  turns_backwards,        ///< rotary embedding by the negative angle
  wrong_slot,             ///< keys and values one slot further
  takes_highest_of_ties,  ///< arg max
  halves_nucleus,         ///< top-p of half the probability
  swaps_gate_and_up,
  swaps_from_and_to,
  leaves_out_a_rank,  ///< of an all-reduce
  next_row,           ///< of the embedding table, or of the weights
};

/// Of the kernels called next.
void set_fault(Fault fault);
bool has_fault(Fault fault);

}  // namespace inferometer::testing
