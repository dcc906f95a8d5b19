#pragma once

// Letters between the ranks of an MPI job, and what the program and the loadable module that sends them agree
// on. The program starts without MPI; only one that mpirun started loads the module. Who uses it:
// mpi_executor.hpp, mpi_module.cpp.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace inferometer {

/// Letters of one rank to another arrive in the order in which they were sent. Nothing here waits but the
/// end. What MPI itself finds wrong ends the whole job.
class RankMail {
 public:
  /// Leaves the MPI job when all letters of this rank are taken and all other ranks leave, too.
  virtual ~RankMail() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  /// Precondition: of at most kLargestLetterBytes.
  virtual void send(int to, std::string letter) = 0;

  struct Letter {
    int from = 0;
    std::string bytes;
  };
  /// A letter that is there.
  virtual std::optional<Letter> receive() = 0;
};

/// MPI counts the bytes of a message in an int.
inline constexpr std::size_t kLargestLetterBytes = 0x7fffffff;

inline constexpr const char* kMailModuleFile = "inferometer_mpi.so";

/// Raised whenever RankMail changes: a module of another build is refused.
inline constexpr int kMailModuleInterface = 1;

/// The module's one exported function: joins the MPI job. The caller deletes the object; nullptr when the
/// module is of another build.
inline constexpr const char* kJoinJobSymbol = "inferometer_join_mpi_job";
using JoinJobFunction = RankMail* (*)(int interface_version);

/// Joins the MPI job that this process is a rank of. This process must not be copied (fork) from then on.
/// Throws ConfigError: the program was built without MPI; the module cannot be loaded; it is one of another
/// MPI than that of the mpirun that started the job.
std::unique_ptr<RankMail> join_mpi_job();

}  // namespace inferometer
