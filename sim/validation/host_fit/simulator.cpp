#include "sim/validation/host_fit/simulator.hpp"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/study/executor/executor.hpp"
#include "sim/validation/predict/predict_runs.hpp"
#include "sim/validation/predict/prediction_text.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kBetweenLooks(100);

std::string to_text(const SimulatedQuestion& question) {
  return Json{{"run", question.run}, {"assignments", question.assignments}, {"intervals", question.intervals}}
      .dump();
}

std::string answer_to(const std::string& text, PredictionOptions& options, Predictor& predictor) {
  const Json question = Json::parse(text);
  options.intervals = question.at("intervals").get<std::int64_t>();
  return to_text(predictor.predict_run(question.at("run").get<std::size_t>(),
                                       question.at("assignments").get<std::vector<std::string>>()));
}

}  // namespace

bool with_simulator(const std::vector<MeasuredRun>& runs, const PredictionOptions& options, int jobs,
                    const std::function<bool(std::int64_t)>& go_on,
                    const std::function<void(const Simulator&)>& lead) {
  ExecutorOptions how;
  how.jobs = jobs;
  PredictionOptions asked = options;  // in each process its own
  Predictor predictor(runs, asked);
  std::int64_t done = 0, tickets = 0;
  return with_executor(
      how, [&](const std::string& question) { return answer_to(question, asked, predictor); },
      [&](Executor& executor) {
        lead([&](const std::vector<SimulatedQuestion>& questions) {
          const std::int64_t first = tickets;
          for (const SimulatedQuestion& question : questions) {
            executor.submit(tickets++, to_text(question));
          }
          std::vector<Prediction> predictions(questions.size());
          for (std::size_t left = questions.size(); left > 0;) {
            if (!go_on(done)) {
              throw SimulationsStopped();
            }
            if (const std::optional<Answer> answer = executor.wait(kBetweenLooks)) {
              Prediction& prediction = predictions[static_cast<std::size_t>(answer->ticket - first)];
              if (answer->failure.empty()) {
                prediction = prediction_from(answer->text);
              } else {
                prediction.failure = answer->failure;
              }
              --left;
              ++done;
            }
          }
          return predictions;
        });
      });
}

}  // namespace inferometer
