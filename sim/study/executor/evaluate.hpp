#pragma once

#include "sim/study/executor/executor.hpp"
#include "sim/study/executor/message.hpp"

namespace inferometer {

/// The answer to a question as a message, or the failure that says what the evaluator threw.
Message evaluated(const Evaluator& evaluate, const Message& question);

}  // namespace inferometer
