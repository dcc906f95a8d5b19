#pragma once

// What a sweep may measure: for each kind of kernel, the sizes that models, traffic and libraries give rise
// to. Who uses it: design_sweep.hpp picks from it.

#include <string>
#include <vector>

#include "costmodel/kernels/kernel_call.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Kernels of one family and number format or operator.
struct SweptKind {
  KernelFamily family = KernelFamily::gemm;
  std::string variant;

  friend bool operator==(const SweptKind&, const SweptKind&) = default;
};

/// What is to be swept on.
struct SweepTarget {
  GpuSpec gpu;
  double memory_bytes = 0;  ///< that the buffers of one call may take
  int gpus = 1;             ///< in the machine; collectives are measured among more than one
};

/// The kinds that the GPU can run, in the order of kernel_families().
std::vector<SweptKind> swept_kinds(const SweepTarget& target);

/// All calls of a kind that fit into the memory, each once, in ascending order of axes. Rows of a GEMM are
/// powers of two, and both sides of the edges of tiles; n and k are widths of published models and of their
/// shards; contexts and batches are powers of two up to what fills the memory.
std::vector<KernelCall> sweep_space(const SweptKind& kind, const SweepTarget& target);

/// Memory that the buffers of a call take: its inputs, outputs and workspace.
double buffer_bytes(const KernelCall& call);

}  // namespace inferometer
