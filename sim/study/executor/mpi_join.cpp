#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/loadable_module.hpp"
#include "sim/study/executor/mpi_job.hpp"
#include "sim/study/executor/mpi_mail.hpp"

namespace inferometer {
namespace {

constexpr LoadableModule kModule{
    .file = kMailModuleFile,
    .variable = "INFEROMETER_MPI_MODULE",
    .name = "MPI module",
    .absent = "this build has no MPI, so it cannot be one of several ranks",
    .how_to_have = "start it without mpirun, build where an MPI is found",
};

}  // namespace

std::unique_ptr<RankMail> join_mpi_job() {
  const auto join = reinterpret_cast<JoinJobFunction>(module_function(kModule, kJoinJobSymbol));
  std::unique_ptr<RankMail> mail(join(kMailModuleInterface));
  if (!mail) {
    throw ConfigError(Position{}, "the MPI module is of another build than the program; build both anew");
  }
  if (mail->ranks() != launched_ranks()) {
    throw ConfigError(
        Position{},
        fmt::format("started as one of {} ranks, but sees {}: mpirun is of another MPI than the one that "
                    "this program was built with",
                    launched_ranks(), mail->ranks()));
  }
  return mail;
}

}  // namespace inferometer
