#include <memory>

#include "sim/study/executor/executor.hpp"
#include "sim/study/executor/local_executor.hpp"
#include "sim/study/executor/mpi_executor.hpp"
#include "sim/study/executor/mpi_mail.hpp"

namespace inferometer {

bool with_executor(const ExecutorOptions& options, const Evaluator& evaluate,
                   const std::function<void(Executor&)>& lead) {
  // Before this process joins an MPI job, after which it must not be copied.
  LocalExecutor own(options.jobs, evaluate);
  if (!is_mpi_job()) {
    lead(own);
    return true;
  }
  const std::unique_ptr<RankMail> mail = join_mpi_job();
  if (mail->rank() != 0) {
    answer_questions(*mail, own, options.fingerprint);
    return false;
  }
  MpiExecutor everybody(*mail, own, options.fingerprint);
  lead(everybody);
  return true;
}

}  // namespace inferometer
