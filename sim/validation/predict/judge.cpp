#include "sim/validation/predict/judge.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/check.hpp"
#include "base/quantile.hpp"
#include "base/suggest.hpp"
#include "sim/metrics/headline_metrics.hpp"

namespace inferometer {
namespace {

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const HeadlineMetric& metric : headline_metrics(Summary())) {
    names.push_back(metric.name);
  }
  names.emplace_back(kLoneTtft);
  return names;
}

std::size_t place_of(const std::string& word, std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), word);
  const auto place = static_cast<std::size_t>(found - words.begin());
  if (found == words.end()) {
    words.push_back(word);
  }
  return place;
}

JudgedGroup group_of(const std::vector<const JudgedValue*>& values) {
  JudgedGroup group;
  group.metric = values.front()->metric;
  group.count = static_cast<std::int64_t>(values.size());
  const auto count = static_cast<double>(values.size());
  std::vector<double> sizes;
  std::int64_t ranges = 0, within = 0;
  for (const JudgedValue* value : values) {
    sizes.push_back(std::abs(value->error));
    group.mean_error += sizes.back() / count;
    group.bias += value->error / count;
    if (value->range) {
      ++ranges;
      within += value->range->low <= value->measured && value->measured <= value->range->high ? 1 : 0;
    }
  }
  std::sort(sizes.begin(), sizes.end());
  group.median_error = quantile(sizes, 0.5);
  group.p90_error = quantile(sizes, 0.9);
  if (ranges == group.count) {
    group.within_interval = static_cast<double>(within) / count;
  }
  return group;
}

std::string why_missing(const std::string& metric, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), metric) == known.end()) {
    return "there is no metric \"" + metric + "\"" + did_you_mean(metric, known);
  }
  return "the simulated run has no value of it";
}

}  // namespace

Judgement judge(const std::vector<MeasuredRun>& runs, const std::vector<Prediction>& predictions) {
  INFEROMETER_CHECK(runs.size() == predictions.size(), "a prediction for each run");
  const std::vector<std::string> known = metric_names();
  std::vector<std::string> metrics = known, groups;
  Judgement judgement;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Prediction& prediction = predictions[i];
    if (!prediction.failure.empty()) {
      judgement.missing.push_back({i, "", prediction.failure});
      continue;
    }
    for (std::size_t j = 0; j < runs[i].values.size(); ++j) {
      const MeasuredValue& measured = runs[i].values[j];
      const PredictedValue& predicted = prediction.values[j];
      if (!predicted.value) {
        judgement.missing.push_back({i, measured.metric, why_missing(measured.metric, known)});
        continue;
      }
      judgement.values.push_back(
          {i, measured.metric, measured.value, *predicted.value, predicted.range,
           *predicted.value / measured.value - 1,
           !prediction.saturation.is_saturated || kind_of(measured.metric) == MetricKind::throughput});
    }
  }
  std::map<std::tuple<std::size_t, bool, std::size_t>, std::vector<const JudgedValue*>> sorted;
  for (const JudgedValue& value : judgement.values) {
    if (value.is_counted) {
      sorted[{place_of(runs[value.run].group, groups), predictions[value.run].saturation.is_saturated,
              place_of(value.metric, metrics)}]
          .push_back(&value);
    }
  }
  for (const auto& [key, values] : sorted) {
    JudgedGroup group = group_of(values);
    group.group = groups[std::get<0>(key)];
    group.is_saturated = std::get<1>(key);
    judgement.groups.push_back(std::move(group));
  }
  return judgement;
}

}  // namespace inferometer
