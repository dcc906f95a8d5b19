#pragma once

// Which points a sweep measures in the time it is given. Who uses it: `inferometer calibrate run`.
//
// The time is shared out among kinds of kernels by how many points their time needs to be known well: matrix
// products and attention, which step with tiles and splits, get nearly all; norms and copies, of which start
// and bandwidth are asked, a few percent. Within a kind, a call that would take more than a small part of its
// kind's time is left out: it would cost the points of a whole region, and at that size the time follows the
// roofline. What is left is taken in random order, so that a sweep that is cut short has looked everywhere.
// (A maximin order, each next call the farthest from those before, knew tables of H100 and A100 no better in
// the same time: its points lie at the borders of the space, where they are dear.)

#include <vector>

#include "calibration/sweep/sweep_plan.hpp"
#include "calibration/sweep/sweep_space.hpp"

namespace inferometer {

/// What a sweep measures a call for. A shape is held out or not by a draw of its own, the same in every
/// sweep.
PointUse use_of(const KernelCall& call);

/// What a plan may choose from of one kind.
struct KindCandidates {
  SweptKind kind;
  std::vector<KernelCall> calls;
};

/// Points of all kinds within the budget. About one in eight of the shapes ((n, k) of a product, heads of an
/// attention) of each kind that has trees is held out, with all their points. Deterministic; a longer sweep
/// begins with other points only where it can afford dearer ones. Precondition: budget_seconds > 0.
SweepPlan design_sweep(const std::vector<KindCandidates>& candidates, const GpuSpec& gpu,
                       double budget_seconds);

/// The same, of everything that the target can run.
SweepPlan design_sweep(const SweepTarget& target, double budget_seconds);

}  // namespace inferometer
