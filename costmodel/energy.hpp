#pragma once

// Energy from how busy the arithmetic units and the memory of a GPU are, as a roofline counts it: FLOPs and
// bytes over what the datasheet's peaks would have done in the time. Who uses it: summaries of runs.

#include "base/units.hpp"

namespace inferometer {

/// Power drawn, as shares of the GPU's TDP.
/// Source: our least-squares fit to the average power of 40 settings in Mutinifni/splitwise-sim @8f99e7dc
/// (perf_model.csv, MIT; A100-80GB SXM, 2023: Llama-2-70B on 2, 4 and 8 GPUs, BLOOM-176B on 8), made by
/// calibration/power_shares.py. Mean error 3.7 %, largest 14 %; of deployments left out of the fit 5.8 and
/// 24 %. Shares of the time under each roof instead of activities (compute at full power) come to 4.2 %, and
/// to 6.7 and 26 % of deployments left out. `compute` is known to 0.13, the others to 0.04. Other GPUs were
/// not measured: for them the shares are assumed. Read 2026-11-30.
/// `unused` is an upper bound: the lowest average in that table, 0.172 (prompts of 8192 tokens on Llama), is
/// too low for the run it stands beside, and a GPU without work draws no more than the least of averages.
struct PowerShares {
  double unused = 0.17;    ///< no request is there
  double waiting = 0.285;  ///< in a step, whatever it does: for launches, peers and the host, too
  double compute = 0.96;   ///< more, with all FLOP/s of the datasheet
  double memory = 0.73;    ///< more, with all of its bandwidth
};

/// Of one GPU in steps that do such shares of its peaks, >= 0. Never above its TDP, which the GPU keeps to by
/// lowering its clock. O(1).
Watts power_in_steps(Watts tdp, double compute, double memory, const PowerShares& shares = {});

/// Of one GPU between steps. O(1).
Watts power_unused(Watts tdp, const PowerShares& shares = {});

}  // namespace inferometer
