#pragma once

// Energy from what a GPU waits for. Under the compute roof a GPU draws its full power limit, under the memory
// roof most of it, and little while it waits for a launch, a peer or the host.

#include "base/units.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {

/// Power drawn in each state, as a share of the GPU's TDP.
/// Source: our least-squares fit to the average power of 40 settings in Mutinifni/splitwise-sim @8f99e7dc
/// (perf_model.csv, MIT; A100-80GB SXM, 2023: Llama-2-70B on 2, 4 and 8 GPUs, BLOOM-176B on 8), with the time
/// of each setting divided between the roofs as this cost model does and `compute` set to the measured peak
/// power. Mean error 4 %, largest 17 %. Other GPUs were not measured: for them the shares are assumed. No
/// measurement there is of a GPU without requests; it is taken to wait, which errs high. Read 2026-11-30.
struct PowerShares {
  double compute = 1.0;
  double bandwidth = 0.82;
  double waiting = 0.30;
};

/// Energy of one GPU that spent `busy` in steps and `idle` between them. O(1).
Joules gpu_energy(Watts tdp, const StepCost& busy, Duration idle, const PowerShares& shares = {});

}  // namespace inferometer
