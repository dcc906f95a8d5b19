#include "sim/validation/predict/predict_runs.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "sim/study/executor/executor.hpp"
#include "sim/study/executor/own_process.hpp"
#include "sim/validation/predict/prediction_text.hpp"

namespace inferometer {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(100);

/// What tables of prices depend on.
std::vector<std::string> without_traffic(const std::vector<std::string>& settings) {
  std::vector<std::string> rest;
  for (const std::string& setting : settings) {
    if (!setting.starts_with("workload.") && !setting.starts_with("workload=")) {
      rest.push_back(setting);
    }
  }
  return rest;
}

Prediction failed(std::string why) {
  Prediction prediction;
  prediction.failure = std::move(why);
  return prediction;
}

}  // namespace

const Deployment& Predictor::deployment(const std::vector<std::string>& settings, const Scenario& scenario) {
  std::vector<std::string> needed = without_traffic(settings);
  const bool is_alike = kept_ && needed == kept_settings_;
  Deployment made = make_deployment(scenario, is_alike ? &*kept_ : nullptr);
  kept_ = std::move(made);
  kept_settings_ = std::move(needed);
  return *kept_;
}

Prediction Predictor::predict_run(std::size_t place, const std::vector<std::string>& more) {
  const MeasuredRun& run = runs_[place];
  std::vector<std::string> notes = run.notes;
  std::vector<std::string> settings = layered_settings(run, options_.base, notes);
  settings.insert(settings.end(), more.begin(), more.end());
  Prediction prediction;
  try {
    const Scenario scenario = scenario_of(run, options_.base, settings);
    const Deployment& ready = deployment(settings, scenario);
    prediction = ready.can_run_side_by_side() ? predict(run, scenario, ready, options_)
                                              : prediction_from(in_own_process([&] {
                                                  return to_text(predict(run, scenario, ready, options_));
                                                }));
  } catch (const InputError& mistake) {
    prediction = failed(mistake.what());
  }
  prediction.notes.insert(prediction.notes.begin(), notes.begin(), notes.end());
  prediction.settings = settings;
  return prediction;
}

std::optional<std::vector<Prediction>> predict_runs(const std::vector<MeasuredRun>& runs,
                                                    const PredictionOptions& options, int jobs,
                                                    const std::function<bool(std::int64_t)>& go_on) {
  ExecutorOptions how;
  how.jobs = std::max(1, std::min(jobs, static_cast<int>(std::min<std::size_t>(runs.size(), 1024))));
  Predictor predictor(runs, options);
  std::vector<Prediction> predictions(runs.size());
  std::size_t done = 0;
  with_executor(
      how, [&](const std::string& question) { return to_text(predictor.predict_run(std::stoul(question))); },
      [&](Executor& executor) {
        for (std::size_t place = 0; place < runs.size(); ++place) {
          executor.submit(static_cast<std::int64_t>(place), std::to_string(place));
        }
        while (done < runs.size() && go_on(static_cast<std::int64_t>(done))) {
          if (const std::optional<Answer> answer = executor.wait(kBetweenLooks)) {
            predictions[static_cast<std::size_t>(answer->ticket)] =
                answer->failure.empty() ? prediction_from(answer->text) : failed(answer->failure);
            ++done;
          }
        }
      });
  return done == runs.size() ? std::optional(std::move(predictions)) : std::nullopt;
}

}  // namespace inferometer
