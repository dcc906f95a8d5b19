#pragma once

namespace inferometer {

/// How many ranks the launcher says it started, by the environment that it gave them: mpirun of Open MPI,
/// Hydra (MPICH, Intel MPI) and MVAPICH, Slurm with PMI or PMIx. 1 outside of MPI jobs.
int launched_ranks();

}  // namespace inferometer
