#include "sim/study/executor/mpi_job.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "sim/study/executor/executor.hpp"

namespace inferometer {
namespace {

int number_in(const char* variable) {
  const char* const value = std::getenv(variable);
  int number = 0;
  if (value != nullptr) {
    const std::string_view text = value;
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

}  // namespace

int launched_ranks() {
  int ranks = 1;
  for (const char* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    ranks = std::max(ranks, number_in(variable));
  }
  // A batch script has the number of tasks without being one; only those that srun starts for MPI have a PMI.
  if (std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr) {
    ranks = std::max(ranks, number_in("SLURM_STEP_NUM_TASKS"));
  }
  return ranks;
}

bool is_mpi_job() {
  return launched_ranks() > 1;
}

}  // namespace inferometer
