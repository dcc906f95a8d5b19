#include "sim/study/executor/evaluate.hpp"

#include <exception>
#include <string>

namespace inferometer {

Message evaluated(const Evaluator& evaluate, const Message& question) {
  std::string why;
  try {
    return {Message::Kind::answer, question.number, evaluate(question.text)};
  } catch (const std::exception& thrown) {
    why = thrown.what();
  } catch (...) {
    why = "what was thrown is no exception";
  }
  return {Message::Kind::failure, question.number, why.empty() ? "it failed and did not say why" : why};
}

}  // namespace inferometer
