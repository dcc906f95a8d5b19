#pragma once

// The two processes of a slot: a worker, which answers questions, and its keeper, which passes them on and
// makes a new worker when one dies. Keepers are there before anything else is: a process that has joined an
// MPI job or has threads cannot be copied any more, and they are copied for new workers.

#include "sim/study/executor/executor.hpp"

namespace inferometer {

/// What a keeper does until the other end of its socket closes: replies to one question after the other, in
/// their order, by an answer or a failure. Runs in a process of its own. Ends with its worker, whatever that
/// works on, and with whatever that had begun.
void keep_worker(int boss, const Evaluator& evaluate);

}  // namespace inferometer
